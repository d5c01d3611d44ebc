package compare

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A documents compares two JSON documents that stand in the same place.
type documents struct {
	b        *bindings
	place    place
	name     string                  // what a Difference's Place calls them: "body"
	volatile [2]map[string]*Volatile // by JSON Pointer, on each side
	report   func(Difference)        // with Kind, Place, the values and the sentence
	refuse   func(Refusal)           // with Kind, Rule and the sentence
	full     func() bool             // nobody wants to know more differences than were reported; nil: never

	told  int         // how many values were told to differ
	aside []asideTime // room for those of one walk after the other
	depth int         // in how many texts the documents stand
	known [2]int      // how many known values the sums below reckon with
	taken [2]map[*jsontree.Node]jsontree.Sum
	whole [2]searched
}

// json compares two trees.
func (d *documents) json(ref, cand *jsontree.Node) { d.node(nil, ref, cand) }

func (d *documents) node(at *spot, ref, cand *jsontree.Node) {
	if rule := d.rule(at); rule != nil && scalar(ref) && ref.Kind == cand.Kind && d.byRule(rule, at, ref, cand) {
		return
	}
	if rule := d.ruleOf(0, at); rule != nil {
		d.structural(rule, at, ref)
	}
	if ref.Kind != cand.Kind {
		d.differ(TypeDiffers, at, ref, cand, "the types differ: "+ref.Kind.String()+" and "+cand.Kind.String())
		return
	}
	switch ref.Kind {
	case jsontree.Object:
		if !d.alongside(at, ref, cand) {
			d.membersFrom(0, at, ref, cand, nil)
		}
	case jsontree.Array:
		if !d.alongside(at, ref, cand) {
			d.array(at, ref, cand)
		}
	case jsontree.String:
		d.string(at, ref, cand)
	case jsontree.Number:
		if d.b.ownNumbers(ref.Text, cand.Text) {
			d.string(at, ref, cand)
		} else if why := d.numbers(at, ref.Text, cand.Text); why != "" {
			d.differ(ValueDiffers, at, ref, cand, why)
		}
	default:
		if ref.Text != cand.Text {
			d.differ(ValueDiffers, at, ref, cand, "the values differ")
		}
	}
}

func (d *documents) string(at *spot, ref, cand *jsontree.Node) {
	if ref.Text != cand.Text && opens(ref.Text) && d.encoded(at, ref, cand) {
		return
	}
	p := d.place
	p.where = d.at(at)
	kind, why := d.b.texts(ref.Text, cand.Text, p)
	if kind == "" {
		if why := d.fraction(nil, at, ref.Text, cand.Text); why != "" {
			d.differ(ValueDiffers, at, ref, cand, why)
		}
		return
	}
	if why == textsDiffer && d.encoded(at, ref, cand) {
		return
	}
	d.differ(kind, at, ref, cand, why)
}

// byRule compares two values of one type by the rule for their place. It reports false when the rule does not speak of
// that type.
func (d *documents) byRule(rule *Volatile, at *spot, ref, cand *jsontree.Node) bool {
	switch rule.Kind {
	case ID:
		d.id(at, ref, cand)
	case JSON:
		if ref.Kind == jsontree.String {
			d.document(at, ref, cand)
		}
		return ref.Kind == jsontree.String
	case Text:
		return ref.Kind == jsontree.String
	case Time:
		d.time(rule, at, ref, cand)
	case Token:
		d.token(rule, at, ref, cand)
	case Duration, Number:
		if why := rule.apart(ref.Text, cand.Text); why != "" {
			d.differ(ValueDiffers, at, ref, cand, why)
		}
	default:
		return false
	}
	return true
}

// id compares two values that a rule calls ids.
func (d *documents) id(at *spot, ref, cand *jsontree.Node) {
	for side, text := range [2]string{ref.Text, cand.Text} {
		if text == "" && ref.Text != cand.Text {
			d.differ(ValueDiffers, at, ref, cand, sideNames[side]+"'s id is empty")
			return
		}
	}
	if why := nilID(ref.Text, cand.Text); why != "" && !d.b.met(tokKnown, ref.Text) {
		d.differ(IDForm, at, ref, cand, why)
		return
	}
	why := d.b.misplaced(ref.Text, cand.Text)
	if why == "" {
		why = d.b.bindWhole(ref.Text, cand.Text, d.at(at))
	}
	if why != "" {
		d.differ(IdentityBroken, at, ref, cand, why)
	}
}

