package project

import (
	"fmt"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// placeholderValues has the names of the placeholders for the lockstep program, stubs and secret variables, without
// values.
func (p *Project) placeholderValues() map[string]string {
	out := map[string]string{ProgramName: ""}
	for _, name := range p.Secrets.Env {
		out[EnvPrefix+name] = ""
	}
	for _, s := range p.Stubs {
		out[scenario.StubPrefix+s.Name] = ""
	}
	return out
}

func (p *Project) stubNames() []string {
	var names []string
	for _, s := range p.Stubs {
		names = append(names, s.Name)
	}
	return names
}

// checkStubs checks that a scenario names only stubs of the project.
func checkStubs(p *Project, s *scenario.Scenario) scenario.Problems {
	var out scenario.Problems
	unknown := func(name string, at scenario.Place) {
		if slices.Contains(p.stubNames(), name) {
			return
		}
		fix := problem.OneOf(name, p.stubNames())
		if len(p.Stubs) == 0 {
			fix = fmt.Sprintf("add stubs: {%s: {kind: openai}} to %s", name, p.File)
		}
		out = append(out, scenario.Problem{File: at.File, Line: at.Line, Column: at.Column, What: fmt.Sprintf("the project does not define the stub %q", name), Fix: fix})
	}
	for _, used := range s.Script().Stubs {
		if i := slices.IndexFunc(p.Stubs, func(s Stub) bool { return s.Name == used.Name }); i >= 0 {
			out = append(out, CheckStubRules(s.File, p.Stubs[i].Kind, &used)...)
			if p.Stubs[i].Kind == stub.OTLP && !s.Fresh {
				out = append(out, scenario.Problem{
					File: s.File, Line: used.Line, Column: used.Column,
					What: fmt.Sprintf("the stub %q collects what a whole process exports, but other scenarios use the same process", used.Name), Fix: "add isolate: fresh",
				})
			}
		}
		unknown(used.Name, scenario.Place{File: s.File, Line: used.Line, Column: used.Column})
	}
	for name, rules := range s.Compare.Stubs {
		unknown(name, rules.Place)
	}
	for _, used := range s.UsesStubs() {
		unknown(used.Name, used.Place)
	}
	return out
}

// CheckStubRules checks that the rules of a file demand only what a stub of this kind can do.
func CheckStubRules(file string, kind stub.Kind, of *scenario.Stub) (out scenario.Problems) {
	for i := range of.Rules {
		r := &of.Rules[i]
		problem := func(what, fix string) {
			out = append(out, scenario.Problem{File: file, Line: r.Line, Column: r.Column, What: fmt.Sprintf("rule %s of the stub %q (kind %s) ", r.Name, of.Name, kind) + what, Fix: fix})
		}
		if !kind.Chats() && r.When.Converses() {
			problem("matches a conversation, which this kind does not have", "use http, query, headers, body, json, matches or absent")
		}
		script := r.Answer.Script
		switch {
		case kind == stub.OTLP && r.When.Path == nil && !r.Silent:
			problem("answers what was exported, which is not a request", "remove answer, or add http: POST /v1/traces")
		case kind == stub.OTLP && r.When.Path != nil && r.Cadence != nil:
			problem("has a cadence, but the number of exports depends on times", "remove cadence")
		case r.Silent && (kind != stub.OTLP || r.When.Path != nil):
			problem("has no answer", "add one, such as answer: {status: 200}")
		case script != nil && script.Wire == transcript.WireSocket && kind != stub.HTTP:
			problem("responds with a socket, which this kind does not have", "use a stub of the kind http")
		case script != nil && script.Wire == transcript.WireProgram && kind != stub.Stdio:
			problem("has a program, which this kind does not have", "use a stub of the kind stdio")
		case script == nil && kind == stub.Stdio:
			problem("has no program", "write answer: {program: […]}")
		case r.Answer.Callback != nil && kind != stub.OAuth:
			problem("redirects to a client, which this kind does not do", "use status: 302 and headers, or a stub of the kind oauth")
		case r.When.Args != nil && kind != stub.Stdio:
			problem("matches arguments, which this kind does not have", "use a stub of the kind stdio")
		}
		for _, piece := range r.Answer.Pieces {
			switch {
			case piece.Tool != nil && !kind.Chats():
				problem("responds with a tool call, which this kind does not support", "use status, json, body, or pieces of text")
			case piece.Thinking != nil && kind != stub.Anthropic:
				problem("responds with thinking, which this kind does not support", "use text, or the kind anthropic")
			}
		}
	}
	return out
}

// stubRules combines the rules for stubs. A list of header fields replaces the usual ones. The names in a scenario are
// added to those of the project.
func stubRules(project, own scenario.Rules) map[string]compare.Step {
	var out map[string]compare.Step
	for _, rules := range []map[string]scenario.StubRules{project.Stubs, own.Stubs} {
		for name, r := range rules {
			of := out[name]
			switch {
			case r.NoHeaders:
				of.Headers = []string{}
			case len(r.Headers) > 0:
				of.Headers = append(slices.Clone(of.Headers), r.Headers...)
			}
			of.Volatile = append(volatileRules(r.Volatile), of.Volatile...)
			if out == nil {
				out = map[string]compare.Step{}
			}
			out[name] = of
		}
	}
	return out
}

// upstreamSteps returns the names in reports of the rules of stubs in a scenario.
func (p *Project) upstreamSteps(s *scenario.Scenario) []string {
	var out []string
	for _, stub := range s.Script().Stubs {
		for _, rule := range stub.Rules {
			out = append(out, scenario.UpstreamText(stub.Name, rule.Name))
		}
	}
	for _, name := range p.stubNames() {
		for _, rule := range scenario.BuiltInRules() {
			out = append(out, scenario.UpstreamText(name, rule))
		}
	}
	return out
}

// ProgramName is the placeholder for the lockstep program.
const ProgramName = "lockstep"
