package harness

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// checkScenario checks a scenario against the contract: requests that are not meant to be malformed must be those of an
// operation, rules for streams must be about streams that the scenario opens or operations that the contract has.
func (p *Project) checkScenario(s *scenario.Scenario) scenario.Problems {
	var out scenario.Problems
	opened := map[string]bool{}
	s.Walk(func(step *scenario.Step) {
		if o, ok := step.Do.(*scenario.Open); ok {
			opened[o.Name] = true
		}
		r := step.Request()
		if r == nil || r.Malformed.IsSet() {
			return
		}
		if path := r.Path.Probe(); !p.Contract.Takes(r.Method, path) {
			out = append(out, scenario.Problem{
				File: s.File, Line: r.Line, Column: r.Column,
				What: fmt.Sprintf("the contract has no operation for %s %s", r.Method, r.Path.Source()),
				Fix:  p.operationFix(r.Method, r.Path.Source()),
			})
		}
	})
	for _, name := range slices.Sorted(maps.Keys(s.Compare.Streams)) {
		if !opened[name] {
			rule := s.Compare.Streams[name]
			out = append(out, p.checkStreamRule(name, s.File, rule.Line, rule.Column)...)
		}
	}
	return out
}

func (p *Project) operationFix(method, path string) string {
	const meant = "if it is meant to, mark the step malformed: true"
	if near, ok := problem.Nearest(method+" "+path, p.operations()); ok {
		return fmt.Sprintf("did you mean %q? %s", near, meant)
	}
	return meant
}

func (p *Project) operations() []string {
	var out []string
	for _, op := range p.Contract.Operations() {
		out = append(out, op.String())
	}
	return out
}

// checkStreamRule checks that a rule speaks of an operation of the contract.
func (p *Project) checkStreamRule(name, file string, line, column int) scenario.Problems {
	if slices.Contains(p.operations(), name) {
		return nil
	}
	fix := "name a stream that the scenario opens, or an operation: " + strings.Join(p.operations(), ", ")
	if near, ok := problem.Nearest(name, p.operations()); ok {
		fix = fmt.Sprintf("did you mean %q?", near)
	}
	return scenario.Problems{{File: file, Line: line, Column: column, What: fmt.Sprintf("rules for %q, which is no stream", name), Fix: fix}}
}
