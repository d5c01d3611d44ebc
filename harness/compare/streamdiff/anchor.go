package streamdiff

import (
	"fmt"
	"slices"
	"sort"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
)

// An anchor is an event that orders the events of all keys: what comes before it on one side must come before it on the
// other. An event on the wrong side of an anchor is a finding, whatever its key. If several events are on the wrong
// side of an anchor, the anchor itself was moved.

// anchored separates the anchors in two sequences from the other events.
func (s *sequences) anchored(items [2][]item) (anchors, others [2][]item) {
	if len(s.Rules.Anchors) == 0 || s.Rules.OrderWithin == "" {
		return anchors, items
	}
	for side := range items {
		for _, it := range items[side] {
			if !slices.Contains(s.Rules.Anchors, it.name) {
				others[side] = append(others[side], it)
				continue
			}
			s.IDs.Applied[AnchorApplied(s.RuleKey, it.name)] = true
			anchors[side] = append(anchors[side], it)
		}
	}
	return anchors, others
}

// barriers returns the anchors that certainly correspond to each other, and notes for each event how many of them
// precede it.
func barriers(anchors []pair, groups [][2][]item) []pair {
	var out []pair
	for i, p := range anchors {
		if p.alone == "" && !uncertain(anchors, i, -1) && !uncertain(anchors, i, +1) && !passed(anchors, p) {
			out = append(out, p)
		}
	}
	for _, g := range groups {
		for side, items := range g {
			for i := range items {
				items[i].behind = sort.Search(len(out), func(n int) bool {
					return [2]*item{out[n].ref, out[n].cand}[side].index > items[i].index
				})
			}
		}
	}
	return out
}

// uncertain reports whether an anchor has an equal neighbour without a counterpart. Then that neighbour may be the real
// counterpart.
func uncertain(anchors []pair, i, step int) bool {
	for j := i + step; j >= 0 && j < len(anchors); j += step {
		p := anchors[j]
		switch {
		case p.ref != nil && !sameEvent(p.ref, anchors[i].ref), p.cand != nil && !sameEvent(p.cand, anchors[i].cand):
			return false
		case p.alone != "":
			return true
		}
	}
	return false
}

// passed reports whether another anchor has moved past this one. Then this one may be the one that moved.
func passed(anchors []pair, p pair) bool {
	return slices.ContainsFunc(anchors, func(o pair) bool {
		return o.moved != nil && (o.moved.index < p.ref.index) != (o.cand.index < p.cand.index)
	})
}

// straddled returns the range of barriers that come before one of two corresponding events and after the other.
func straddled(ref, cand *item) (from, to int) {
	return min(ref.behind, cand.behind), max(ref.behind, cand.behind)
}

// A crossing is a pair of events on different sides of a barrier.
type crossing struct{ pair, barrier int }

// displaced reports what is on the wrong side of a barrier: as few events and anchors as explain all crossings.
func (s *streams) displaced(barriers, pairs []pair) {
	var all []crossing
	for i, p := range pairs {
		if p.ref == nil || p.cand == nil {
			continue // an event that moved among those of its own key is reported there
		}
		for from, to := straddled(p.ref, p.cand); from < to; from++ {
			all = append(all, crossing{i, from})
		}
	}
	for len(all) > 0 {
		event, of := mostCommon(all, func(c crossing) int { return c.pair })
		anchor, on := mostCommon(all, func(c crossing) int { return c.barrier })
		if on > of {
			i := slices.IndexFunc(all, func(c crossing) bool { return c.barrier == anchor })
			s.report(movedDifference(barriers[anchor], fmt.Sprintf("%d events are on the other side of it; the first is %s", on, eventPlace(pairs[all[i].pair].ref)), ""))
			all = slices.DeleteFunc(all, func(c crossing) bool { return c.barrier == anchor })
			continue
		}
		from, _ := straddled(pairs[event].ref, pairs[event].cand)
		s.report(movedDifference(pairs[event], "across "+barriers[from].ref.name, barriers[from].ref.name))
		all = slices.DeleteFunc(all, func(c crossing) bool { return c.pair == event })
	}
}

// mostCommon returns what most crossings have in common, and their number. If several are equally common, the first one
// wins.
func mostCommon(all []crossing, of func(crossing) int) (what, n int) {
	count := map[int]int{}
	for _, c := range all {
		count[of(c)]++
	}
	for _, c := range all {
		if count[of(c)] > n {
			what, n = of(c), count[of(c)]
		}
	}
	return what, n
}

// movedDifference describes two corresponding events at different places.
func movedDifference(p pair, how, across string) diff.Difference {
	return diff.Difference{
		Reason: diff.Because(diff.EventMoved, diff.ElsewhereInOrder, p.cand.name, ", "+how), Events: [2]int{p.ref.index, p.cand.index}, At: atEvent(p.cand),
		Ref: showLabelled(p.ref), Cand: showLabelled(p.cand), Fingerprint: diff.Digest(keyOf(p.ref), keyOf(p.cand), across),
	}
}
