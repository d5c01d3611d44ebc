package jsondiff

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// An outliner describes documents in such a way that two which can be equal up to renaming have the same outline: members are
// sorted, equal numbers have one spelling, and generated values are replaced by their kinds, as are those at volatile places.
type outliner struct {
	ids      *ident.Bindings
	side     int
	volatile map[string]*Volatile
}

// outline describes a document.
func (o outliner) outline(root *jsontree.Node) string { return string(o.append(nil, root, "")) }

// append appends the outline of a value at a JSON Pointer.
func (o outliner) append(out []byte, n *jsontree.Node, ptr string) []byte {
	rule := o.volatile[ptr]
	if rule != nil && !rule.Kind.ComparesNumbers() && Scalar(n) {
		return append(out, "‹"+string(rule.Kind)+o.ids.Name(o.side, ident.TokKnown, n.Text)+"›"...)
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
		out = append(out, '[')
		for i, item := range n.Items {
			out = append(o.append(out, item, below(o.volatile, ptr, n, i)), ',')
		}
		return append(out, ']')
	case jsontree.String:
		return append(append(append(out, '"'), o.ids.Skeleton(o.side, n.Text)...), '"')
	case jsontree.Number:
		return append(out, o.ids.Skeleton(o.side, numberMode(rule, o.volatile).Plain(n.Text))...)
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

// A outlinedMember member is a name without its generated values, and where the object has it.
type outlinedMember struct {
	name  string
	index int
}

// members returns the members of an object, sorted by their outlines.
func (o outliner) members(n *jsontree.Node) []outlinedMember {
	out := make([]outlinedMember, len(n.Names))
	for i, name := range n.Names {
		out[i] = outlinedMember{o.ids.Skeleton(o.side, name), i}
	}
	slices.SortStableFunc(out, func(a, b outlinedMember) int { return strings.Compare(a.name, b.name) })
	return out
}

func Quoted(name string) string { return `"` + name + `"` }
