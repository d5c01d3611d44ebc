// Package jsondiff compares two JSON documents and reports how they differ apart from generated values.
package jsondiff

import (
	"bytes"
	"slices"
	"strings"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A documents compares two JSON documents at the same place of two messages.
type documents struct {
	*reporter
	equality
	timeRules
	buffer []memberTime // reused from walk to walk
}

func newDocuments(r reporter) *documents {
	return &documents{reporter: &r, equality: equality{reporter: &r}, timeRules: timeRules{&r}}
}

func (d *documents) json(ref, cand *jsontree.Node) { d.node(nil, ref, cand) }

func (d *documents) node(at *ident.Path, ref, cand *jsontree.Node) {
	if rule := d.rule(at); rule != nil && Scalar(ref) && ref.Kind == cand.Kind && d.byRule(rule, at, ref, cand) {
		return
	}
	if rule := d.ruleOf(0, at); rule != nil {
		d.structural(rule, at, ref)
	}
	if ref.Kind != cand.Kind {
		d.differ(diff.Because(diff.TypeDiffers, diff.TypesDiffer, ref.Kind, cand.Kind), at, ref, cand)
		return
	}
	switch ref.Kind {
	case jsontree.Object:
		if !d.sideBySide(at, ref, cand) {
			d.membersFrom(0, at, ref, cand, nil)
		}
	case jsontree.Array:
		if !d.sideBySide(at, ref, cand) {
			d.array(at, ref, cand)
		}
	case jsontree.String:
		d.string(at, ref, cand)
	case jsontree.Number:
		if d.ids.Vocabulary.ProjectNumbers(ref.Text, cand.Text) {
			d.string(at, ref, cand)
		} else {
			d.differ(d.numbers(at, ref.Text, cand.Text), at, ref, cand)
		}
	default:
		if ref.Text != cand.Text {
			d.differ(diff.Because(diff.ValueDiffers, diff.ValuesDiffer), at, ref, cand)
		}
	}
}

func (d *documents) string(at *ident.Path, ref, cand *jsontree.Node) {
	if ref.Text != cand.Text && looksEncoded(ref.Text) && d.encoded(at, ref, cand) {
		return
	}
	p := d.place
	p.Where = d.at(at)
	why := d.ids.Texts(ref.Text, cand.Text, p)
	if why.None() {
		why = d.fraction(nil, at, ref.Text, cand.Text)
	}
	if why.Code == diff.TextsDiffer && d.encoded(at, ref, cand) {
		return
	}
	d.differ(why, at, ref, cand)
}

// byRule compares two values of one type by the rule for their place. It returns false when the rule does not apply to
// that type.
func (d *documents) byRule(rule *Volatile, at *ident.Path, ref, cand *jsontree.Node) bool {
	switch rule.Kind {
	case ID:
		d.id(at, ref, cand)
	case JSON:
		if ref.Kind == jsontree.String {
			d.jsonText(at, ref, cand)
		}
		return ref.Kind == jsontree.String
	case Text:
		return ref.Kind == jsontree.String
	case Time:
		d.differ(d.time(rule, at, ref.Text, cand.Text), at, ref, cand)
	case Token:
		d.token(rule, at, ref, cand)
	case Duration, Number:
		d.differ(rule.check(ref.Text, cand.Text), at, ref, cand)
	default:
		return false
	}
	return true
}

// id compares two values that a rule declares as ids.
func (d *documents) id(at *ident.Path, ref, cand *jsontree.Node) {
	for side, text := range [2]string{ref.Text, cand.Text} {
		if text == "" && ref.Text != cand.Text {
			d.differ(diff.Because(diff.ValueDiffers, diff.IDEmpty, diff.Side(side)), at, ref, cand)
			return
		}
	}
	if why := ident.NilID(ref.Text, cand.Text); !why.None() && !d.ids.Met(ident.TokKnown, ref.Text) {
		d.differ(why, at, ref, cand)
		return
	}
	why := d.ids.KnownElsewhere(ref.Text, cand.Text)
	if why.None() {
		why = d.ids.BindWhole(ref.Text, cand.Text, d.at(at))
	}
	d.differ(why, at, ref, cand)
}

// membersFrom compares members by name in the reference's order, and then reports those that only the candidate has. If
// a name occurs several times, its last member counts; the contract judges such repetition. The first members have the
// same names on both sides and are already compared. said lists the members with reported differences.
func (d *documents) membersFrom(first int, at *ident.Path, ref, cand *jsontree.Node, said []string) {
	ref.Open()
	cand.Open()
	all := first // members that both have
	done := d.idsFirst(first, at, ref, cand)
	names := renamedMembers{d: &d.equality, at: at, sides: [2]*jsontree.Node{ref, cand}}
	for i, name := range ref.Names {
		if i < first || ref.MemberAt(name, i) != ref.Items[i] {
			continue
		}
		if other := cand.MemberAt(name, i); other != nil {
			all++
			if done[name] {
				continue
			}
			before := d.reported
			if !d.plainlyEqual(ref.Items[i], other) {
				d.node(at.Member(name, name), ref.Items[i], other)
			}
			if d.reported > before {
				said = append(said, name)
			}
			continue
		}
		if other, ok := names.partner(i); ok {
			d.node(at.Member(name, cand.Names[other]), ref.Items[i], cand.Items[other])
			continue
		}
		d.differ(diff.Because(diff.FieldMissing, diff.CandidateLacksField), at.Member(name, name), ref.Items[i], nil)
	}
	d.chronology(at, ref, cand, said)
	if len(ref.Names) == len(cand.Names) && all == len(cand.Names) {
		return
	}
	for i, name := range cand.Names {
		if cand.MemberAt(name, i) != cand.Items[i] || ref.MemberAt(name, i) != nil {
			continue
		}
		if !names.done[1][i] {
			d.differ(diff.Because(diff.FieldExtra, diff.ReferenceLacksField), at.Member(name, name), nil, cand.Items[i])
		}
	}
}

// array compares two lists. If their elements do not correspond by position, pairElements pairs them.
func (d *documents) array(at *ident.Path, ref, cand *jsontree.Node) {
	ref.Open()
	cand.Open()
	if len(ref.Items) == len(cand.Items) && len(ref.Items) < 2 {
		d.elements(at, ref, cand)
		return
	}
	if len(ref.Items) != len(cand.Items) {
		d.ambiguous(at, ref, cand)
	}
	if d.allComparable(ref, cand) {
		d.elements(at, ref, cand)
		return
	}
	like := similarity{d: &d.equality, at: at, items: [2][]*jsontree.Node{ref.Items, cand.Items}, left: maxPairwise}
	rs, cs := like.sums(0), like.sums(1)
	if slices.Equal(rs, cs) {
		d.elements(at, ref, cand)
		return
	}
	if d.allPairwise(at, ref, cand) {
		d.elements(at, ref, cand)
		return
	}
	if permuted(rs, cs) {
		d.differ(diff.Because(diff.OrderDiffers, diff.ElementsReordered), at, ref, cand)
		return
	}
	for _, p := range pairElements(rs, cs, like.changeCost) {
		switch {
		case p.cand < 0:
			d.differ(diff.Because(diff.ElementMissing, diff.CandidateLacksElement), at.Element(p.ref, p.ref), ref.Items[p.ref], nil)
		case p.ref < 0:
			d.differ(diff.Because(diff.ElementExtra, diff.ReferenceLacksElement), at.Element(p.cand, p.cand), nil, cand.Items[p.cand])
		case d.plainlyEqual(ref.Items[p.ref], cand.Items[p.cand]):
		default:
			d.node(at.Element(p.ref, p.cand), ref.Items[p.ref], cand.Items[p.cand])
		}
	}
}

// elements compares two lists of the same length by position.
func (d *documents) elements(at *ident.Path, ref, cand *jsontree.Node) {
	before := d.reported
	for i := range ref.Items {
		if !d.plainlyEqual(ref.Items[i], cand.Items[i]) {
			d.node(at.Element(i, i), ref.Items[i], cand.Items[i])
		}
	}
	if d.reported == before {
		d.sequence(at, ref, cand)
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

// Pointers returns the places in a document that rules select, and marks these rules as applied. The rule about all
// numbers has the key allNumbers.
func Pointers(rules []Volatile, doc []byte, root *jsontree.Node, applied map[string]bool) map[string]*Volatile {
	var out map[string]*Volatile
	var value any
	for i := range rules {
		rule := &rules[i]
		if rule.At == "" {
			applied[rule.Rule] = true
			if out[allNumbers] == nil {
				ident.Put(&out, allNumbers, rule)
			}
			continue
		}
		if name := lastName(rule.At); name != "" && !bytes.Contains(doc, []byte(name)) {
			continue // cheap test: the last name in the path does not occur in the text
		}
		path, err := jsonpath.Parse(rule.At)
		if err != nil {
			continue // this was checked when the rules were read
		}
		if value == nil {
			value = root.Value()
		}
		for _, found := range path.SelectLocated(value) {
			applied[rule.Rule] = true
			if ptr := found.Path.Pointer(); out[ptr] == nil {
				ident.Put(&out, ptr, rule)
			}
		}
	}
	return out
}

// lastName returns the member name at the end of a JSONPath: "requestID" for "$..requestID"; "" when something else is
// there.
func lastName(path string) string {
	i := strings.LastIndexByte(path, '.')
	name := path[i+1:]
	for _, c := range []byte(name) {
		if !ident.Alnum(c) && c != '_' {
			return ""
		}
	}
	return name
}

// idsFirst compares the members that rules declare as ids, and returns their names. They come first, because a member
// before the id may contain it: {"self": "/items/7", "id": 7}.
func (d *documents) idsFirst(first int, at *ident.Path, ref, cand *jsontree.Node) (done map[string]bool) {
	if len(d.volatile[0])+len(d.volatile[1]) == 0 {
		return nil
	}
	for i, name := range ref.Names {
		if i < first || !Scalar(ref.Items[i]) || ref.MemberAt(name, i) != ref.Items[i] {
			continue
		}
		other, here := cand.MemberAt(name, i), at.Member(name, name)
		if rule := d.rule(here); other == nil || rule == nil || rule.Kind != ID {
			continue
		}
		ident.Put(&done, name, true)
		d.node(here, ref.Items[i], other)
	}
	return done
}
