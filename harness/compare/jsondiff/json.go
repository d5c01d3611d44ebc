// Package jsondiff compares two JSON documents and reports how they differ apart from generated values.
package jsondiff

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// documents compares two JSON documents at the same place of two messages.
type documents struct {
	in      setting
	out     reporter
	sums    sums
	times   timeRules
	scalars scalars
	buffer  []memberTime // reused from walk to walk
}

func newDocuments(in setting) *documents {
	d := &documents{in: in}
	d.out = reporter{in: &d.in}
	d.sums = sums{in: &d.in}
	d.times = timeRules{in: &d.in, out: &d.out}
	d.scalars = scalars{in: &d.in, out: &d.out, times: &d.times, embedded: embedded{&d.in, &d.out}}
	return d
}

// node compares two values at the same place, and all values in them.
func (d *documents) node(at *ident.Path, ref, cand *jsontree.Node) {
	if rule := d.in.rules.at(at); rule != nil && Scalar(ref) && ref.Kind == cand.Kind && d.scalars.byRule(rule, at, ref, cand) {
		return
	}
	if rule := d.in.rules.atSide(0, at); rule != nil {
		refuseStructural(&d.in, rule, at, ref)
	}
	switch {
	case ref.Kind != cand.Kind:
		d.out.differ(diff.Because(diff.TypeDiffers, diff.TypesDiffer, ref.Kind, cand.Kind), at, ref, cand)
	case ref.Kind != jsontree.Object && ref.Kind != jsontree.Array:
		d.scalars.compare(at, ref, cand)
	case d.sideBySide(at, ref, cand):
	case ref.Kind == jsontree.Object:
		d.membersFrom(0, at, ref, cand, nil)
	default:
		d.array(at, ref, cand)
	}
}

// membersFrom compares members by name in the reference's order, and then reports those that only the candidate has. If
// a name occurs several times, its last member counts; the contract judges such repetition. The first members have the
// same names on both sides and are already compared. said lists the members with reported differences.
func (d *documents) membersFrom(first int, at *ident.Path, ref, cand *jsontree.Node, said []string) {
	ref.Open()
	cand.Open()
	all := first // members that both have
	done := d.idsFirst(first, at, ref, cand)
	names := renamedMembers{in: &d.in, sums: &d.sums, at: at, sides: [2]*jsontree.Node{ref, cand}}
	for i, name := range ref.Names {
		if i < first || ref.MemberAt(name, i) != ref.Items[i] {
			continue
		}
		if other := cand.MemberAt(name, i); other != nil {
			all++
			if done[name] {
				continue
			}
			before := d.out.reported
			if !plainlyEqual(&d.sums, ref.Items[i], other) {
				d.node(at.Member(name, name), ref.Items[i], other)
			}
			if d.out.reported > before {
				said = append(said, name)
			}
			continue
		}
		if other, ok := names.partner(i); ok {
			d.node(at.Member(name, cand.Names[other]), ref.Items[i], cand.Items[other])
			continue
		}
		d.out.differ(diff.Because(diff.FieldMissing, diff.CandidateLacksField), at.Member(name, name), ref.Items[i], nil)
	}
	d.times.chronology(at, ref, cand, said)
	if len(ref.Names) == len(cand.Names) && all == len(cand.Names) {
		return
	}
	for i, name := range cand.Names {
		if cand.MemberAt(name, i) != cand.Items[i] || ref.MemberAt(name, i) != nil {
			continue
		}
		if !names.done[1][i] {
			d.out.differ(diff.Because(diff.FieldExtra, diff.ReferenceLacksField), at.Member(name, name), nil, cand.Items[i])
		}
	}
}

// array compares two lists. If their elements do not correspond by position, pairElements pairs them.
func (d *documents) array(at *ident.Path, ref, cand *jsontree.Node) {
	ref.Open()
	cand.Open()
	if rule := d.in.rules.list(at); rule != nil {
		if loose, ok := newLooseList(d, rule, at, ref, cand); ok {
			loose.compare()
			return
		}
	}
	sameLength := len(ref.Items) == len(cand.Items)
	pairs := pairwise{&d.sums, maxPairwiseFirst}
	if sameLength && (len(ref.Items) < 2 || pairs.lists(at, ref, cand)) {
		d.elements(at, ref, cand)
		return
	}
	if !sameLength {
		refuseAmbiguous(&d.in, at, ref, cand)
	}
	like := similarity{sums: &d.sums, at: at, items: [2][]*jsontree.Node{ref.Items, cand.Items}, pairs: pairwise{&d.sums, maxPairwise}}
	rs, cs := like.elementSums(0), like.elementSums(1)
	gaveUp := pairs.left < 0
	pairs.left = maxPairwise
	if slices.Equal(rs, cs) || gaveUp && pairs.lists(at, ref, cand) {
		d.elements(at, ref, cand)
		return
	}
	if permuted(rs, cs) {
		d.out.differ(diff.Because(diff.OrderDiffers, diff.ElementsReordered), at, ref, cand)
		return
	}
	for _, p := range pairElements(rs, cs, like.changeCost) {
		switch {
		case p.Cand < 0:
			d.out.differ(diff.Because(diff.ElementMissing, diff.CandidateLacksElement), at.Element(p.Ref, p.Ref), ref.Items[p.Ref], nil)
		case p.Ref < 0:
			d.out.differ(diff.Because(diff.ElementExtra, diff.ReferenceLacksElement), at.Element(p.Cand, p.Cand), nil, cand.Items[p.Cand])
		case plainlyEqual(&d.sums, ref.Items[p.Ref], cand.Items[p.Cand]):
		default:
			d.node(at.Element(p.Ref, p.Cand), ref.Items[p.Ref], cand.Items[p.Cand])
		}
	}
}

// elements compares two lists of the same length by position.
func (d *documents) elements(at *ident.Path, ref, cand *jsontree.Node) {
	before := d.out.reported
	for i := range ref.Items {
		if !plainlyEqual(&d.sums, ref.Items[i], cand.Items[i]) {
			d.node(at.Element(i, i), ref.Items[i], cand.Items[i])
		}
	}
	if d.out.reported == before {
		d.times.sequence(at, ref, cand)
	}
}

// permuted reports whether two lists have the same elements in any order.
func permuted(ref, cand []jsontree.Sum) bool {
	if len(ref) != len(cand) {
		return false
	}
	ref, cand = slices.Clone(ref), slices.Clone(cand)
	slices.Sort(ref)
	slices.Sort(cand)
	return slices.Equal(ref, cand)
}

// idsFirst compares the members that rules declare as ids, and returns their names. They come first, because a member
// before the id may contain it: {"self": "/items/7", "id": 7}.
func (d *documents) idsFirst(first int, at *ident.Path, ref, cand *jsontree.Node) (done map[string]bool) {
	if d.in.rules.none() {
		return nil
	}
	for i, name := range ref.Names {
		if i < first || !Scalar(ref.Items[i]) || ref.MemberAt(name, i) != ref.Items[i] {
			continue
		}
		other, here := cand.MemberAt(name, i), at.Member(name, name)
		if rule := d.in.rules.at(here); other == nil || rule == nil || rule.Kind != ID {
			continue
		}
		ident.Put(&done, name, true)
		d.node(here, ref.Items[i], other)
	}
	return done
}
