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
		out.WriteString("‹" + string(rule.Kind) + "›")
		return
	}
	switch n.Kind {
	case jsontree.Object:
		out.WriteByte('{')
		for _, m := range b.members(side, n) {
			out.WriteString(quoted(m.name) + ":")
			b.sketch(out, side, n.Items[m.index], jsontree.AppendName(ptr, n.Names[m.index]), volatile)
			out.WriteByte(',')
		}
		out.WriteByte('}')
	case jsontree.Array:
		out.WriteByte('[')
		for i, item := range n.Items {
			b.sketch(out, side, item, jsontree.AppendIndex(ptr, i), volatile)
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
