package engine

import (
	"cmp"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// unusedRules returns the rules that selected nothing in any scenario that they apply to. A rule is left out when one
// of these scenarios has no certain verdict. With one target, nothing was compared, and all rules are left out.
func unusedRules(p *project.Project, r *Result, run []*scenario.Scenario) []verdict.Rule {
	if r.Alone || !r.Complete() {
		return nil
	}
	u := ruleUsage{judged: map[string]*verdict.Scenario{}}
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		if len(s.Reasons) == 0 && s.Verdict != verdict.NotApplicable {
			u.judged[s.ID] = s
		}
	}
	all := p.Scenarios
	if r.Code {
		all = run // nobody knows which other scenarios there are, to which the rules of the project apply
	} else if u.wasJudged(all) {
		u.addUnused(p.Rules, all, "")
	}
	for i := 0; i < len(all); {
		rows := 1
		for i+rows < len(all) && all[i].Row != nil && all[i+rows].File == all[i].File {
			rows++
		}
		if about := all[i : i+rows]; u.wasJudged(about) {
			u.addUnused(all[i].Compare, about, "")
			for _, r := range all[i].StepRules {
				u.addUnused(r.Rules, about, r.Step)
			}
		}
		i += rows
	}
	slices.SortStableFunc(u.out, func(a, b verdict.Rule) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return u.out
}

// A ruleUsage finds rules that selected nothing.
type ruleUsage struct {
	judged map[string]*verdict.Scenario // scenarios with a certain verdict, by id
	out    []verdict.Rule
}

// wasJudged reports whether all of these scenarios have a certain verdict.
func (u *ruleUsage) wasJudged(about []*scenario.Scenario) bool {
	return !slices.ContainsFunc(about, func(s *scenario.Scenario) bool { return u.judged[s.ID] == nil })
}

// addUnused adds the unused rules among those that scenarios share. step is the step of the rules; "" means all steps.
func (u *ruleUsage) addUnused(r scenario.Rules, about []*scenario.Scenario, step string) {
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
	volatile := func(rules []scenario.Volatile, suffix string) {
		for _, v := range rules {
			place := scenario.Place{File: v.File, Line: v.Line, Column: v.Column}
			note(place, v.Name()+suffix, place.String(), always)
		}
	}
	volatile(r.Volatile, "")
	for _, s := range r.IDs {
		note(s.Place, "id "+s.Name, s.Place.String(), always)
	}
	for name, of := range r.Stubs {
		for i, place := range of.HeaderAt {
			note(place, "header "+of.Headers[i]+" of "+name, compare.StubHeaderApplied(name, of.Headers[i]), always)
		}
		volatile(of.Volatile, " of "+name)
	}
	for name, of := range r.MCP {
		volatile(of.Volatile, " of "+name)
	}
	for name, rule := range r.Streams {
		own := func(s *scenario.Scenario) bool { // a scenario's rules for the same stream replace those of the project
			other, ok := s.Compare.Streams[name]
			return !ok || other.File == rule.File
		}
		note(scenario.Place{File: rule.File, Line: rule.Line, Column: rule.Column}, "stream "+name, streamdiff.Applied(name), own)
		if rule.OrderWithin != "" {
			note(rule.OrderAt, "order "+rule.OrderWithin+" of "+name, streamdiff.OrderApplied(name), own)
		}
		for i, anchor := range rule.Anchors {
			note(rule.AnchorsAt[i], "anchor "+anchor+" of "+name, streamdiff.AnchorApplied(name, anchor), own)
		}
		for _, c := range rule.Collapse {
			note(c.Place, "collapse "+c.Event+" of "+name, streamdiff.CollapseApplied(name, c.Event), own)
		}
	}
}
