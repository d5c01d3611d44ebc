package mutate

import (
	"cmp"
	"hash/fnv"
	"slices"
)

// A Sample chooses mutants at random. Each operator gets the same number, as far as it has enough mutants. The choice
// depends only on the mutants and the seed, not on their order.
type Sample struct {
	seed    uint64
	drawn   [][]draw // by operator
	chosen  []map[string]map[int]bool
	Counted int // number of mutants
}

// A draw is a mutant that takes part in the draw: the n-th of an operator in a scenario.
type draw struct {
	number   float64
	scenario string
	n        int
}

// NewSample returns a sample of the mutants of this many operators.
func NewSample(operators int, seed uint64) *Sample {
	return &Sample{seed: seed, drawn: make([][]draw, operators)}
}

// Add adds the mutants of an operator in a scenario to the draw. Each of them costs as much as judging the scenario.
// The usual cost is 1. Mutants of more expensive scenarios are drawn less often, so that they do not take all the time.
func (a *Sample) Add(operator int, scenario string, mutants int, cost float64) {
	h := fnv.New64a()
	h.Write([]byte(scenario))
	base := h.Sum64() ^ splitMix64(a.seed)
	weight := max(1, cost)
	for n := range mutants {
		number := float64(splitMix64(base^splitMix64(uint64(operator)<<32|uint64(n)))>>11) / (1 << 53)
		a.drawn[operator] = append(a.drawn[operator], draw{number * weight, scenario, n})
	}
	a.Counted += mutants
}

// Draw chooses at most this many mutants; 0 means all.
func (a *Sample) Draw(most int) (chosen int) {
	each := 0 // for each operator
	if most <= 0 {
		each = a.Counted
	} else {
		sizes := make([]int, len(a.drawn))
		for i := range a.drawn {
			sizes[i] = len(a.drawn[i])
		}
		slices.Sort(sizes)
		for i, size := range sizes { // operators with more mutants share what others cannot use
			each = most / (len(sizes) - i)
			if each <= size {
				break
			}
			most -= size
		}
		each = max(1, each)
	}
	a.chosen = make([]map[string]map[int]bool, len(a.drawn))
	for op, lots := range a.drawn {
		slices.SortFunc(lots, func(x, y draw) int {
			return cmp.Or(cmp.Compare(x.number, y.number), cmp.Compare(x.scenario, y.scenario), cmp.Compare(x.n, y.n))
		})
		a.chosen[op] = map[string]map[int]bool{}
		for _, l := range lots[:min(each, len(lots))] {
			if a.chosen[op][l.scenario] == nil {
				a.chosen[op][l.scenario] = map[int]bool{}
			}
			a.chosen[op][l.scenario][l.n] = true
			chosen++
		}
	}
	a.drawn = nil
	return chosen
}

// Of returns which mutants of an operator in a scenario were chosen.
func (a *Sample) Of(operator int, scenario string) map[int]bool { return a.chosen[operator][scenario] }
