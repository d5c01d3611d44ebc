package compare

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// outline describes a document in such a way that two which can be equal up to renaming have the same outline: members
// are sorted, numbers have one spelling, and generated values are replaced by their kinds, those at volatile places too.
func (b *bindings) outline(side int, n *jsontree.Node, ptr string, volatile map[string]*Volatile) string {
	var out strings.Builder
	b.sketch(&out, side, n, ptr, volatile)
	return out.String()
}

func (b *bindings) sketch(out *strings.Builder, side int, n *jsontree.Node, ptr string, volatile map[string]*Volatile) {
	if rule, ok := volatile[ptr]; ok && scalar(n) {
		out.WriteString("‹" + string(rule.Kind) + b.name(side, tokKnown, n.Text) + "›")
		return
	}
	n.Open()
	switch n.Kind {
	case jsontree.Object:
		out.WriteByte('{')
		for _, m := range b.members(side, n) {
			out.WriteString(quoted(m.name) + ":")
			b.sketch(out, side, n.Items[m.index], below(volatile, ptr, n, m.index), volatile)
			out.WriteByte(',')
		}
		out.WriteByte('}')
	case jsontree.Array:
		out.WriteByte('[')
		for i, item := range n.Items {
			b.sketch(out, side, item, below(volatile, ptr, n, i), volatile)
			out.WriteByte(',')
		}
		out.WriteByte(']')
	case jsontree.String:
		out.WriteString(quoted(b.skeleton(side, n.Text)))
	case jsontree.Number:
		out.WriteString(b.skeleton(side, jsontree.PlainNumber(n.Text)))
	default:
		out.WriteString(n.String())
	}
}

// below returns the JSON Pointer of an item, where there are rules; without any it does not matter where it is.
func below(volatile map[string]*Volatile, ptr string, n *jsontree.Node, i int) string {
	switch {
	case len(volatile) == 0:
		return ""
	case n.Kind == jsontree.Object:
		return jsontree.AppendName(ptr, n.Names[i])
	default:
		return jsontree.AppendIndex(ptr, i)
	}
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
	if rule, ok := d.volatile[side][ptr]; ok && scalar(n) {
		return jsontree.SumText('v', string(rule.Kind))
	}
	switch n.Kind {
	case jsontree.String:
		return jsontree.SumText(n.Kind, d.b.skeleton(side, n.Text))
	case jsontree.Number:
		return jsontree.SumText(n.Kind, d.b.skeleton(side, jsontree.PlainNumber(n.Text)))
	case jsontree.Array, jsontree.Object:
	default:
		return jsontree.SumText(n.Kind, n.Text)
	}
	if sum, _, ok := d.summary(side, n); ok {
		return sum
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

func (d *documents) sumItems(side int, n *jsontree.Node, ptr string) jsontree.Sum {
	n.Open()
	sum := jsontree.SumEmpty(n.Kind)
	items := d.sums(side, ptr, n)
	if n.Kind == jsontree.Array {
		for _, item := range items {
			sum = sum.Element(item)
		}
		return sum
	}
	var numbers map[string]int // of members whose names are equal but for what was made up
	for i, item := range items {
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

// sums returns those of an array's elements, or of an object's members.
func (d *documents) sums(side int, ptr string, n *jsontree.Node) []jsontree.Sum {
	out := make([]jsontree.Sum, len(n.Items))
	for i, item := range n.Items {
		out[i] = d.sum(side, item, below(d.volatile[side], ptr, n, i))
	}
	return out
}
