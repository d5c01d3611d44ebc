package compare

import (
	"fmt"
	"slices"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A eventGroup is the events of one side that are in order among themselves: all of them, or those with one value at the path
// that order is kept within.
type eventGroup struct {
	key      string // the value, up to renaming
	contents string // all it says, with the ids named that are told of elsewhere; "" when nobody has looked
	items    []item
}

// sequences takes the events of both sides apart into sequences that are aligned.
type sequences struct{ *streams }

// groups returns the sequences to align: one pair of all events, or one for each value of the path that order is kept
// within. What only one side has is paired with nothing.
func (s sequences) groups(items, anchors [2][]item) [][2][]item {
	path, err := jsonpath.Parse(s.rule.OrderWithin)
	if s.rule.OrderWithin == "" || err != nil { // which is checked where rules are read
		for side := range items {
			items[side] = s.collapse(side, items[side], anchors[side])
		}
		return [][2][]item{items}
	}
	lines := [2][]eventGroup{s.eventGroups(0, items[0], anchors[0], path), s.eventGroups(1, items[1], anchors[1], path)}
	if ambiguous(lines[0]) && ambiguous(lines[1]) {
		s.disambiguate(lines, anchors)
	}
	refs, cands := lines[0], lines[1]
	out := make([][2][]item, len(refs))
	for i, ref := range refs {
		out[i][0] = ref.items
	}
	for _, same := range []func(a, b eventGroup) bool{sameContents, sameEvents, sameKey} {
		for i, ref := range refs {
			if out[i][1] != nil {
				continue
			}
			if k := slices.IndexFunc(cands, func(cand eventGroup) bool { return same(ref, cand) }); k >= 0 {
				out[i][1] = cands[k].items
				cands = slices.Delete(cands, k, k+1)
			}
		}
	}
	for _, cand := range cands {
		out = append(out, [2][]item{nil, cand.items})
	}
	return out
}

// ambiguous reports whether there are lines that their keys do not tell apart: those of ids that have no partners yet.
func ambiguous(lines []eventGroup) bool {
	seen := map[string]bool{}
	return slices.ContainsFunc(lines, func(l eventGroup) bool {
		double := seen[l.key]
		seen[l.key] = true
		return double
	})
}

// disambiguate looks for what tells lines apart that their keys do not: what events say of their ids that there is only one of, such
// as an anchor that lists them.
func (s sequences) disambiguate(lines [2][]eventGroup, anchors [2][]item) {
	var whole [2][]item
	for side := range lines {
		whole[side] = slices.Clone(anchors[side])
		for _, l := range lines[side] {
			whole[side] = append(whole[side], l.items...)
		}
	}
	b := s.prebound([][2][]item{whole})
	if b == nil {
		return // every event has a double, or is the same without its ids
	}
	for side := range lines {
		for i := range lines[side] {
			l := &lines[side][i]
			said := []string{l.key}
			for _, it := range l.items {
				said = append(said, it.name, s.key(b, side, it.event))
			}
			l.contents = diff.Digest(said...)
		}
	}
}

func sameContents(a, b eventGroup) bool { return a.contents != "" && a.contents == b.contents }

func sameKey(a, b eventGroup) bool { return a.key == b.key }

// sameEvents tells those lines apart whose values are ids without partners, which have the same key.
func sameEvents(a, b eventGroup) bool {
	return sameKey(a, b) && slices.EqualFunc(a.items, b.items, func(a, b item) bool { return a.name == b.name && a.outline == b.outline })
}

// eventGroups parts the events of a side by the value that their order binds within, in the order of their first events. Pieces of
// texts are put together before lines are told apart: they are cut in other places on the other side.
func (s sequences) eventGroups(side int, items, anchors []item, path *jsonpath.Path) []eventGroup {
	b := s.IDs.Named()
	index := map[string]int{}
	var out []eventGroup
	for _, it := range items {
		value := s.correlation(it.event, path)
		i, ok := index[value]
		if !ok {
			i = len(out)
			index[value] = i
			key := b.Skeleton(side, value)
			if b.PartnerOf(side, value) != "" {
				key = b.Name(side, ident.TokKnown, value)
			}
			out = append(out, eventGroup{key: key})
		}
		out[i].items = append(out[i].items, it)
	}
	for i := range out {
		out[i].items = s.collapse(side, out[i].items, anchors)
	}
	return out
}

// correlation returns the value of an event that its order binds within; "" when it has none.
func (s sequences) correlation(ev *transcript.Event, path *jsonpath.Path) string {
	root, _, err := s.Docs.Parse([]byte(ev.Data))
	if err != nil {
		return ""
	}
	found := path.Select(root.Value())
	if len(found) != 1 {
		return ""
	}
	s.IDs.Applied[OrderApplied(s.ruleKey)] = true
	return fmt.Sprint(found[0])
}

// pairAcrossGroups puts those events together that are alone in two sequences, and are one event that came into the wrong one: by
// another name, where one of the names is an anchor's, or with another thing's id where the key is.
func (s *streams) pairAcrossGroups(pairs []pair) []pair {
	anchor := func(it *item) bool { return slices.Contains(s.rule.Anchors, it.name) }
	extra := newExtras(pairs)
	for i, p := range pairs {
		if p.alone != diff.EventMissing {
			continue
		}
		renamed := extra.first(extra.byKey, p.ref.key, func(o *item) bool { return anchor(p.ref) != anchor(o) })
		k := renamed
		if s.rule.OrderWithin != "" {
			// Keys that differ where outlines do not have an id with another partner, so that this is told.
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

// extras are the candidate's events that are alone, by what they say and by their outline. There may be very many.
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

// first returns the first event of a kind that is still alone and fits; the number of pairs when there is none.
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
