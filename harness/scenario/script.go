package scenario

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"weak"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A Script is what a client does in a scenario, the same in all rows of a table. Nobody changes it.
type Script struct {
	Texts    []Var  // repeated texts, which are the same in every run
	Vars     []Var  // in the order in which they are resolved
	Stubs    []Stub // what upstreams answer meanwhile
	Steps    []Step
	Teardown []Step
}

// A Var is a name for a value.
type Var struct {
	Name  string
	Value Value
}

// Definitions returns what has a name before the first step, in an order in which each needs only those before it: repeated texts,
// the columns of the row, variables.
func (s *Scenario) Definitions() []Var {
	script := s.Script()
	out := slices.Clone(script.Texts)
	for _, name := range slices.Sorted(maps.Keys(s.Row)) {
		out = append(out, Var{"row." + name, s.Row[name]})
	}
	return append(out, script.Vars...)
}

// Script returns what the client does. A script takes ten times the room of its text, and is wanted for a moment of the
// run: it stays as long as somebody holds it, and until the next garbage collection, and is then decoded again when it is
// asked for.
func (s *Scenario) Script() *Script { return s.source.script() }

// Walk calls f with each step of the scenario, those of parallel branches and of the teardown included.
func (s *Scenario) Walk(f func(*Step)) { s.Script().walk(f) }

func (s *Script) walk(f func(*Step)) {
	walk(s.Steps, f)
	walk(s.Teardown, f)
}

// UpstreamText is how reports name what a rule of a stub has answered.
func UpstreamText(stub, rule string) string {
	switch {
	case rule == ModelsRule:
		return "upstream " + stub + ", the list of models"
	case rule == UnexpectedRule:
		return "upstream " + stub + ", no rule"
	case rule[0] >= '0' && rule[0] <= '9':
		return "upstream " + stub + ", rule " + rule
	default:
		return "upstream " + stub + ", rule " + strconv.Quote(rule)
	}
}

// The rules that no scenario writes.
const (
	ModelsRule     = "models"     // what a stub answers by itself
	UnexpectedRule = "unexpected" // what nothing answers
)

// UpstreamID is the id of what a rule of a stub has answered, among the steps of a transcript.
func UpstreamID(stub, rule string) string { return stub + "." + rule }

func walk(steps []Step, f func(*Step)) {
	for i := range steps {
		f(&steps[i])
		if p, ok := steps[i].Do.(*Parallel); ok {
			for _, b := range p.Branches {
				walk(b.Steps, f)
			}
		}
	}
}

// rules returns the rules that steps have alone.
func (s *Script) rules() []StepRules {
	var out []StepRules
	s.walk(func(step *Step) {
		if r := step.Rules(); !r.empty() {
			out = append(out, StepRules{step.ID, r})
		}
	})
	for _, stub := range s.Stubs {
		for _, rule := range stub.Rules {
			if !rule.Compare.empty() {
				out = append(out, StepRules{UpstreamID(stub.Name, rule.Name), rule.Compare})
			}
		}
	}
	return out
}

// A source is the text of a file without mistakes, which all scenarios of the file share.
type source struct {
	root   func() *yamldoc.Node // of the file, with the steps of fragments in it
	decode func() *Script

	mu      sync.Mutex
	decoded weak.Pointer[Script]
}

func (s *source) script() *Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.decoded.Value()
	if out == nil {
		out = s.decode()
		s.decoded = weak.Make(out)
	}
	return out
}
