package compare

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
)

// A pair is an event of each side that stand for each other, or one event that is alone.
type pair struct {
	ref, cand *item
	alone     diff.Kind // why one is alone
	moved     *item     // where the reference has an event that was moved
}

// What it costs to align two sequences. A pair of like-named events that differ costs less than leaving out one and
// putting in the other; so does a pair that differs in nothing but its name. Of pairs that may be equal those are better
// in which both events repeat what came before them, or neither does. One that is on different sides of an anchor costs less
// than a move, and two of them more.
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

// maxTable bounds the table of the alignment. Longer sequences that differ in the middle are paired by position there.
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

// byTable fills the table of edit distances from the end, and walks it from the beginning.
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

// explainGaps finds what became of events that are alone: one that the candidate has elsewhere was moved, one that the
// candidate has twice in a row was doubled. A moved event is one finding, so its other half is dropped.
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

// pairMoved takes events for moved that are alone on each side and have something in common, each for the first that is left. The
// pairs of those on the reference's side are empty then.
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

// pairByName puts those events together that are alone on each side and have one name: one that came at another place and
// with other values is one event, and to say that it is not sent would be untrue.
func pairByName(pairs []pair) []pair {
	pairMoved(pairs, func(it *item) string { return it.name })
	return slices.DeleteFunc(pairs, func(p pair) bool { return p.ref == nil && p.cand == nil })
}

// markRepeats marks the events that are the same as those before them.
func markRepeats(items []item) {
	for i := 1; i < len(items); i++ {
		items[i].again = items[i].name == items[i-1].name && items[i].event.Data == items[i-1].event.Data
	}
}

// doubledEvents tells of each pair whether its candidate's event stands beside one like it that is not alone, with at most more of its
// like between them.
func doubledEvents(pairs []pair) []bool {
	out := make([]bool, len(pairs))
	var run []int // pairs whose events are like each other, one after the other in the candidate's sequence
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
