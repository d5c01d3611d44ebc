package specgap

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// alternatives describes the gap between two values that match different alternatives.
func (w *walk) alternatives(s *schema.Schema, looks [2]schema.Look) Gap {
	keyword, list := "oneOf", s.OneOf
	if s.OneOf == nil {
		keyword, list = "anyOf", s.AnyOf
	}
	var names [2]string
	for i, l := range looks {
		var matched []string
		for _, branch := range list {
			if schema.IsApplied(l.Applied, branch) {
				matched = append(matched, shortRef(branch.Ref))
			}
		}
		names[i] = strings.Join(matched, " and ")
		if matched == nil {
			names[i] = "null"
		}
	}
	return w.gap(s.Ref, fmt.Sprintf("%s: the reference's matches %s, the candidate's %s", keyword, names[0], names[1]), "fewer alternatives")
}

// shortRef is the name of a schema where it is clear that it is a schema.
func shortRef(ref string) string {
	return strings.TrimPrefix(ref, schema.SchemasRef)
}

// absent describes the gap for a field, or an element, that one side lacks.
func (w *walk) absent(common []*schema.Schema, name string, there *jsontree.Node) (Gap, bool) {
	for _, s := range common {
		property := s.Properties[name]
		if property == nil {
			continue
		}
		if there.Kind == jsontree.Null {
			return w.gap(s.Ref, problem.Quote(name)+" is nullable and not required: null and absent are both valid", "required, or "+withoutNull(property)), true
		}
		return w.gap(s.Ref, problem.Quote(name)+" is not required", "required: ["+name+"]"), true
	}
	return w.free(common, name)
}

// free describes the gap for a field that no schema names.
func (w *walk) free(common []*schema.Schema, name string) (Gap, bool) {
	for _, s := range common {
		if s.AllowsMore() {
			return w.gap(s.Ref, "additionalProperties allows "+problem.Quote(name), "additionalProperties: false, or the field under properties"), true
		}
	}
	s := common[len(common)-1]
	if !s.Allows(jsontree.Object) {
		return w.gap(s.Ref, s.Describe(), ""), true
	}
	return w.gap(s.Ref, "the object may have undeclared fields, such as "+problem.Quote(name), "properties, and additionalProperties: false"), true
}

// anyElement describes the gap for an element of a list without a schema for its elements.
func (w *walk) anyElement(common []*schema.Schema) Gap {
	s := common[len(common)-1]
	if !s.HasType() {
		return w.gap(s.Ref, s.Describe(), "type: array, and items")
	}
	return w.gap(s.Ref, s.Describe(), "items")
}

// end describes the gap between two values that are both present.
func (w *walk) end(looks [2]schema.Look, common []*schema.Schema, how How) Gap {
	s := mostSpecific(common)
	a, b := looks[0].Node, looks[1].Node
	pin := ""
	switch {
	case how == OtherIdentity:
		return w.gap(s.Ref, s.Describe()+"; no schema says which ids belong together", expectation)
	case how == OtherOrder:
		return w.gap(s.Ref, s.Describe()+"; no schema says in which order", expectation)
	case a.Kind != b.Kind && (a.Kind == jsontree.Null || b.Kind == jsontree.Null):
		pin = withoutNull(s)
		if !s.HasType() && !s.SaysNullable() {
			pin = "a type"
		}
	case a.Kind != b.Kind:
		pin = "a type"
	case how == OtherForm:
		return w.gap(s.Ref, s.Describe(), "a pattern or a format")
	case how == OtherLength:
		pin = "minItems and maxItems"
	default:
		pin = narrowerBy[a.Kind]
	}
	if s.Enum != nil {
		pin = "a narrower enum"
	}
	return w.gap(s.Ref, s.Describe(), pin)
}

// withoutNull says what would make null invalid, in the words of the schema: OpenAPI 3.0 has nullable, 3.1 a type.
func withoutNull(s *schema.Schema) string {
	if s.HasType() && s.Allows(jsontree.Null) {
		return "no null in type"
	}
	return "no nullable"
}

// expectation is what decides when no schema can.
const expectation = "an expect of the scenario"

// narrowerBy says what would distinguish two values of a kind.
var narrowerBy = map[jsontree.Kind]string{
	jsontree.String:  "an enum, a pattern or a format",
	jsontree.Number:  "an enum, or a minimum and a maximum",
	jsontree.Boolean: "an enum",
	jsontree.Array:   "a schema of its items",
	jsontree.Object:  "properties",
}

// mostSpecific returns the schema that says the most: the last one with a type or an enum, or else the last one.
func mostSpecific(common []*schema.Schema) *schema.Schema {
	for _, s := range slices.Backward(common) {
		if s.HasType() || s.Enum != nil {
			return s
		}
	}
	return common[len(common)-1]
}
