package jsondiff

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// An outliner describes documents so that two which can be equal apart from generated values have the same outline. It
// sorts members, writes equal numbers in one way, and replaces generated values and values at volatile places by their
// kinds.
type outliner struct {
	skeletons ident.Skeletons
	side      int
	volatile  map[string]*Volatile
}

func (o outliner) outline(root *jsontree.Node) string { return string(o.append(nil, root, "")) }

// append appends the outline of a value at a JSON Pointer.
func (o outliner) append(out []byte, n *jsontree.Node, ptr string) []byte {
	rule := o.volatile[ptr]
	if rule != nil && !rule.Kind.ComparesNumbers() && Scalar(n) {
		return append(out, "‹"+string(rule.Kind)+o.skeletons.Name(o.side, ident.TokKnown, n.Text)+"›"...)
	}
	n.Open()
	switch n.Kind {
	case jsontree.Object:
		out = append(out, '{')
		for _, m := range o.members(n) {
			out = append(append(append(out, '"'), m.name...), `":`...)
			out = append(o.append(out, n.Items[m.index], below(o.volatile, ptr, n, m.index)), ',')
		}
		return append(out, '}')
	case jsontree.Array:
		return append(append(append(out, '['), o.elements(n, ptr)...), ']')
	case jsontree.String:
		return append(append(append(out, '"'), o.skeletons.Of(o.side, n.Text)...), '"')
	case jsontree.Number:
		return append(out, o.skeletons.Of(o.side, numberMode(rule, o.volatile).Plain(n.Text))...)
	default:
		return n.AppendTo(out)
	}
}

// elements returns the outlines of the elements of a list. They are sorted if their order does not matter.
func (o outliner) elements(n *jsontree.Node, ptr string) (out []byte) {
	if listRule(o.volatile, ptr) == nil {
		for i, item := range n.Items {
			out = append(o.append(out, item, below(o.volatile, ptr, n, i)), ',')
		}
		return out
	}
	all := make([]string, len(n.Items))
	for i, item := range n.Items {
		all[i] = string(o.append(nil, item, below(o.volatile, ptr, n, i))) + ","
	}
	slices.Sort(all)
	return []byte(strings.Join(all, ""))
}

// below returns the JSON Pointer of an item. Without rules it returns "", because then pointers are not needed.
func below(volatile map[string]*Volatile, ptr string, n *jsontree.Node, i int) string {
	if len(volatile) == 0 {
		return ""
	}
	return pointerBelow(ptr, n, i)
}

// pointerBelow is below with rules. It is a function of its own so that the compiler can inline below.
func pointerBelow(ptr string, n *jsontree.Node, i int) string {
	if n.Kind == jsontree.Object {
		return jsontree.AppendName(ptr, n.Names[i])
	}
	return jsontree.AppendIndex(ptr, i)
}

// An outlinedMember is the name of a member without generated values, and its index in the object.
type outlinedMember struct {
	name  string
	index int
}

// members returns the members of an object, sorted by these names.
func (o outliner) members(n *jsontree.Node) []outlinedMember {
	out := make([]outlinedMember, len(n.Names))
	for i, name := range n.Names {
		out[i] = outlinedMember{o.skeletons.Of(o.side, name), i}
	}
	slices.SortStableFunc(out, func(a, b outlinedMember) int { return strings.Compare(a.name, b.name) })
	return out
}
