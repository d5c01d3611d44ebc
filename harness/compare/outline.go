package compare

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// outline describes a document in such a way that two which can be equal up to renaming have the same outline: members
// are sorted, equal numbers have one spelling, and generated values are replaced by their kinds, those at volatile places too.
func (b *bindings) outline(side int, n *jsontree.Node, ptr string, volatile map[string]*Volatile) string {
	return string(b.sketch(nil, side, n, ptr, volatile))
}

// sketch appends an outline.
func (b *bindings) sketch(out []byte, side int, n *jsontree.Node, ptr string, volatile map[string]*Volatile) []byte {
	rule := volatile[ptr]
	if rule != nil && !rule.Kind.ComparesNumbers() && scalar(n) {
		return append(out, "‹"+string(rule.Kind)+b.name(side, tokKnown, n.Text)+"›"...)
	}
	n.Open()
	switch n.Kind {
	case jsontree.Object:
		out = append(out, '{')
		for _, m := range b.members(side, n) {
			out = append(append(append(out, '"'), m.name...), `":`...)
			out = b.sketch(out, side, n.Items[m.index], below(volatile, ptr, n, m.index), volatile)
			out = append(out, ',')
		}
		return append(out, '}')
	case jsontree.Array:
		out = append(out, '[')
		for i, item := range n.Items {
			out = b.sketch(out, side, item, below(volatile, ptr, n, i), volatile)
			out = append(out, ',')
		}
		return append(out, ']')
	case jsontree.String:
		return append(append(append(out, '"'), b.skeleton(side, n.Text)...), '"')
	case jsontree.Number:
		return append(out, b.skeleton(side, wayOf(rule, volatile).Plain(n.Text))...)
	default:
		return n.AppendTo(out)
	}
}

// below returns the JSON Pointer of an item, where there are rules; without any it does not matter where it is.
func below(volatile map[string]*Volatile, ptr string, n *jsontree.Node, i int) string {
	if len(volatile) == 0 {
		return ""
	}
	return pointerBelow(ptr, n, i)
}

// pointerBelow is below where there are rules; it stands apart so that everywhere else nothing is called.
func pointerBelow(ptr string, n *jsontree.Node, i int) string {
	if n.Kind == jsontree.Object {
		return jsontree.AppendName(ptr, n.Names[i])
	}
	return jsontree.AppendIndex(ptr, i)
}

// A sketched member is a name without its generated values, and where the object has it.
type sketched struct {
	name  string
	index int
}

func (b *bindings) members(side int, n *jsontree.Node) []sketched {
	out := make([]sketched, len(n.Names))
	for i, name := range n.Names {
		out[i] = sketched{b.skeleton(side, name), i}
	}
	slices.SortStableFunc(out, func(a, b sketched) int { return strings.Compare(a.name, b.name) })
	return out
}

// sum stands for an outline, and takes no memory. Those of arrays and objects are kept, because an array is looked at
// again with each that it stands in.
func (d *documents) sum(side int, n *jsontree.Node, ptr string) jsontree.Sum {
	var rule *Volatile
	if len(d.volatile[side]) > 0 && scalar(n) {
		rule = d.volatile[side][ptr]
		if rule != nil && !rule.Kind.ComparesNumbers() {
			return jsontree.SumText('v', string(rule.Kind))
		}
	}
	switch n.Kind {
	case jsontree.String:
		return jsontree.SumText(n.Kind, d.b.skeleton(side, n.Text))
	case jsontree.Number:
		return jsontree.SumText(n.Kind, d.b.skeleton(side, wayOf(rule, d.volatile[side]).Plain(n.Text)))
	case jsontree.Array, jsontree.Object:
	default:
		return jsontree.SumText(n.Kind, n.Text)
	}
	if sum, _, ok := d.summary(side, n); ok {
		return sum
	}
	if left := slight; few(n, &left) {
		return d.sumItems(side, n, ptr)
	}
	if known := len(d.b.known[side]); d.taken[side] == nil || d.known[side] != known {
		d.taken[side], d.known[side] = map[*jsontree.Node]jsontree.Sum{}, known
	}
	sum, ok := d.taken[side][n]
	if !ok {
		sum = d.sumItems(side, n, ptr)
		d.taken[side][n] = sum
	}
	return sum
}

// slight is how many values an array or an object has at most whose sum is made faster than it is found.
const slight = 16

// few reports whether there are no more values in a value than are left.
func few(n *jsontree.Node, left *int) bool {
	n.Open()
	if *left -= len(n.Items); *left < 0 {
		return false
	}
	for _, item := range n.Items {
		if (item.Kind == jsontree.Array || item.Kind == jsontree.Object) && !few(item, left) {
			return false
		}
	}
	return true
}

func (d *documents) sumItems(side int, n *jsontree.Node, ptr string) jsontree.Sum {
	n.Open()
	sum := jsontree.SumEmpty(n.Kind)
	if n.Kind == jsontree.Array {
		for i, item := range n.Items {
			sum = sum.Element(d.sum(side, item, below(d.volatile[side], ptr, n, i)))
		}
		return sum
	}
	var numbers map[string]int // of members whose names are equal but for what was made up
	for i := range n.Items {
		item := d.sum(side, n.Items[i], below(d.volatile[side], ptr, n, i))
		name, number := d.b.skeleton(side, n.Names[i]), 0
		if name != n.Names[i] {
			if numbers == nil {
				numbers = map[string]int{}
			}
			number = numbers[name]
			numbers[name]++
		}
		sum = sum.Member(jsontree.SumText(jsontree.String, name), number, item)
	}
	return sum
}

// sums fills in those of an array's elements, or of an object's members.
func (d *documents) sums(out []jsontree.Sum, side int, ptr string, n *jsontree.Node) {
	for i, item := range n.Items {
		out[i] = d.sum(side, item, below(d.volatile[side], ptr, n, i))
	}
}
