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
	n, m := len(ref)-tail, len(cand)-tail
	for _, p := range diff.Align(n, m, maxTable, costGap, func(i, j int) int { return cost(&ref[i], &cand[j]) }) {
		switch {
		case p.Cand < 0:
			out = append(out, pair{ref: &ref[p.Ref], alone: diff.EventMissing})
		case p.Ref < 0:
			out = append(out, pair{cand: &cand[p.Cand], alone: diff.EventExtra})
		default:
			out = append(out, pair{ref: &ref[p.Ref], cand: &cand[p.Cand]})
		}
	}
	for i := range tail {
		out = append(out, pair{ref: &ref[n+i], cand: &cand[m+i]})
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

// pairAcrossGroups pairs events without a counterpart from different groups, if they are one event in the wrong group.
// Such an event has another name, and one of the names is an anchor's. Or its key contains the id of something else.
func (s *streams) pairAcrossGroups(pairs []pair) []pair {
	anchor := func(it *item) bool { return slices.Contains(s.Rules.Anchors, it.name) }
	extra := newExtras(pairs)
	for i, p := range pairs {
		if p.alone != diff.EventMissing {
			continue
		}
		renamed := extra.first(extra.byKey, p.ref.key, func(o *item) bool { return anchor(p.ref) != anchor(o) })
		k := renamed
		if s.Rules.OrderWithin != "" {
			// If only the outlines are equal, an id has another partner. Comparing the two events reports that.
			confused := extra.first(extra.byOutline, outlineOf(p.ref), func(o *item) bool { return o.key != p.ref.key })
			k = min(renamed, confused)
		}
		if k < len(pairs) {
			pairs[i] = pair{ref: p.ref, cand: pairs[k].cand}
			pairs[k] = pair{}
		}
	}
	return slices.DeleteFunc(pairs, func(p pair) bool { return p.ref == nil && p.cand == nil })
}

// extras are the candidate's events without a counterpart, by key and by outline. There may be very many.
type extras struct {
	pairs            []pair
	byKey, byOutline map[string][]int
}

func newExtras(pairs []pair) *extras {
	e := &extras{pairs: pairs, byKey: map[string][]int{}, byOutline: map[string][]int{}}
	for k, o := range pairs {
		if (o.alone == diff.EventExtra || o.alone == diff.EventDoubled) && o.cand.key != "" {
			e.byKey[o.cand.key] = append(e.byKey[o.cand.key], k)
			e.byOutline[outlineOf(o.cand)] = append(e.byOutline[outlineOf(o.cand)], k)
		}
	}
	return e
}

func outlineOf(it *item) string { return it.name + "\x00" + it.outline }

// first returns the first event with a key or outline that is still without a counterpart and fits; len(e.pairs) when
// there is none.
func (e *extras) first(in map[string][]int, kind string, fits func(*item) bool) int {
	for len(in[kind]) > 0 && e.pairs[in[kind][0]].cand == nil {
		in[kind] = in[kind][1:]
	}
	for _, k := range in[kind] {
		if o := e.pairs[k].cand; o != nil && fits(o) {
			return k
		}
	}
	return len(e.pairs)
}
