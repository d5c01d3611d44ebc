package harness

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// checkScenario checks a scenario against the contract: requests that are not meant to be malformed must be those of an
// operation, streams must be opened where the operation may answer with one, events must be among those that it
// declares, rules for streams must be about streams that the scenario opens or operations that the contract has.
func (p *Project) checkScenario(s *scenario.Scenario) scenario.Problems {
	c := scenarioCheck{p: p, s: s, opened: map[string]*contract.Operation{}}
	c.problems = append(p.checkStubs(s), p.checkSetup(s)...)
	s.Walk(c.step)
	for _, name := range slices.Sorted(maps.Keys(s.Compare.Streams)) {
		rule := s.Compare.Streams[name]
		op, opened := c.opened[name]
		if !opened {
			op, _ = p.Contract.Named(name)
			c.problems = append(c.problems, p.checkStreamRule(name, rule)...)
		}
		c.problems = append(c.problems, checkRuleEvents(op, rule)...)
	}
	return c.problems
}

// A scenarioCheck goes through the steps of a scenario in the order of its file.
type scenarioCheck struct {
	p        *Project
	s        *scenario.Scenario
	opened   map[string]*contract.Operation // by stream; nil where nobody knows what it will be
	problems scenario.Problems
}

func (c *scenarioCheck) step(step *scenario.Step) {
	r := step.Request()
	var op *contract.Operation
	if r != nil && !r.Malformed.IsSet() {
		op = c.request(r)
	}
	switch do := step.Do.(type) {
	case *scenario.Open:
		c.opened[do.Name] = op
		c.stream(op, r)
		if do.Ready != nil {
			c.event(op, do.Ready.Event, do.Ready.Line, do.Ready.Column)
		}
		for i := range do.Only {
			c.pattern(op, &do.Only[i])
		}
	case *scenario.Await:
		c.pattern(c.opened[do.Stream], do.Match)
	case *scenario.Never:
		c.pattern(c.opened[do.Stream], do.Match)
	}
}

// request returns the operation of a request, nil when there is none.
func (c *scenarioCheck) request(r *scenario.Request) *contract.Operation {
	path := r.Path.Probe()
	if !c.p.Contract.Takes(r.Method, path) {
		c.problems = append(c.problems, scenario.Problem{
			File: c.s.File, Line: r.Line, Column: r.Column,
			What: fmt.Sprintf("the contract has no operation for %s %s", r.Method, r.Path.Source()),
			Fix:  c.p.operationFix(r.Method, r.Path.Source()),
		})
	}
	op, _ := c.p.Contract.Operation(r.Method, path)
	return op
}

// stream checks that an operation may answer with an event stream.
func (c *scenarioCheck) stream(op *contract.Operation, r *scenario.Request) {
	if op == nil || op.Streams() {
		return
	}
	var others []string
	for _, other := range c.p.Contract.Operations() {
		if other.Streams() {
			others = append(others, other.String())
		}
	}
	fix := "to send the request and no more, write http in the place of open and sse"
	if len(others) > 0 {
		fix += "; event streams have: " + strings.Join(others, ", ")
	}
	c.problems = append(c.problems, scenario.Problem{
		File: c.s.File, Line: r.Line, Column: r.Column, What: fmt.Sprintf("the contract has no event stream for %s", op), Fix: fix,
	})
}

func (c *scenarioCheck) pattern(op *contract.Operation, p *scenario.Pattern) {
	if p != nil && p.Event != nil {
		c.event(op, *p.Event, p.Line, p.Column)
	}
}

func (c *scenarioCheck) event(op *contract.Operation, name scenario.Template, line, column int) {
	if text, ok := name.Constant(); ok {
		c.problems = append(c.problems, checkEvent(op, text, c.s.File, line, column)...)
	}
}

// checkEvent checks that the streams of an operation may have an event of that name. It may be waited for in vain, and
// forbidden in vain, for ever.
func checkEvent(op *contract.Operation, name, file string, line, column int) scenario.Problems {
	if op == nil {
		return nil
	}
	names, ok := op.Events()
	if !ok || slices.Contains(names, name) {
		return nil
	}
	return scenario.Problems{{
		File: file, Line: line, Column: column,
		What: fmt.Sprintf("%s has no event %q", op, name), Fix: problem.OneOf(name, names),
	}}
}

// checkRuleEvents checks the names of events that a rule for a stream has.
func checkRuleEvents(op *contract.Operation, rule scenario.StreamRule) scenario.Problems {
	var out scenario.Problems
	for i, at := range rule.OptionalAt {
		out = append(out, checkEvent(op, rule.Optional[i], at.File, at.Line, at.Column)...)
	}
	for i, at := range rule.AnchorsAt {
		out = append(out, checkEvent(op, rule.Anchors[i], at.File, at.Line, at.Column)...)
	}
	for _, c := range rule.Collapse {
		out = append(out, checkEvent(op, c.Event, c.Place.File, c.Place.Line, c.Place.Column)...)
	}
	if h := rule.Heartbeat; h != nil && h.Event != "" {
		out = append(out, checkEvent(op, h.Event, rule.File, h.Line, h.Column)...)
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
func (p *Project) checkStreamRule(name string, rule scenario.StreamRule) scenario.Problems {
	if slices.Contains(p.operations(), name) {
		return nil
	}
	fix := "name a stream that the scenario opens, or an operation: " + strings.Join(p.operations(), ", ")
	if near, ok := problem.Nearest(name, p.operations()); ok {
		fix = fmt.Sprintf("did you mean %q?", near)
	}
	return scenario.Problems{{
		File: rule.File, Line: rule.Line, Column: rule.Column, What: fmt.Sprintf("rules for %q, which is no stream", name), Fix: fix,
	}}
}
