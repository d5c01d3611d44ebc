package project

import (
	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// CompareRules returns the rules that apply to a scenario: its own, then those of the project.
func (p *Project) CompareRules(s *scenario.Scenario) *compare.Rules { return compareRules(p.Rules, s) }

// compareRules turns the rules of a project and a scenario into those of a comparison.
func compareRules(project scenario.Rules, s *scenario.Scenario) *compare.Rules {
	out := &compare.Rules{Streams: map[string]streamdiff.Rules{}, Steps: map[string]compare.Step{}}
	for _, r := range []scenario.Rules{s.Compare, project} { // the scenario's own rules come first
		out.Headers = transcript.AddNames(out.Headers, r.Headers...)
		out.Volatile = append(out.Volatile, volatileRules(r.Volatile)...)
		out.IDs = append(out.IDs, idShapes(r.IDs)...)
		for name, rule := range r.Streams {
			if _, ok := out.Streams[name]; !ok {
				out.Streams[name] = streamRule(rule)
			}
		}
	}
	out.Stubs = stubRules(project, s.Compare)
	out.MCP = mcpRules(project, s.Compare)
	for _, r := range s.StepRules {
		if len(r.Headers)+len(r.Volatile) > 0 {
			out.Steps[r.Step] = compare.Step{Headers: r.Headers, Volatile: volatileRules(r.Volatile)}
		}
	}
	return out
}

// mcpRules combines the rules for MCP servers, the scenario's own first.
func mcpRules(project, own scenario.Rules) map[string][]jsondiff.Volatile {
	var out map[string][]jsondiff.Volatile
	for _, rules := range []map[string]scenario.Rules{own.MCP, project.MCP} {
		for name, r := range rules {
			if out == nil {
				out = map[string][]jsondiff.Volatile{}
			}
			out[name] = append(out[name], volatileRules(r.Volatile)...)
		}
	}
	return out
}

func volatileRules(rules []scenario.Volatile) []jsondiff.Volatile {
	out := make([]jsondiff.Volatile, len(rules))
	for i, r := range rules {
		out[i] = jsondiff.Volatile{
			At: r.At, Kind: jsondiff.VolatileKind(r.Kind), Unit: ident.Unit(r.Unit), Near: r.Near, Ahead: r.Ahead, Monotone: r.Monotone, Max: r.Max,
			Stable: r.Stable, Since: r.Since, Of: r.Of, Digits: r.Digits, Key: r.Key,
			Tolerance: jsondiff.Tolerance(r.Tolerance), Rule: scenario.Place{File: r.File, Line: r.Line, Column: r.Column}.String(),
		}
	}
	return out
}

func idShapes(rules []scenario.IDShape) []ident.IDShape {
	var out []ident.IDShape
	for _, r := range rules {
		if shape, err := ident.NewIDShape(r.Name, r.Pattern, r.Place.String()); err == nil { // checked where rules are read
			out = append(out, shape)
		}
	}
	return out
}

func streamRule(r scenario.StreamRule) streamdiff.Rules {
	out := streamdiff.Rules{Exact: r.Exact, Stderr: r.Stderr, JSONRPC: r.JSONRPC, OrderWithin: r.OrderWithin, Anchors: r.Anchors, Optional: r.Optional}
	if g := r.Gap; g != nil {
		out.Gap = &streamdiff.Gap{Max: g.Max, Tolerance: g.Tolerance}
	}
	for _, c := range r.Collapse {
		out.Collapse = append(out.Collapse, streamdiff.Collapse{Event: c.Event, By: c.By, Text: c.Text})
	}
	if h := r.Heartbeat; h != nil {
		out.Heartbeat = &streamdiff.Heartbeat{Event: h.Event, Every: h.Every, First: h.First, Tolerance: h.Tolerance, Same: h.Same}
	}
	return out
}
