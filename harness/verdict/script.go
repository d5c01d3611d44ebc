package verdict

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A script is a scenario as the targets ran it. It locates findings in the file.
type script struct {
	id          string
	transcripts []*transcript.Transcript
	rules       *compare.Rules
	contract    *contract.Document
	steps       map[string]*transcript.Step
}

// locate sets where in the script a finding is.
func (s *script) locate(f *Finding) {
	f.Scenario = s.id
	if st := s.steps[f.Step]; st != nil {
		f.Line, f.StepText, f.Operation = st.Line, st.Text, s.operation(f, st)
	}
	if f.Upstream = s.stubOf(f.Step); f.Upstream != "" {
		f.Operation, f.lineDuring = "", s.lineDuring(f)
	}
}

// operation returns the contract's name of the request that a finding is about.
func (s *script) operation(f *Finding, st *transcript.Step) string {
	for _, t := range s.transcripts {
		for _, stream := range t.Streams {
			if f.Stream != "" && stream.Name == f.Stream {
				return stream.Operation
			}
		}
	}
	if len(st.Exchanges) == 0 {
		return ""
	}
	request := &st.Exchanges[0].Request
	if op, ok := s.contract.Operation(request.Method, request.Target); ok {
		return op.String()
	}
	return ""
}

// findingAt returns the place of a finding in the script: "GET /items: body /0/name". If several steps have the same
// text, all but the first have a number. The place of a finding about one side names that side.
func (s *script) findingAt(f *Finding) string {
	place := cmp.Or(f.stablePlace, f.Place)
	if f.Stream != "" || f.Kind == string(compare.UpstreamUnexpected) {
		place = diff.Unnumbered(place)
	}
	for _, t := range s.transcripts {
		place = compare.Bare(s.rules, t, place)
	}
	if f.Class != Difference {
		place += " (" + string(f.Blame) + ")"
	}
	return s.stepAt(f.Step) + place
}

// stepAt returns the step's part of At.
func (s *script) stepAt(step string) string {
	st := s.steps[step]
	if st == nil {
		return ""
	}
	nth := 1
	for _, other := range s.steps {
		if other.Text == st.Text && (other.Line < st.Line || other.Line == st.Line && other.ID < st.ID) {
			nth++
		}
	}
	if nth > 1 {
		return fmt.Sprintf("%s (%d): ", st.Text, nth)
	}
	return st.Text + ": "
}

// stubOf returns the name of the stub when a step has the requests that one of its rules answered.
func (s *script) stubOf(step string) string {
	if st := s.steps[step]; st == nil || st.Kind != "upstream" {
		return ""
	}
	name, _, _ := strings.Cut(step, ".")
	return name
}

// lineDuring returns the line of the step that was running when a target sent a request to a stub. If no step was
// running, it returns the line of the rule.
func (s *script) lineDuring(f *Finding) int {
	for _, t := range s.transcripts {
		for i := range t.Upstream {
			if st := &t.Upstream[i]; st.ID == f.Step && len(st.Exchanges) > 0 {
				return lineAt(t, st.Exchanges[min(max(f.exchange, 0), len(st.Exchanges)-1)].Sent)
			}
		}
	}
	return f.Line
}

// lineAt returns the line of the last step that had begun by a time.
func lineAt(t *transcript.Transcript, at time.Duration) int {
	line := 0
	for i := range t.Steps {
		if t.Steps[i].At <= at {
			line = t.Steps[i].Line
		}
	}
	return line
}
