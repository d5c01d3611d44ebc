package compare

import (
	"slices"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// What stands for what in two lists is told by sums that each side makes alone. An id that only two texts together show
// (see pairs) has another sum than the id it belongs to. So before an element is said to be missing, or to stand in another
// place, elements are looked at two by two.

// mostNear is how many values of two lists are looked at two by two.
const mostNear = 64 << 10

// allNear reports whether elements of two lists that have the same index are equal up to renaming, when their texts are
// looked at two by two.
func (d *documents) allNear(at *spot, ref, cand *jsontree.Node) bool {
	left := mostNear
	return d.itemsNear([2]string{d.pointer(0, at), d.pointer(1, at)}, ref, cand, &left)
}

func (d *documents) near(ptr [2]string, ref, cand *jsontree.Node, left *int) bool {
	if *left--; *left < 0 || ref.Kind != cand.Kind {
		return false
	}
	ref.Open()
	cand.Open()
	switch {
	case scalar(ref) && (d.volatile[0][ptr[0]] != nil || d.volatile[1][ptr[1]] != nil):
		return d.sum(0, ref, ptr[0]) == d.sum(1, cand, ptr[1])
	case ref.Kind == jsontree.String:
		return d.b.textsAlike(ref.Text, cand.Text) || d.b.paired(ref.Text, cand.Text)
	case ref.Kind == jsontree.Number && fineEpoch(ref.Text) != "" && fineEpoch(ref.Text) == fineEpoch(cand.Text):
		return true
	case ref.Kind == jsontree.Array:
		return d.itemsNear(ptr, ref, cand, left)
	case ref.Kind == jsontree.Object:
		return d.membersNear(ptr, ref, cand, left)
	default:
		return d.sum(0, ref, ptr[0]) == d.sum(1, cand, ptr[1])
	}
}

func (d *documents) itemsNear(ptr [2]string, ref, cand *jsontree.Node, left *int) bool {
	if len(ref.Items) != len(cand.Items) {
		return false
	}
	for i, item := range ref.Items {
		if !d.near(d.belowBoth(ptr, ref, i, cand, i), item, cand.Items[i], left) {
			return false
		}
	}
	return true
}

// membersNear looks at members by name. Objects that have a name with a made-up value are near when their sums are equal.
func (d *documents) membersNear(ptr [2]string, ref, cand *jsontree.Node, left *int) bool {
	if len(ref.Names) != len(cand.Names) || !ref.Unique() || !cand.Unique() {
		return false
	}
	for i, name := range ref.Names {
		other := cand.MemberAt(name, i)
		if other == nil {
			return d.sum(0, ref, ptr[0]) == d.sum(1, cand, ptr[1])
		}
		below := ptr
		for side := range below {
			if len(d.volatile[side]) > 0 {
				below[side] = jsontree.AppendName(ptr[side], name)
			}
		}
		if !d.near(below, ref.Items[i], other, left) {
			return false
		}
	}
	return true
}

func (d *documents) belowBoth(ptr [2]string, ref *jsontree.Node, i int, cand *jsontree.Node, k int) [2]string {
	return [2]string{below(d.volatile[0], ptr[0], ref, i), below(d.volatile[1], ptr[1], cand, k)}
}

// paired reports whether two texts are equal but for ids that only the two together show.
func (b *bindings) paired(ref, cand string) bool {
	if nanoids(ref, cand) {
		return true
	}
	if temporaryPair(ref, cand) != nil || fineEpoch(ref) != "" && fineEpoch(ref) == fineEpoch(cand) {
		return true
	}
	ids := b.wordPairs(ref, cand)
	if ids == nil {
		return false
	}
	together := *b
	together.byHead = [2]*knownHeads{}
	for side, text := range [2]string{ref, cand} {
		together.known[side] = slices.Clone(b.standing(side, text))
		for _, pair := range ids {
			together.known[side] = append(together.known[side], knownValue{pair[side], tokPrefixed})
		}
	}
	return sameShape(ref, together.scan(0, ref), cand, together.scan(1, cand))
}
