package streamdiff

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
)

// A pair is two corresponding events, one of each side, or one event without a counterpart.
type pair struct {
	ref, cand *item
	alone     diff.Kind // why there is only one
	moved     *item     // for a moved event: the reference's event in its own place
}

// The costs of aligning two sequences. A pair of events with the same name and other contents costs less than a missing
// and an extra event. So does a pair that differs only in its name. Of pairs that may be equal, those are better in
// which both events repeat their predecessors, or neither does. One pair on different sides of an anchor costs less
// than a move, but two such pairs cost more.
const (
	costRepeats = 1
	costAcross  = 3 * 10
	costGap     = 2 * 10
	costDiffers = 3 * 10
	costNever   = 1 << 30
)

func cost(a, b *item) int {
	out := 0
	if a.again != b.again {
		out += costRepeats
	}
	if a.behind != b.behind {
		out += costAcross
	}
	switch sameName, sameKey := a.name == b.name, a.key == b.key; {
	case sameName && sameKey:
		return out
	case sameName, sameKey && a.key != "":
		return out + costDiffers
	default:
		return costNever
	}
}

// maxTable bounds the table of the alignment. If the parts that differ are longer, their events are paired by position.
const maxTable = 4 << 20

// align pairs the events of two sequences in order, at the least cost.
func align(ref, cand []item) []pair {
	var out []pair
	for len(ref) > 0 && len(cand) > 0 && cost(&ref[0], &cand[0]) == 0 {
		out = append(out, pair{ref: &ref[0], cand: &cand[0]})
		ref, cand = ref[1:], cand[1:]
	}
	tail := 0
	for tail < min(len(ref), len(cand)) && cost(&ref[len(ref)-1-tail], &cand[len(cand)-1-tail]) == 0 {
		tail++
	}
	r, c := ref[:len(ref)-tail], cand[:len(cand)-tail]
	if len(r)*len(c) > maxTable {
		out = append(out, byPosition(r, c)...)
	} else {
		out = append(out, byTable(r, c)...)
	}
	for i := range tail {
		out = append(out, pair{ref: &ref[len(r)+i], cand: &cand[len(c)+i]})
	}
	return out
}

func byPosition(ref, cand []item) []pair {
	var out []pair
	for i := range max(len(ref), len(cand)) {
		switch {
		case i >= len(cand):
			out = append(out, pair{ref: &ref[i], alone: diff.EventMissing})
		case i >= len(ref):
			out = append(out, pair{cand: &cand[i], alone: diff.EventExtra})
		default:
			out = append(out, pair{ref: &ref[i], cand: &cand[i]})
		}
	}
	return out
}

// byTable fills a table of edit distances from the end, and then walks it from the beginning.
func byTable(ref, cand []item) []pair {
	w := len(cand) + 1
	table := make([]int, (len(ref)+1)*w)
	for i := len(ref); i >= 0; i-- {
		for j := len(cand); j >= 0; j-- {
			best := costNever
			if i == len(ref) && j == len(cand) {
				best = 0
			}
			if i < len(ref) {
				best = min(best, costGap+table[(i+1)*w+j])
			}
			if j < len(cand) {
				best = min(best, costGap+table[i*w+j+1])
			}
			if i < len(ref) && j < len(cand) {
				best = min(best, cost(&ref[i], &cand[j])+table[(i+1)*w+j+1])
			}
			table[i*w+j] = best
		}
	}
	var out []pair
	for i, j := 0, 0; i < len(ref) || j < len(cand); {
		switch here := table[i*w+j]; {
		case i < len(ref) && j < len(cand) && here == cost(&ref[i], &cand[j])+table[(i+1)*w+j+1]:
			out = append(out, pair{ref: &ref[i], cand: &cand[j]})
			i, j = i+1, j+1
		case i < len(ref) && here == costGap+table[(i+1)*w+j]:
			out = append(out, pair{ref: &ref[i], alone: diff.EventMissing})
			i++
		default:
			out = append(out, pair{cand: &cand[j], alone: diff.EventExtra})
			j++
		}
	}
	return out
}

// explainGaps finds out why events have no counterpart. One that the candidate has elsewhere was moved, and one that it
// has twice in a row was doubled. A moved event is one finding, so its other half is dropped.
func explainGaps(pairs []pair) []pair {
	type likeness struct{ name, key string }
	doubled := doubledEvents(pairs)
	pairMoved(pairs, func(it *item) likeness { return likeness{it.name, it.key} })
	for i := range pairs {
		if pairs[i].alone == diff.EventExtra && doubled[i] {
			pairs[i].alone = diff.EventDoubled
		}
	}
	return slices.DeleteFunc(pairs, func(p pair) bool { return p.ref == nil && p.cand == nil })
}

// pairMoved joins a missing and an extra event that have something in common into one moved event. Of several missing
// ones, it takes the first. The reference's pair is empty afterwards.
func pairMoved[K comparable](pairs []pair, common func(*item) K) {
	lost := map[K][]int{}
	for i := range pairs {
		if pairs[i].alone == diff.EventMissing {
			lost[common(pairs[i].ref)] = append(lost[common(pairs[i].ref)], i)
		}
	}
	for i := range pairs {
		if len(lost) == 0 || pairs[i].alone != diff.EventExtra {
			continue
		}
		if left := lost[common(pairs[i].cand)]; len(left) > 0 {
			pairs[i].alone, pairs[i].moved = diff.EventMoved, pairs[left[0]].ref
			pairs[left[0]] = pair{}
			lost[common(pairs[i].cand)] = left[1:]
		}
	}
}

// pairByName joins a missing and an extra event with the same name. An event at another place with other values is
// still one event, so it would be wrong to report it as missing.
func pairByName(pairs []pair) []pair {
	pairMoved(pairs, func(it *item) string { return it.name })
	return slices.DeleteFunc(pairs, func(p pair) bool { return p.ref == nil && p.cand == nil })
}

// markRepeats marks the events that are equal to their predecessors.
func markRepeats(items []item) {
	for i := 1; i < len(items); i++ {
		items[i].again = items[i].name == items[i-1].name && items[i].event.Data == items[i-1].event.Data
	}
}

// doubledEvents reports for each pair whether the candidate's event follows or precedes an equal one that has a
// counterpart, with nothing but equal ones between them.
func doubledEvents(pairs []pair) []bool {
	out := make([]bool, len(pairs))
	var run []int // pairs with equal events that are consecutive in the candidate's sequence
	paired := false
	end := func() {
		for _, i := range run {
			out[i] = paired
		}
		run, paired = run[:0], false
	}
	for i, p := range pairs {
		if p.cand == nil {
			continue
		}
		if len(run) > 0 && !sameEvent(p.cand, pairs[run[0]].cand) {
			end()
		}
		run, paired = append(run, i), paired || p.ref != nil
	}
	end()
	return out
}

func sameEvent(a, b *item) bool { return a.name == b.name && a.key == b.key }
