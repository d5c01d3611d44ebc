package harness

import (
	"cmp"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// unused returns the rules that selected nothing in all scenarios that they are about. Nothing can be said of a rule when
// one of these was not judged without a doubt, or when nothing was compared.
func (e *execution) unused() []verdict.Rule {
	if e.result.Alone || !e.result.Whole() {
		return nil
	}
	u := unused{judged: map[string]*verdict.Scenario{}}
	for i := range e.result.Scenarios {
		s := &e.result.Scenarios[i]
		if len(s.Reasons) == 0 && s.Verdict != verdict.NotApplicable {
			u.judged[s.ID] = s
		}
	}
	all := e.project.Scenarios
	if u.told(all) {
		u.rules(e.project.Rules, all, "")
	}
	for i := 0; i < len(all); {
		rows := 1
		for i+rows < len(all) && all[i+rows].File == all[i].File {
			rows++
		}
		if about := all[i : i+rows]; u.told(about) {
			u.rules(all[i].Compare, about, "")
			for _, r := range all[i].StepRules {
				u.rules(r.Rules, about, r.Step)
			}
		}
		i += rows
	}
	slices.SortStableFunc(u.out, func(a, b verdict.Rule) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return u.out
}

type unused struct {
	judged map[string]*verdict.Scenario // those that can tell, by id
	out    []verdict.Rule
}

// told reports whether the run tells of all of these scenarios.
func (u *unused) told(about []*scenario.Scenario) bool {
	return !slices.ContainsFunc(about, func(s *scenario.Scenario) bool { return u.judged[s.ID] == nil })
}

// rules takes the rules that some scenarios have in common; step is the one that has them alone, "" for all.
func (u *unused) rules(r scenario.Rules, about []*scenario.Scenario, step string) {
	note := func(place scenario.Place, rule, key string, counts func(*scenario.Scenario) bool) {
		for _, s := range about {
			if counts(s) && slices.Contains(u.judged[s.ID].Applied, key) {
				return
			}
		}
		u.out = append(u.out, verdict.Rule{File: place.File, Line: place.Line, Column: place.Column, Rule: rule})
	}
	always := func(*scenario.Scenario) bool { return true }
	for i, place := range r.HeaderAt {
		note(place, "header "+r.Headers[i], compare.HeaderApplied(r.Headers[i], step), always)
	}
	for _, v := range r.Volatile {
		place := scenario.Place{File: v.File, Line: v.Line, Column: v.Column}
		note(place, v.Name(), place.String(), always)
	}
	for _, s := range r.IDs {
		note(s.Place, "id "+s.Name, s.Place.String(), always)
	}
	for name, of := range r.Stubs {
		for i, place := range of.HeaderAt {
			note(place, "header "+of.Headers[i]+" of "+name, compare.StubHeaderApplied(name, of.Headers[i]), always)
		}
		for _, v := range of.Volatile {
			place := scenario.Place{File: v.File, Line: v.Line, Column: v.Column}
			note(place, v.Name()+" of "+name, place.String(), always)
		}
	}
	for name, of := range r.MCP {
		for _, v := range of.Volatile {
			place := scenario.Place{File: v.File, Line: v.Line, Column: v.Column}
			note(place, v.Name()+" of "+name, place.String(), always)
		}
	}
	for name, rule := range r.Streams {
		own := func(s *scenario.Scenario) bool { // a scenario's rules for the same stream hold in place of the project's
			other, ok := s.Compare.Streams[name]
			return !ok || other.File == rule.File
		}
		note(scenario.Place{File: rule.File, Line: rule.Line, Column: rule.Column}, "stream "+name, compare.StreamApplied(name), own)
		if rule.OrderWithin != "" {
			note(rule.OrderAt, "order "+rule.OrderWithin+" of "+name, compare.OrderApplied(name), own)
		}
		for i, anchor := range rule.Anchors {
			note(rule.AnchorsAt[i], "anchor "+anchor+" of "+name, compare.AnchorApplied(name, anchor), own)
		}
		for _, c := range rule.Collapse {
			note(c.Place, "collapse "+c.Event+" of "+name, compare.CollapseApplied(name, c.Event), own)
		}
	}
}
