package compare

import (
	"maps"
	"slices"
)

// Ids that are first told of on a stream have no partners yet when its events are paired, and events that differ in
// nothing else look the same. So before sequences that are not plainly equal are paired, those events are looked at that
// there is only one of on each side: what stands in them belongs together, wherever they come. With that more events can
// be told apart, and again. None of it is kept: it says which events to compare, and not what is equal.

// foresee names the ids in the keys of sequences by what events without a double tell of them.
func (s *streams) foresee(groups [][2][]item) {
	if slices.ContainsFunc(groups, func(g [2][]item) bool { return !plainlyEqual(g[0], g[1]) }) {
		s.ahead(groups)
	}
}

// ahead names the ids in the keys of sequences by what events without a double tell of them, and returns the bindings with
// these names; nil when there is no such event.
func (s *streams) ahead(groups [][2][]item) *bindings {
	b, c := s.b.clone(), *s.comparison
	c.b, c.result = b, Result{NotCompared: map[string]int{}}
	ahead := &streams{comparison: &c, rule: s.rule, volatile: s.volatile, sides: s.sides}
	told := map[*item]bool{}
	for {
		news := false
		for _, g := range groups {
			refs, cands := singles(g[0]), singles(g[1])
			for i := range g[0] {
				ref := &g[0][i]
				k := ref.name + ref.key
				if cand := cands[k]; refs[k] != nil && cand != nil && !told[ref] {
					told[ref], news = true, true
					ahead.events(pair{ref: ref, cand: cand})
				}
			}
		}
		switch {
		case news:
			s.rename(b.named(), groups)
		case len(told) == 0:
			return nil
		default:
			return b.named()
		}
	}
}

// rename gives events the keys that they have by other bindings.
func (s *streams) rename(b *bindings, groups [][2][]item) {
	for _, g := range groups {
		for side, items := range g {
			for i := range items {
				items[i].key = s.key(b, side, items[i].event)
			}
		}
	}
}

func plainlyEqual(ref, cand []item) bool {
	return slices.EqualFunc(ref, cand, func(a, b item) bool { return a.name == b.name && a.key == b.key })
}

// singles returns the events that there is one of, by name and key, or that are the same each time; of others nil.
func singles(items []item) map[string]*item {
	out := map[string]*item{}
	for i := range items {
		k := items[i].name + items[i].key
		switch other, double := out[k]; {
		case !double:
			out[k] = &items[i]
		case other != nil && other.event.Data != items[i].event.Data:
			out[k] = nil
		}
	}
	return out
}

// clone returns bindings that can be added to without a trace.
func (b *bindings) clone() *bindings {
	out := *b
	out.forward, out.backward, out.applied = maps.Clone(b.forward), maps.Clone(b.backward), maps.Clone(b.applied)
	out.order, out.said = slices.Clone(b.order), maps.Clone(b.said)
	out.known = [2][]knownValue{slices.Clone(b.known[0]), slices.Clone(b.known[1])}
	out.byHead = [2]*knownHeads{}
	out.briefs = b.briefs.clone()
	out.signatures = [2]map[string]string{}
	out.fractions, out.stable, out.drawn, out.last, out.noted = nil, [2]map[stableKey]*stableTime{}, nil, nil, nil
	return &out
}
