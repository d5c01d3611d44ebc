package harness

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A Stub is a scripted upstream that a project declares.
type Stub struct {
	Name   string
	Kind   stub.Kind
	Models []string // that it lists; one that is called stub when empty
}

func (l *loader) stubs(n *yamldoc.Node) {
	for k, v := range n.Entries() {
		s := Stub{Name: k.Text, Kind: stub.Kind(v.Get("kind").Text)}
		if models, _ := v.Entry("models"); models != nil && !s.Kind.Chats() {
			l.problem(models, fmt.Sprintf("the stub %q lists models, and is of the kind %s", s.Name, s.Kind), "remove models, or make it openai or anthropic")
		}
		for _, m := range v.Get("models").Elements() {
			s.Models = append(s.Models, m.Text)
		}
		l.p.Stubs = append(l.p.Stubs, s)
	}
}

// givenValues are the names that stand for lockstep's own program, for the addresses of stubs and for secret variables,
// without these.
func (p *Project) givenValues() map[string]string {
	out := map[string]string{programName: ""}
	for _, name := range p.Secrets.Env {
		out[envPrefix+name] = ""
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

// checkStubs checks that a scenario speaks of stubs that the project has.
func (p *Project) checkStubs(s *scenario.Scenario) scenario.Problems {
	var out scenario.Problems
	unknown := func(name string, at scenario.Place) {
		if slices.Contains(p.stubNames(), name) {
			return
		}
		fix := problem.OneOf(name, p.stubNames())
		if len(p.Stubs) == 0 {
			fix = fmt.Sprintf("add stubs: {%s: {kind: openai}} to %s", name, p.File)
		}
		out = append(out, scenario.Problem{File: at.File, Line: at.Line, Column: at.Column, What: fmt.Sprintf("the project has no stub %q", name), Fix: fix})
	}
	for _, used := range s.Script().Stubs {
		out = append(out, p.checkRules(s, &used)...)
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

// checkRules checks that rules speak of what a stub of their kind has.
func (p *Project) checkRules(s *scenario.Scenario, of *scenario.Stub) (out scenario.Problems) {
	i := slices.IndexFunc(p.Stubs, func(s Stub) bool { return s.Name == of.Name })
	if i < 0 {
		return nil
	}
	kind := p.Stubs[i].Kind
	for i := range of.Rules {
		r := &of.Rules[i]
		problem := func(what, fix string) {
			out = append(out, scenario.Problem{File: s.File, Line: r.Line, Column: r.Column, What: fmt.Sprintf("rule %s of the stub %q, which is of the kind %s, ", r.Name, of.Name, kind) + what, Fix: fix})
		}
		if !kind.Chats() && r.When.Converses() {
			problem("asks for a conversation", "use http, query, headers, body, json, matches or absent")
		}
		for _, piece := range r.Answer.Pieces {
			switch {
			case piece.Tool != nil && !kind.Chats():
				problem("answers with a call of a tool", "use status, json, body, or pieces of text")
			case piece.Thinking != nil && kind != stub.Anthropic:
				problem("answers with what a model thinks", "that is something for the kind anthropic")
			}
		}
	}
	return out
}

// stubRules checks the project's own rules for stubs.
func (l *loader) stubRules(n *yamldoc.Node, _ map[string]scenario.StubRules) {
	for k := range n.Entries() {
		if !slices.Contains(l.p.stubNames(), k.Text) {
			l.problem(k, fmt.Sprintf("the project has no stub %q", k.Text), problem.OneOf(k.Text, l.p.stubNames()))
		}
	}
}

// stubRules puts the rules for stubs together. A list of header fields takes the place of the usual ones; what a scenario
// names comes beside those of the project.
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
			of.Volatile = append(volatile(r.Volatile), of.Volatile...)
			if out == nil {
				out = map[string]compare.Step{}
			}
			out[name] = of
		}
	}
	return out
}

// upstreamSteps are what reports call the things that stubs answer in a scenario.
func (p *Project) upstreamSteps(s *scenario.Scenario) []string {
	var out []string
	for _, stub := range s.Script().Stubs {
		for _, rule := range stub.Rules {
			out = append(out, scenario.UpstreamText(stub.Name, rule.Name))
		}
	}
	for _, name := range p.stubNames() {
		out = append(out, scenario.UpstreamText(name, scenario.ModelsRule), scenario.UpstreamText(name, scenario.UnexpectedRule))
	}
	return out
}

// upstreams are the stubs of one target, by name.
type upstreams map[string]*stub.Server

// startStubs starts the stubs of a target.
func (e *execution) startStubs(target string) (upstreams, error) {
	out := upstreams{}
	for _, s := range e.project.Stubs {
		started, err := stub.Start(s.Name, s.Kind, stub.Options{MaxBody: e.project.Limits.Body, Models: s.Models})
		if err != nil {
			out.close()
			return nil, fmt.Errorf("start stub %q of target %q: %w", s.Name, target, err)
		}
		out[s.Name] = started
	}
	return out, nil
}

// programName is the name that stands for lockstep's own program.
const programName = "lockstep"

// values are the addresses, and lockstep's own program, by the names that stand for them, beside other values.
func (u upstreams) values(program string, others map[string]string) map[string]string {
	out := map[string]string{programName: program}
	for name, value := range others {
		if strings.HasPrefix(name, envPrefix) {
			out[name] = value
		}
	}
	for name, s := range u {
		out[scenario.StubPrefix+name] = s.URL()
	}
	return out
}

// forget lets go of what was asked by a process that has not come up.
func (u upstreams) forget() {
	for _, s := range u {
		s.Forget()
	}
}

func (u upstreams) close() {
	for _, s := range u {
		s.Close()
	}
}