// time compares two values that a rule calls times: of one shape, each near the moment it was seen.
func (d *documents) time(rule *Volatile, at *spot, ref, cand *jsontree.Node) {
	if rule.Unit != "" {
		var moments [2]time.Time
		for side, text := range [2]string{ref.Text, cand.Text} {
			var ok bool
			if moments[side], ok = rule.Unit.moment(text); !ok {
				d.differ(ValueDiffers, at, ref, cand, sideNames[side]+"'s value is no time in "+rule.Unit.String()+", although a rule says so")
				return
			}
		}
		if why := d.fraction(rule, at, ref.Text, cand.Text); why != "" {
			d.differ(ValueDiffers, at, ref, cand, why)
			return
		}
		d.moments(rule, at, ref, cand, moments)
		return
	}
	rt, ct := scan(ref.Text, nil), scan(cand.Text, nil)
	if len(rt) != 1 || !rt[0].kind.isTime() || rt[0].end-rt[0].start != len(ref.Text) {
		d.differ(ValueDiffers, at, ref, cand, "the reference's value is no time, although a rule says so")
		return
	}
	if !sameShape(ref.Text, rt, cand.Text, ct) {
		why := "the times are written differently"
		if len(ct) == 1 {
			why = cmp.Or(otherUnit(rt[0].kind, ct[0].kind), why)
		}
		d.differ(ValueDiffers, at, ref, cand, why)
		return
	}
	moments, why := momentsOf(rt[0].kind, ref.Text, cand.Text)
	if why == "" {
		moments = d.place.zoned(rt[0].kind, moments)
		why = d.place.astray(moments, rule.Near)
	}
	if why != "" {
		d.differ(ValueDiffers, at, ref, cand, notNear+why)
		return
	}
	if why := d.fraction(rule, at, ref.Text, cand.Text); why != "" {
		d.differ(ValueDiffers, at, ref, cand, why)
		return
	}
	d.moments(rule, at, ref, cand, moments)
}

// membersFrom compares members by name, in the reference's order, then what only the candidate has. Of a name that stands
// more than once the last member counts; that it does is the contract's business. The first so many members have the same
// names on both sides, and have been compared; said are those of which something was told.
func (d *documents) membersFrom(first int, at *spot, ref, cand *jsontree.Node, said []string) {
	ref.Open()
	cand.Open()
	all := first // members that both have
	done := d.idsFirst(first, at, ref, cand)
	names := renames{d: d, at: at, sides: [2]*jsontree.Node{ref, cand}}
	for i, name := range ref.Names {
		if i < first || ref.MemberAt(name, i) != ref.Items[i] {
			continue
		}
		if other := cand.MemberAt(name, i); other != nil {
			all++
			if done[name] {
				continue
			}
			before := d.told
			if !d.settled(ref.Items[i], other) {
				d.node(at.member(name, name), ref.Items[i], other)
			}
			if d.told > before {
				said = append(said, name)
			}
			continue
		}
		if other, ok := names.partner(i); ok {
			d.node(at.member(name, cand.Names[other]), ref.Items[i], cand.Items[other])
			continue
		}
		d.differ(FieldMissing, at.member(name, name), ref.Items[i], nil, "the candidate lacks the field")
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
			d.differ(FieldExtra, at.member(name, name), nil, cand.Items[i], "the reference has no such field")
		}
	}
}

// array compares elements with those that stand for them; see pairElements.
func (d *documents) array(at *spot, ref, cand *jsontree.Node) {
	ref.Open()
	cand.Open()
	if len(ref.Items) == len(cand.Items) && len(ref.Items) < 2 {
		d.elements(at, ref, cand)
		return
	}
	if len(ref.Items) != len(cand.Items) {
		d.ambiguous(at, ref, cand)
	}
	if d.allAlike(ref, cand) {
		d.elements(at, ref, cand)
		return
	}
	like := likeness{d: d, at: at, items: [2][]*jsontree.Node{ref.Items, cand.Items}, left: mostNear}
	rs, cs := like.sums(0), like.sums(1)
	if slices.Equal(rs, cs) {
		d.elements(at, ref, cand)
		return
	}
	if d.allNear(at, ref, cand) {
		d.elements(at, ref, cand)
		return
	}
	if permuted(rs, cs) {
		d.differ(OrderDiffers, at, ref, cand, "the elements are the same, in another order")
		return
	}
	for _, p := range pairElements(rs, cs, like.other) {
		switch {
		case p.cand < 0:
			d.differ(ElementMissing, at.element(p.ref, p.ref), ref.Items[p.ref], nil, "the candidate's list lacks the element")
		case p.ref < 0:
			d.differ(ElementExtra, at.element(p.cand, p.cand), nil, cand.Items[p.cand], "the reference's list has no such element")
		case d.settled(ref.Items[p.ref], cand.Items[p.cand]):
		default:
			d.node(at.element(p.ref, p.cand), ref.Items[p.ref], cand.Items[p.cand])
		}
	}
}

