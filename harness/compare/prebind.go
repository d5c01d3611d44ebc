package compare

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
)

// Ids that are first told of on a stream have no partners yet when its events are paired, and events that differ in
// nothing else look the same. So before sequences that are not plainly equal are paired, those events are looked at that
// there is only one of on each side: what stands in them belongs together, wherever they come. With that more events can
// be told apart, and again. None of it is kept: it says which events to compare, and not what is equal.

// prebind names the ids in the keys of sequences by what events without a double tell of them.
func (s sequences) prebind(groups [][2][]item) {
	if slices.ContainsFunc(groups, func(g [2][]item) bool { return !plainlyEqual(g[0], g[1]) }) {
		s.prebound(groups)
	}
}

// prebound names the ids in the keys of sequences by what events without a double tell of them, and returns the bindings with
// these names; nil when there is no such event.
func (s sequences) prebound(groups [][2][]item) *ident.Bindings {
	b := s.IDs.Clone()
	ahead := *s.streams
	ahead.Comparer, ahead.findings = s.Comparer.With(b), &findings{bound: b}
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
			s.rekey(b.Named(), groups)
		case len(told) == 0:
			return nil
		default:
			return b.Named()
		}
	}
}

// rekey gives events the keys that they have by other bindings.
func (s sequences) rekey(b *ident.Bindings, groups [][2][]item) {
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
