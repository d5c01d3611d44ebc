package verdict

import (
	"cmp"
	"maps"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
)

// Scenarios that share one process of the reference cannot show whether a value is a constant or generated once. A
// probe can: it runs a scenario again, after all others, on newly started targets.

// maxProbes limits how many scenarios a run probes.
const maxProbes = 5

// ProbeCandidates returns the indexes of the scenarios that should be probed: the fewest that have all values which the
// reference repeats on only one process. Among equally good ones, the shortest comes first. Scenarios that were not
// judged are nil.
func ProbeCandidates(scenarios []*Scenario) []int {
	c := newConstantCheck(scenarios)
	shown := make([]map[valueKey]bool, len(scenarios))
	for i, s := range scenarios {
		if s != nil {
			shown[i] = c.valuesToProbe(s)
		}
	}
	var out []int
	for range maxProbes {
		best := -1
		for i, values := range shown {
			if len(values) > 0 && (best < 0 || cmp.Or(len(shown[best])-len(values), int(scenarios[i].Millis-scenarios[best].Millis)) < 0) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		out = append(out, best)
		covered := shown[best]
		shown[best] = nil
		for _, values := range shown {
			maps.DeleteFunc(values, func(key valueKey, _ bool) bool { return covered[key] })
		}
	}
	return out
}

// valuesToProbe returns the values of a scenario that another process of the reference would decide.
func (c *ConstantCheck) valuesToProbe(s *Scenario) map[valueKey]bool {
	out := map[valueKey]bool{}
	for i := range s.assumed.pairs {
		p := &s.assumed.pairs[i]
		if !p.unresolved() || p.processes[0].IsZero() || !c.undecided(p) {
			continue
		}
		if why, _ := c.why(s, p); why == "" {
			out[valueKey{"", p.Class, p.Reference}] = true
		}
	}
	return out
}

// AddProbe adds the judgement of a probe of the scenario. It uses only the values that were assumed to be generated,
// see Constants.
func (s *Scenario) AddProbe(probe *Scenario) {
	for _, p := range probe.assumed.pairs {
		p.probe = true
		s.assumed.pairs = append(s.assumed.pairs, p)
	}
}

// A valuePlace is the place of a value in a scenario. It has no numbers of events, because another run may have another
// order.
type valuePlace struct {
	target, step, stream, place string
	class                       ident.ValueClass
}

func (p *assumedPair) place() valuePlace {
	return valuePlace{p.target, p.Step, p.Stream, diff.Unnumbered(p.Place), p.Class}
}

// learnProbe records the values of the reference that a probe has replaced by another value in the same place.
func (c *ConstantCheck) learnProbe(s *Scenario) {
	var probed map[valuePlace]string
	for i := range s.assumed.pairs {
		if p := &s.assumed.pairs[i]; p.probe {
			if probed == nil {
				probed = map[valuePlace]string{}
			}
			probed[p.place()] = p.Reference
		}
	}
	for i := range s.assumed.pairs {
		p := &s.assumed.pairs[i]
		if other, ok := probed[p.place()]; ok && p.unresolved() && other != p.Reference {
			c.value(valueKey{"", p.Class, p.Reference}).varies = true
		}
	}
}