// elements compares two lists of one length by position.
func (d *documents) elements(at *spot, ref, cand *jsontree.Node) {
	before := d.told
	for i := range ref.Items {
		if !d.settled(ref.Items[i], cand.Items[i]) {
			d.node(at.element(i, i), ref.Items[i], cand.Items[i])
		}
	}
	if d.told == before {
		d.sequence(at, ref, cand)
	}
}

// permuted reports whether two different lists have the same elements.
func permuted(ref, cand []jsontree.Sum) bool {
	if len(ref) != len(cand) {
		return false
	}
	ref, cand = slices.Clone(ref), slices.Clone(cand)
	slices.Sort(ref)
	slices.Sort(cand)
	return slices.Equal(ref, cand)
}

func scalar(n *jsontree.Node) bool { return n.Kind == jsontree.String || n.Kind == jsontree.Number }

// pointer returns the JSON Pointer of a spot on a side where that matters: where there are rules.
func (d *documents) pointer(side int, at *spot) string {
	if len(d.volatile[side]) == 0 {
		return ""
	}
	return at.pointer(side)
}

// rule returns the rule for a spot; nil when there is none.
func (d *documents) rule(at *spot) *Volatile {
	if rule := d.ruleOf(0, at); rule != nil {
		return rule
	}
	return d.ruleOf(1, at)
}

func (d *documents) ruleOf(side int, at *spot) *Volatile {
	if len(d.volatile[side]) == 0 {
		return nil
	}
	return d.volatile[side][at.pointer(side)]
}

// at says where a spot is, by the reference's pointer.
func (d *documents) at(at *spot) location { return location{d.place.where.what, at} }

// called says where a spot is in the words of a Difference.
func (d *documents) called(at *spot) location { return location{d.name, at} }

func (d *documents) differ(kind Kind, at *spot, ref, cand *jsontree.Node, text string) {
	d.told++
	if d.full != nil && d.full() {
		d.report(Difference{Kind: kind}) // to be counted
		return
	}
	pointers := at.pointers()
	d.report(Difference{
		Kind: kind, Place: d.called(at).behind(pointers[0]), At: pointers, Reference: showNode(ref), Candidate: showNode(cand), Text: text,
		Fingerprint: d.values(at, ref, cand),
	})
}

// pointers returns the places of a document that rules speak of, and notes that these have applied.
func (b *bindings) pointers(rules []Volatile, doc []byte, root *jsontree.Node) map[string]*Volatile {
	return pointers(rules, doc, root, func(rule *Volatile) { b.applied[rule.Rule] = true })
}

// pointers returns the places of a document that rules speak of, and calls applies with each rule that speaks of any. The
// rule about all numbers stands everywhere.
func pointers(rules []Volatile, doc []byte, root *jsontree.Node, applies func(*Volatile)) map[string]*Volatile {
	var out map[string]*Volatile
	var value any
	for i := range rules {
		rule := &rules[i]
		if rule.At == "" {
			applies(rule)
			if out[everywhere] == nil {
				put(&out, everywhere, rule)
			}
			continue
		}
		if name := lastName(rule.At); name != "" && !bytes.Contains(doc, []byte(name)) {
			continue // the cheap test: the member the path ends in is nowhere in the text
		}
		path, err := jsonpath.Parse(rule.At)
		if err != nil {
			continue // checked where rules are read
		}
		if value == nil {
			value = root.Value()
		}
		for _, found := range path.SelectLocated(value) {
			applies(rule)
			if ptr := found.Path.Pointer(); out[ptr] == nil {
				put(&out, ptr, rule)
			}
		}
	}
	return out
}

// lastName returns the member name that a JSONPath of plain names ends in: "requestID" of "$..requestID"; "" when it
// ends otherwise.
func lastName(path string) string {
	i := strings.LastIndexByte(path, '.')
	name := path[i+1:]
	for _, c := range []byte(name) {
		if !alnum(c) && c != '_' {
			return ""
		}
	}
	return name
}
