package mutate

import (
	"cmp"
	"fmt"
)

// Unexplained is the result of Explain for a mutant that no rule hides: either the comparison has a gap, or the mutant
// means the same.
const Unexplained = "no rule: the comparison does not see it"

// Explain names the rule that hides a mutant: "header field X is not named in compare.headers", "volatile $..requestID,
// kind id", "heartbeat".
func (m *Mutant) Explain(s *Subject) string {
	at := &m.site
	if st := stepOf(s.Candidate, at.step); st != nil && st.Uncompared {
		return "the scenario does not compare step " + at.step
	}
	if at.header != "" && !isCompared(s.Rules, at.step, at.header) {
		return fmt.Sprintf("header field %s is not named in compare.headers", at.header)
	}
	if st := at.stream; st != nil {
		switch rule := s.ruleFor(st); {
		case at.event != nil && s.Rules.Beats(st.Name, st.Operation, at.event):
			return "heartbeat: heartbeats are not part of the sequence"
		case at.framing && !rule.Exact:
			return "framing: semantic"
		case rule.OrderWithin != "" && at.pointer == "":
			return "order within " + rule.OrderWithin
		}
	}
	doc := at.doc
	if doc == nil && at.event != nil { // the whole event: its volatile part may be all that distinguishes it from others
		for _, d := range s.documents() {
			if d.site.event == at.event {
				doc = d
			}
		}
	}
	if doc == nil {
		return Unexplained
	}
	return cmp.Or(doc.hiddenBy(at.pointer), Unexplained)
}
