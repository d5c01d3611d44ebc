package jsondiff

import (
	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// The names of members can be generated: {"ses_9…": {…}, "ses_0…": {…}}. Such a member is paired with the first of
// these:
//
//  1. the member whose name is bound to its name
//  2. a member whose value is equal apart from generated values, at any position, because members have no order
//  3. the next member that has no better partner

// renamedMembers finds the members of the candidate that correspond to the reference's under other names.
type renamedMembers struct {
	in    *setting
	sums  *sums
	at    *ident.Path
	sides [2]*jsontree.Node

	done      [2]map[int]bool      // the members of each side that are paired, or cannot be
	remaining [2]map[memberKey]int // the number of the others with each key, if the other side lacks their name
	// free has the candidate's remaining members, by their keys, and by their names alone. Some of them are done.
	free  map[memberKey][]int
	known [2]int // the numbers of known values for which the keys are valid
}

// A memberKey is the name of a member without generated values, and the sum of its value; 0 for any value.
type memberKey struct {
	name  string
	value jsontree.Sum
}

// maxGathered is the largest number of members that are gathered again when more values become known.
const maxGathered = 1000

// partner returns the index of the candidate's member that corresponds to a member of the reference, and binds their
// names.
func (r *renamedMembers) partner(i int) (index int, ok bool) {
	name := r.sides[0].Names[i]
	bare := r.in.ids.Skeletons().Of(0, name)
	if bare == name {
		return r.pairByNames(i)
	}
	if r.free == nil || r.known != r.in.ids.Vocabulary.Knowns() && len(r.sides[1].Names) <= maxGathered {
		r.gather()
	}
	own := memberKey{bare, r.value(0, i)}
	r.markDone(0, i, own)
	named := r.in.ids.NamedSkeletons() // a bound name matches only its partner, and an unbound one only unbound ones
	want, bound := named.Of(0, name), anyBound(r.in.ids, name)
	for _, like := range [...]memberKey{own, {name: bare}} {
		for _, other := range r.candidates(like) {
			theirs := memberKey{bare, r.value(1, other)}
			if r.done[1][other] || !bound && theirs != own && r.remaining[1][theirs] <= r.remaining[0][theirs] {
				continue
			}
			if named.Of(1, r.sides[1].Names[other]) == want && r.bind(name, r.sides[1].Names[other]) {
				r.markDone(1, other, theirs)
				return other, true
			}
		}
	}
	return r.pairByNames(i)
}

// pairByNames finds a partner by two names that only together turn out to be ids. One id in ten looks like a word if it
// is seen alone. A value can still be paired by its place, but a name cannot. Members with equal values come first.
func (r *renamedMembers) pairByNames(i int) (index int, ok bool) {
	name := r.sides[0].Names[i]
	if !mayHoldID(name) || len(r.sides[1].Names) > maxGathered {
		return 0, false
	}
	var alike, others []int
	for k, other := range r.sides[1].Names {
		switch {
		case r.done[1][k] || r.sides[0].Member(other) != nil || !ident.NanoidPair(name, other) && len(r.in.ids.Vocabulary.WordPairs(name, other)) == 0:
		case r.value(0, i) == r.value(1, k):
			alike = append(alike, k)
		default:
			others = append(others, k)
		}
	}
	for _, k := range append(alike, others...) {
		theirs := r.sides[1].Names[k]
		bare := r.in.ids.Skeletons().Of(1, theirs)
		if !r.bind(name, theirs) {
			continue
		}
		if ident.Put(&r.done[1], k, true); bare != theirs && r.free != nil {
			r.remaining[1][memberKey{bare, r.value(1, k)}]--
		}
		return k, true
	}
	return 0, false
}

// mayHoldID reports whether a name is long enough for an id that two names together reveal.
func mayHoldID(name string) bool { return len(name) >= ident.MinPair+len("a_") }

// gather collects the members of both sides that need a partner.
func (r *renamedMembers) gather() {
	r.known, r.free = r.in.ids.Vocabulary.Knowns(), map[memberKey][]int{}
	for side, n := range r.sides {
		r.remaining[side] = map[memberKey]int{}
		for i, name := range n.Names {
			if r.done[side][i] || n.Member(name) != n.Items[i] || r.sides[1-side].Member(name) != nil {
				continue
			}
			bare := r.in.ids.Skeletons().Of(side, name)
			if bare == name {
				continue
			}
			own := memberKey{bare, r.value(side, i)}
			r.remaining[side][own]++
			if side == 1 {
				r.free[own] = append(r.free[own], i)
				r.free[memberKey{name: bare}] = append(r.free[memberKey{name: bare}], i)
			}
		}
	}
}

// markDone records that a member needs no other partner.
func (r *renamedMembers) markDone(side, i int, own memberKey) {
	ident.Put(&r.done[side], i, true)
	r.remaining[side][own]--
}

// candidates returns the candidate's members with a key, beginning with the first one that is not done.
func (r *renamedMembers) candidates(like memberKey) []int {
	all := r.free[like]
	for len(all) > 0 && r.done[1][all[0]] {
		all = all[1:]
	}
	r.free[like] = all
	return all
}

func (r *renamedMembers) value(side, i int) jsontree.Sum {
	pointer := ""
	if len(r.in.rules[side]) > 0 {
		pointer = jsontree.AppendName(r.at.Pointer(side), r.sides[side].Names[i])
	}
	return r.sums.sum(side, r.sides[side].Items[i], pointer)
}

// bind binds two names. If their formats differ, it reports that, and binds them all the same.
func (r *renamedMembers) bind(ref, cand string) bool {
	why := r.in.ids.Texts(ref, cand, r.in.place)
	if why.Kind == diff.IDForm {
		here := r.in.at(r.at.Member(ref, cand)).Place()
		r.in.report(diff.Difference{Reason: why, At: here, Ref: diff.Show(diff.Quoted(ref)), Cand: diff.Show(diff.Quoted(cand))})
	}
	return why.None() || why.Kind == diff.IDForm
}

// anyBound reports whether a text of the reference contains a bound value.
func anyBound(b *ident.Bindings, ref string) bool {
	for _, t := range b.Vocabulary.Scan(0, ref) {
		if b.Met(t.Kind, ref[t.Start:t.End]) {
			return true
		}
	}
	return false
}
