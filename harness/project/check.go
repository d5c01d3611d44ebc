package project

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/target"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// checkScenario checks a scenario against the contract:
//
//   - A request that is not marked malformed belongs to an operation.
//   - A stream is opened by an operation that may respond with one, and its events are declared.
//   - Rules for streams name streams that the scenario opens, or operations of the contract.
func checkScenario(p *Project, s *scenario.Scenario) scenario.Problems {
	c := scenarioCheck{p: p, s: s, opened: map[string]*contract.Operation{}}
	c.problems = append(checkStubs(p, s), checkSetup(p, s)...)
	s.Walk(c.step)
	for _, stub := range s.Script().Stubs {
		for i := range stub.Rules {
			if stub.Rules[i].Answer.Script != nil {
				c.opened[scenario.UpstreamID(stub.Name, stub.Rules[i].Name)] = nil
			}
		}
	}
	c.streamRules()
	return c.problems
}

// streamRules checks the rules for streams, when the steps that open them have been visited.
func (c *scenarioCheck) streamRules() {
	p, s := c.p, c.s
	for _, name := range slices.Sorted(maps.Keys(s.Compare.Streams)) {
		rule := s.Compare.Streams[name]
		op, opened := c.opened[name]
		if !opened {
			op, _ = p.Contract.Named(name)
			c.problems = append(c.problems, checkStreamRule(p, name, rule)...)
		}
		c.problems = append(c.problems, checkRuleEvents(op, rule)...)
	}
}

// A scenarioCheck visits the steps of a scenario in the order of its file.
type scenarioCheck struct {
	p        *Project
	s        *scenario.Scenario
	opened   map[string]*contract.Operation // by stream; nil when it is unknown
	problems scenario.Problems
}

func (c *scenarioCheck) step(step *scenario.Step) {
	c.kind(step)
	r := step.Request()
	var op *contract.Operation
	if r != nil && !r.Malformed.IsSet() {
		op = c.request(r)
	}
	switch do := step.Do.(type) {
	case *scenario.Open:
		c.opened[do.Name] = op
		if do.Wire == "" {
			c.stream(op, r)
		}
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

// kind checks that a step does not need a server when the targets are programs.
func (c *scenarioCheck) kind(step *scenario.Step) {
	if !arePrograms(c.p.Targets) {
		return
	}
	p := scenario.Problem{File: c.s.File, Line: step.Line}
	switch step.Do.(type) {
	case *scenario.Stop, *scenario.Kill, *scenario.Restart:
		p.Fix = "send a signal to what a step has started, or close it"
	default:
		r := step.Request()
		if r == nil {
			return
		}
		p.Line, p.Column, p.Fix = r.Line, r.Column, "start the program, and send it a line"
	}
	p.What = fmt.Sprintf("%s is a step for servers, but the targets are programs", step.Kind())
	c.problems = append(c.problems, p)
}

// request returns the operation of a request, or nil.
func (c *scenarioCheck) request(r *scenario.Request) *contract.Operation {
	path := r.Path.Probe()
	if !c.p.Contract.Accepts(r.Method, path) {
		c.problems = append(c.problems, scenario.Problem{
			File: c.s.File, Line: r.Line, Column: r.Column,
			What: fmt.Sprintf("the contract has no operation for %s %s", r.Method, r.Path.Source()),
			Fix:  operationFix(c.p, r.Method, r.Path.Source()),
		})
	}
	op, _ := c.p.Contract.Operation(r.Method, path)
	return op
}

// stream checks that an operation may respond with an event stream.
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
	fix := "to only send the request, write http instead of open and sse"
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

// checkEvent checks that the streams of an operation may have an event of that name. Otherwise a scenario would wait
// for it in vain.
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

// checkRuleEvents checks the names of events in a rule for a stream.
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

func operationFix(p *Project, method, path string) string {
	const meant = "if this is intended, mark the step malformed: true"
	if near, ok := problem.Nearest(method+" "+path, operations(p)); ok {
		return fmt.Sprintf("did you mean %q? %s", near, meant)
	}
	return meant
}

func operations(p *Project) []string {
	var out []string
	for _, op := range p.Contract.Operations() {
		out = append(out, op.String())
	}
	return out
}

// checkStreamRule checks that a rule names an operation of the contract, all programs, or a rule of a stub.
func checkStreamRule(p *Project, name string, rule scenario.StreamRule) scenario.Problems {
	if stub, _, isRule := strings.Cut(name, "."); isRule && slices.Contains(p.stubNames(), stub) {
		return nil
	}
	if _, known := p.Contract.Named(name); known || name == string(transcript.WireProgram) || p.Contract.IsAbsent() {
		return nil
	}
	names := append(operations(p), string(transcript.WireProgram))
	fix := "name a stream that the scenario opens, or an operation: " + strings.Join(names, ", ")
	if near, ok := problem.Nearest(name, names); ok {
		fix = fmt.Sprintf("did you mean %q?", near)
	}
	return scenario.Problems{{
		File: rule.File, Line: rule.Line, Column: rule.Column, What: fmt.Sprintf("rules for %q, which is not a stream", name), Fix: fix,
	}}
}

// checkSetup checks that the files which a scenario gives its targets have paths inside of their directories. The names
// in their texts are checked with the rest of the scenario.
func checkSetup(p *Project, s *scenario.Scenario) (out scenario.Problems) {
	for _, v := range s.Setup.Files {
		if err := (target.File{Path: v.Name}).CheckPath(); err != nil {
			out = append(out, scenario.Problem{
				File: s.File, Line: v.Line, Column: v.Column,
				What: err.Error(), Fix: "write a path below the directory, with slashes and without ..",
			})
		}
	}
	return out
}
