package verdict

import (
	"cmp"
	"maps"

	"github.com/lockstep-dev/lockstep/harness/compare"
)

// Scenarios that share one process of the reference cannot tell a constant from a value that this process has drawn. A probe
// can: a scenario that is run again, after all others, on targets that were newly started.

// mostProbes bounds how many scenarios a run probes.
const mostProbes = 5

// Doubtful returns the scenarios that are worth a probe, by their indexes: the fewest that show all values which the
// reference repeats, but on one process only. Of those that show equally many, the shortest comes first. Scenarios that
// were not judged are nil.
func Doubtful(scenarios []*Scenario) []int {
	c := learned(scenarios)
	shown := make([]map[valueKey]bool, len(scenarios))
	for i, s := range scenarios {
		if s != nil {
			shown[i] = c.doubtful(s)
		}
	}
	var out []int
	for range mostProbes {
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

// doubtful returns the values of a scenario that another process of the reference would decide.
func (c *Constancy) doubtful(s *Scenario) map[valueKey]bool {
	out := map[valueKey]bool{}
	for i := range s.beside.pairs {
		p := &s.beside.pairs[i]
		if !p.open() || p.processes[0].IsZero() || !c.undecided(p) {
			continue
		}
		if why, _ := c.why(s, p); why == "" {
			out[valueKey{"", p.Class, p.Reference}] = true
		}
	}
	return out
}

// AddProbe takes the judgement of a probe of the scenario. Only what it shows of values that count as made up is of use,
// see Constants.
func (s *Scenario) AddProbe(probe *Scenario) {
	for _, p := range probe.beside.pairs {
		p.probe = true
		s.beside.pairs = append(s.beside.pairs, p)
	}
}

// A spot is where a value stands in a scenario. Events are not counted: another run may have them in another order.
type spot struct {
	target, step, stream, place string
	class                       compare.MadeUp
}

func (p *pair) spot() spot {
	return spot{p.target, p.Step, p.Stream, compare.Unnumbered(p.Place), p.Class}
}

// learnProbe notes the values of the reference in whose place its probe has another one.
func (c *Constancy) learnProbe(s *Scenario) {
	var probed map[spot]string
	for i := range s.beside.pairs {
		if p := &s.beside.pairs[i]; p.probe {
			if probed == nil {
				probed = map[spot]string{}
			}
			probed[p.spot()] = p.Reference
		}
	}
	for i := range s.beside.pairs {
		p := &s.beside.pairs[i]
		if other, ok := probed[p.spot()]; ok && p.open() && other != p.Reference {
			c.value(valueKey{"", p.Class, p.Reference}).varies = true
		}
	}
}
