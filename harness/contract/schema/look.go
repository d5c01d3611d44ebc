package schema

import (
	"slices"
	"strconv"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A Look is what the schemas that apply to a value say about it.
type Look struct {
	Node    *jsontree.Node
	Schema  *Schema
	Applied []*Schema      // those that judge it
	fields  []FieldSchemas // for an object, in the order of its names
	items   elementSchemas // for an array
}

// Look applies the schemas to the value, and reports nothing.
func (j *Judge) Look(n *jsontree.Node, s FieldSchemas) Look {
	sc := scope{first: len(j.fields), applied: len(j.applied)}
	if n.Kind == jsontree.Object {
		j.fields = append(j.fields, make([]FieldSchemas, len(n.Items))...)
	}
	for _, one := range append([]*Schema{s.Schema}, s.Also...) {
		j.apply(n, one, &sc)
	}
	l := Look{Node: n, Schema: s.Schema, Applied: slices.Clone(j.applied[sc.applied:]), fields: slices.Clone(j.fields[sc.first:]), items: sc.items}
	if n.Kind == jsontree.Null { // a schema only says whether it accepts null
		l.Applied = append([]*Schema{s.Schema}, s.Also...)
	}
	j.applied, j.fields = j.applied[:sc.applied], j.fields[:sc.first]
	return l
}

// Step descends to a field or an element. The node is nil when there is none.
func (l *Look) Step(token string) (*jsontree.Node, FieldSchemas) {
	switch l.Node.Kind {
	case jsontree.Object:
		for i, name := range l.Node.Names {
			if name == token {
				return l.Node.Items[i], l.fields[i]
			}
		}
	case jsontree.Array:
		if i, err := strconv.Atoi(token); err == nil && 0 <= i && i < len(l.Node.Items) {
			return l.Node.Items[i], l.items.at(i)
		}
	}
	return nil, FieldSchemas{}
}

// IsApplied reports whether a schema was applied. For a base schema whose discriminator selected another one, it
// reports whether the base was.
func IsApplied(applied []*Schema, s *Schema) bool {
	if slices.Contains(applied, s) {
		return true
	}
	return s.isBase() && slices.Contains(applied, s.tag.base)
}
