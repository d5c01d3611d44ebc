package cause

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Weight returns the weight of a cause with its repeats. A place where several targets are wrong counts once.
func (c *Cause) Weight() verdict.Weight {
	places := len(c.Findings) / len(c.Targets)
	scenarios := map[string]bool{c.Scenario: true}
	for _, spot := range c.Also {
		places += len(spot.Findings) / len(spot.Targets)
		scenarios[spot.Scenario.ID] = true
	}
	return verdict.Weight{Scenarios: len(scenarios), Shared: c.Shared(), Proven: c.Finding.Proven(), Places: places}
}

// Shared reports whether the reference and a candidate break the contract, or miss a demand, in the same way.
func (c *Cause) Shared() bool {
	return c.Class != verdict.Difference && len(c.Targets) > 1 && len(c.In.Targets) > 0 && slices.Contains(c.Targets, c.In.Targets[0].Name)
}

// weights are the weights of the causes of a run, in all scenarios together.
type weights map[causeKey]verdict.Weight

func weightKey(c *Cause) causeKey {
	if key, ok := identityKeyOf(c); ok {
		return key
	}
	return causeKeyOf(c)
}

// worstFirst weighs the causes of scenarios, and returns the scenarios in the order of the worst cause that each of
// them shows. A cause is shown in one scenario. Scenarios that show no cause come last.
func worstFirst(scenarios []*verdict.Scenario, everything bool) ([]*verdict.Scenario, weights) {
	all := weights{}
	having := map[causeKey][]*verdict.Scenario{}
	var keys []causeKey
	for _, s := range scenarios {
		for _, c := range causesOf(s, everything) {
			key, w := weightKey(c), c.Weight()
			if having[key] == nil {
				keys = append(keys, key)
			}
			having[key] = append(having[key], s)
			w.Places += all[key].Places
			w.Scenarios = all[key].Scenarios
			if last := having[key]; len(last) < 2 || last[len(last)-2] != s {
				w.Scenarios++
			}
			all[key] = w
		}
	}
	slices.SortStableFunc(keys, func(a, b causeKey) int { return all[a].Compare(all[b]) })
	placed := map[*verdict.Scenario]bool{}
	var out []*verdict.Scenario
	place := func(s *verdict.Scenario) {
		placed[s] = true
		out = append(out, s)
	}
	for _, key := range keys {
		if !slices.ContainsFunc(having[key], func(s *verdict.Scenario) bool { return placed[s] }) {
			place(having[key][0])
		}
	}
	for _, s := range scenarios {
		if !placed[s] {
			place(s)
		}
	}
	return out, all
}

// worst returns some of the causes: the worst ones, in their order, and those that count others.
func (w weights) worst(causes []*Cause, most int) map[*Cause]bool {
	order := slices.DeleteFunc(slices.Clone(causes), func(c *Cause) bool { return c.IsOverflow() })
	slices.SortStableFunc(order, func(a, b *Cause) int { return w[weightKey(a)].Compare(w[weightKey(b)]) })
	out := map[*Cause]bool{}
	for i, c := range order {
		out[c] = i < most
	}
	for _, c := range causes {
		out[c] = out[c] || c.IsOverflow()
	}
	return out
}
