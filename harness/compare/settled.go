package compare

import (
	"slices"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Most values of two documents that belong together are the same text, and no value that a server makes up. They are
// passed over before anything is written down about where they stand.

// settled reports whether two values are certainly equal and hold nothing to bind. Of an array or an object of which no sum
// was made it says so only when it is small, since it is asked again of what is in it.
func (d *documents) settled(ref, cand *jsontree.Node) bool {
	left := slight
	return len(d.volatile[0])+len(d.volatile[1]) == 0 && d.settledWithin(ref, cand, &left)
}

func (d *documents) settledWithin(ref, cand *jsontree.Node, left *int) bool {
	if *left--; *left < 0 || ref.Kind != cand.Kind {
		return false
	}
	switch ref.Kind {
	case jsontree.Array, jsontree.Object:
		return d.same(ref, cand) || !summarized(ref) && !summarized(cand) && d.itemsSettled(ref, cand, left)
	case jsontree.String:
		return ref.Text == cand.Text && d.b.holdsNothing(ref.Text)
	case jsontree.Number:
		return ref.Text == cand.Text && !d.b.ownNumbers(ref.Text, cand.Text)
	default:
		return ref.Text == cand.Text
	}
}

func summarized(n *jsontree.Node) bool {
	_, _, _, _, ok := n.Summary()
	return ok
}

// itemsSettled looks at items in the order in which both have them.
func (d *documents) itemsSettled(ref, cand *jsontree.Node, left *int) bool {
	if len(ref.Items) != len(cand.Items) || !slices.Equal(ref.Names, cand.Names) || !ref.Unique() || !cand.Unique() {
		return false
	}
	for i, item := range ref.Items {
		if !d.settledWithin(item, cand.Items[i], left) {
			return false
		}
	}
	return true
}

// holdsNothing reports whether a text that stands on both sides has certainly no value in it that can be bound.
func (b *bindings) holdsNothing(s string) bool {
	return (jsontree.Plain(s) || !hasShape(s, false)) && !b.mentions(0, s) && !b.mentions(1, s) && !b.own.stands(s) &&
		!b.briefs.stand(0, s) && !b.briefs.stand(1, s)
}

// glance is how many values of two lists are looked at before sums are made of them.
const glance = 256

// allAlike reports whether it is seen at a glance that elements of two lists that have the same index are equal up to
// renaming. They stand for each other then.
func (d *documents) allAlike(ref, cand *jsontree.Node) bool {
	left := glance
	return len(d.volatile[0])+len(d.volatile[1]) == 0 && len(ref.Items) <= glance && d.itemsAlike(ref, cand, &left)
}

func (d *documents) itemsAlike(ref, cand *jsontree.Node, left *int) bool {
	if len(ref.Items) != len(cand.Items) {
		return false
	}
	for i, item := range ref.Items {
		if !d.alike(item, cand.Items[i], left) {
			return false
		}
	}
	return true
}

func (d *documents) alike(ref, cand *jsontree.Node, left *int) bool {
	if *left--; *left < 0 || ref.Kind != cand.Kind {
		return false
	}
	switch ref.Kind {
	case jsontree.Array:
		return d.same(ref, cand) || opened(ref, cand) && d.itemsAlike(ref, cand, left)
	case jsontree.Object:
		return d.same(ref, cand) || opened(ref, cand) && d.membersAlike(ref, cand, left)
	case jsontree.String:
		return d.b.textsAlike(ref.Text, cand.Text)
	default:
		return ref.Text == cand.Text
	}
}

func opened(ref, cand *jsontree.Node) bool {
	ref.Open()
	cand.Open()
	return true
}

// membersAlike looks at members by name; objects that have a name with a made-up value, or one twice, are not for a
// glance.
func (d *documents) membersAlike(ref, cand *jsontree.Node, left *int) bool {
	if len(ref.Names) != len(cand.Names) || !ref.Unique() {
		return false
	}
	for i, name := range ref.Names {
		other := cand.MemberAt(name, i)
		if other == nil || !d.b.holdsNothing(name) || !d.alike(ref.Items[i], other, left) {
			return false
		}
	}
	return true
}

// textsAlike reports whether two texts are equal up to renaming.
func (b *bindings) textsAlike(ref, cand string) bool {
	if ref == cand && !b.mentions(0, ref) && !b.mentions(1, ref) {
		return true
	}
	rt, ct := b.scan(0, ref), b.scan(1, cand)
	return sameShape(ref, rt, cand, ct)
}
