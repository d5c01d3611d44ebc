package streamdiff

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
)

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
