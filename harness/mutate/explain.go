package mutate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/theory/jsonpath"
)

// Unexplained is what Explain says of a mutant that no rule hides: comparing has a hole there, or the two mean the same.
const Unexplained = "no rule: comparing does not see it"

// Explain names the rule that keeps a mutant from being found: "header field X is not named in compare.headers",
// "volatile $..requestID, kind id", "heartbeat".
func (m *Mutant) Explain(s *Subject) string {
	if st := s.stepOf(m.site.step); st != nil && st.Uncompared {
		return "the scenario does not compare step " + m.site.step
	}
	if name := m.site.header; name != "" && !s.namedIn(m.site.step, name) {
		return fmt.Sprintf("header field %s is not named in compare.headers", name)
	}
	if st, ev := m.site.stream, m.site.event; st != nil {
		switch rule := s.rule(st); {
		case ev != nil && s.Rules.Beats(st.Name, st.Operation, ev):
			return "heartbeat: what keeps a stream alive is no part of its sequence"
		case m.site.framing && !rule.Exact:
			return "framing: semantic"
		case rule.OrderWithin != "" && m.site.pointer == "":
			return "order within " + rule.OrderWithin
		}
	}
	if d := m.site.doc; d != nil {
		if why := d.volatile(m.site.pointer); why != "" {
			return why
		}
	}
	if m.site.event != nil && m.site.doc == nil { // the whole event: the volatile part of it may be all that tells it from others
		for _, d := range s.documents() {
			if d.site.event == m.site.event {
				return cmp.Or(d.volatile(""), Unexplained)
			}
		}
	}
	return Unexplained
}

// volatile names the rule about a place of a document, or about a place in it or around it; "" when there is none.
func (d *document) volatile(pointer string) string {
	value := d.root.Value()
	for _, rule := range d.rules {
		path, err := jsonpath.Parse(rule.At)
		if err != nil {
			continue
		}
		for _, found := range path.SelectLocated(value) {
			if ptr := found.Path.Pointer(); within(pointer, ptr) || within(ptr, pointer) {
				if rule.Kind.ComparesNumbers() {
					return fmt.Sprintf("numbers %s, as %s", rule.At, rule.Kind)
				}
				return fmt.Sprintf("volatile %s, kind %s", rule.At, rule.Kind)
			}
		}
	}
	return ""
}

// within reports whether a JSON Pointer is that of a value in another one, or the same.
func within(pointer, other string) bool {
	return pointer == other || strings.HasPrefix(pointer, other+"/")
}

// namedIn reports whether a header field is compared in a step.
func (s *Subject) namedIn(step, name string) bool {
	same := func(n string) bool { return strings.EqualFold(n, name) }
	return slices.ContainsFunc(s.Rules.Headers, same) || slices.ContainsFunc(s.Rules.Steps[step].Headers, same)
}
