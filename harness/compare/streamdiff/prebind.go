package streamdiff

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
)

// If an id first appears on a stream, it has no partner yet when the events are paired. So events that differ only in
// such ids look the same. The unique events help: if each side has exactly one event with a key, the two belong
// together, wherever they come. Their ids are bound, and so more events become unique. The bindings are discarded
// afterwards, because they say which events to compare, and not what is equal.

// prebind puts names of ids into the keys of sequences that are not equal already. It learns the names from unique
// events.
func (s *sequences) prebind(groups [][2][]item) {
	if slices.ContainsFunc(groups, func(g [2][]item) bool { return !plainlyEqual(g[0], g[1]) }) {
		s.prebound(groups)
	}
}

// prebound puts names of ids into the keys of sequences. It learns them from unique events, and returns skeletons
// with these names. ok is false when no event is unique.
func (s *sequences) prebound(groups [][2][]item) (named ident.Skeletons, ok bool) {
	b := s.IDs.Clone()
	ahead := *s.Recordings
	ahead.IDs, ahead.Data, ahead.Report = b, s.Data.With(b), func(diff.Difference) {}
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
					eventPair{&ahead, pair{ref: ref, cand: cand}}.compare()
				}
			}
		}
		switch {
		case news:
			s.rekey(b.NamedSkeletons(), groups)
		case len(told) == 0:
			return ident.Skeletons{}, false
		default:
			return b.NamedSkeletons(), true
		}
	}
}

// rekey computes the keys of events again with other skeletons.
func (s *sequences) rekey(named ident.Skeletons, groups [][2][]item) {
	for _, g := range groups {
		for side, items := range g {
			for i := range items {
				items[i].key = s.key(named, side, items[i].event)
			}
		}
	}
}

func plainlyEqual(ref, cand []item) bool {
	return slices.EqualFunc(ref, cand, func(a, b item) bool { return a.name == b.name && a.key == b.key })
}

// singles returns the events that are unique by name and key, or are the same each time; nil for all other keys.
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
