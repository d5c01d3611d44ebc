package compare

import "github.com/lockstep-dev/lockstep/internal/jsontree"

// The names of members can be made up themselves: {"ses_9…": {…}, "ses_0…": {…}}. Such a member stands for the one whose
// name has been bound to its own; else for one whose value is equal up to renaming, wherever it comes, since members have
// no order and servers write them as they were added or sorted; else for the next one that no other member stands for so.

// renames finds the members of the candidate that stand for those of the reference under other names.
type renames struct {
	d     *documents
	at    *spot
	sides [2]*jsontree.Node

	done [2]map[int]bool // members of each side that have been paired, or cannot be
	left [2]map[look]int // how many of the others look so, of those without a namesake
	// free are these others of the candidate, by their looks, and by their names alone; some are done.
	free  map[look][]int
	known [2]int // how many known values the looks reckon with
}

// A look is a member's name without what is made up, and the sum of its value; 0 for any.
type look struct {
	name  string
	value jsontree.Sum
}

// mostGathered is how many members an object has at most that is looked through again when more has become known.
const mostGathered = 1000

// partner returns the index of the candidate's member that stands for the reference's. The two names are bound then.
func (r *renames) partner(i int) (index int, ok bool) {
	name := r.sides[0].Names[i]
	bare := r.d.b.skeleton(0, name)
	if bare == name {
		return r.likely(i)
	}
	if r.free == nil || r.known != r.d.b.knowns() && len(r.sides[1].Names) <= mostGathered {
		r.gather()
	}
	own := look{bare, r.value(0, i)}
	r.settle(0, i, own)
	named := r.d.b.named() // what is bound may stand for its partner alone, and what is not for nothing that is
	want, bound := named.skeleton(0, name), r.d.b.anyBound(name)
	for _, like := range [...]look{own, {name: bare}} {
		for _, other := range r.others(like) {
			theirs := look{bare, r.value(1, other)}
			if r.done[1][other] || !bound && theirs != own && r.left[1][theirs] <= r.left[0][theirs] {
				continue
			}
			if named.skeleton(1, r.sides[1].Names[other]) == want && r.bind(name, r.sides[1].Names[other]) {
				r.settle(1, other, theirs)
				return other, true
			}
		}
	}
	return r.likely(i)
}

// likely finds a member whose name only the two together show to be an id: one in ten is not told from a word by itself. As
// a value it would have its place to go by. One with an equal value comes first.
func (r *renames) likely(i int) (index int, ok bool) {
	name := r.sides[0].Names[i]
	if !mayHoldID(name) || len(r.sides[1].Names) > mostGathered {
		return 0, false
	}
	var alike, others []int
	for k, other := range r.sides[1].Names {
		switch {
		case r.done[1][k] || r.sides[0].Member(other) != nil || !nanoids(name, other) && len(r.d.b.wordPairs(name, other)) == 0:
		case r.value(0, i) == r.value(1, k):
			alike = append(alike, k)
		default:
			others = append(others, k)
		}
	}
	for _, k := range append(alike, others...) {
		theirs := r.sides[1].Names[k]
		bare := r.d.b.skeleton(1, theirs)
		if !r.bind(name, theirs) {
			continue
		}
		if put(&r.done[1], k, true); bare != theirs && r.free != nil {
			r.left[1][look{bare, r.value(1, k)}]--
		}
		return k, true
	}
	return 0, false
}

// mayHoldID reports whether a name is as long as an id of which that is not plain.
func mayHoldID(name string) bool { return len(name) >= minPair+len("a_") }

// gather looks through the members of both sides.
func (r *renames) gather() {
	r.known, r.free = r.d.b.knowns(), map[look][]int{}
	for side, n := range r.sides {
		r.left[side] = map[look]int{}
		for i, name := range n.Names {
			if r.done[side][i] || n.Member(name) != n.Items[i] || r.sides[1-side].Member(name) != nil {
				continue
			}
			bare := r.d.b.skeleton(side, name)
			if bare == name {
				continue
			}
			own := look{bare, r.value(side, i)}
			r.left[side][own]++
			if side == 1 {
				r.free[own] = append(r.free[own], i)
				r.free[look{name: bare}] = append(r.free[look{name: bare}], i)
			}
		}
	}
}

// settle notes that a member needs no other partner.
func (r *renames) settle(side, i int, own look) {
	put(&r.done[side], i, true)
	r.left[side][own]--
}

// others returns the candidate's members that look so, from the first on that is not done.
func (r *renames) others(like look) []int {
	all := r.free[like]
	for len(all) > 0 && r.done[1][all[0]] {
		all = all[1:]
	}
	r.free[like] = all
	return all
}

func (r *renames) value(side, i int) jsontree.Sum {
	pointer := ""
	if len(r.d.volatile[side]) > 0 {
		pointer = jsontree.AppendName(r.at.pointer(side), r.sides[side].Names[i])
	}
	return r.d.sum(side, r.sides[side].Items[i], pointer)
}

// bind binds two names. That they are made differently is told; they belong together all the same.
func (r *renames) bind(ref, cand string) bool {
	kind, why := r.d.b.texts(ref, cand, r.d.place)
	if kind == IDForm {
		here := r.at.member(ref, cand)
		r.d.report(Difference{Kind: kind, Place: r.d.called(here).String(), At: here.pointers(), Reference: show(quoted(ref)), Candidate: show(quoted(cand)), Text: why})
	}
	return kind == "" || kind == IDForm
}

// anyBound reports whether something in a text of the reference has a partner.
func (b *bindings) anyBound(ref string) bool {
	for _, t := range b.scan(0, ref) {
		if b.met(t.kind, ref[t.start:t.end]) {
			return true
		}
	}
	return false
}
