// Package schema judges JSON values by the schemas of an OpenAPI document.
//
// A Builder makes the schemas ready. A Judge holds one value against one schema and reports each violation with the value's
// JSON Pointer, the schema's reference, and, among alternatives, the one that comes closest.
package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A Schema is a Schema Object (OpenAPI 3.0.3 §4.7.24) made ready to judge values. Schemas refer to one another in
// circles; each exists once in a document.
type Schema struct {
	Ref string // where it stands: "#/components/schemas/Pet"

	types    kindSet // 0: any
	integer  bool
	nullable bool // says so itself; acceptsNull is what counts
	Enum     []enumValue
	enumText string

	pattern     *regexp.Regexp
	patternText string
	format      *format // of a string
	minLength   int
	maxLength   int // -1: none

	numberFormat *format
	min, max     *bound
	exclusiveMin bool // exclusiveMinimum
	exclusiveMax bool
	multipleOf   *bound

	Items              *Schema
	minItems, maxItems int
	unique             bool

	Properties         map[string]*Schema
	Names              []string // of properties, sorted
	required           []string
	extra              extraFields
	additional         *Schema // what additionalProperties says of the value, when it is a schema
	minFields          int
	maxFields          int
	ReadOnly           bool
	WriteOnly          bool
	optionalInRequest  map[string]bool // the fields that are read-only in this schema or in one of its parts
	optionalInResponse map[string]bool // write-only

	// parts are the schema itself and all that it takes in by allOf, however deep, each once.
	Parts        []*Schema
	AnyOf, OneOf []*Schema
	not          *Schema
	tag          *discriminator
	// compound: the schema puts other schemas beside itself, on the same value. Only these can lead in a circle without
	// a step into the value, or to the same schema on two ways.
	compound    bool
	acceptsNull bool
	kinds       kindSet // the kinds of value that could match, its alternatives included
}

// extraFields says what an object may have beside its declared properties.
type extraFields byte

const (
	extraSilent  extraFields = iota // additionalProperties is absent: allowed, yet nobody has named them
	extraAllowed                    // true, or a schema
	extraRefused                    // false
)

// An enumValue is one allowed value. The loader has read a number as a double; number says how exactly.
type enumValue struct {
	Node   *jsontree.Node
	number *bound
}

func (e enumValue) Is(n *jsontree.Node) bool {
	if e.number != nil && n.Kind == jsontree.Number {
		return e.number.compare(n.Text) == 0
	}
	return equal(n, e.Node)
}

// kindSet is a set of JSON types.
type kindSet byte

const anyKind kindSet = 63

// bit returns the set of one kind. A switch, because this is asked of every value.
func bit(k jsontree.Kind) kindSet {
	switch k {
	case jsontree.String:
		return 8
	case jsontree.Object:
		return 32
	case jsontree.Number:
		return 4
	case jsontree.Array:
		return 16
	case jsontree.Boolean:
		return 2
	default:
		return 1
	}
}

// Element returns the schema of an array's elements, or nil.
func (s *Schema) Element() *Schema {
	for _, p := range s.Parts {
		if p.Items != nil {
			return p.Items
		}
	}
	return nil
}

// Property returns the schema of a field, or nil.
func (s *Schema) Property(name string) *Schema {
	for _, p := range s.Parts {
		if p.Properties[name] != nil {
			return p.Properties[name]
		}
	}
	return nil
}

// HasType reports whether the schema itself names a type.
func (s *Schema) HasType() bool { return s.types != 0 }

// Allows reports whether the schema itself allows values of a kind.
func (s *Schema) Allows(k jsontree.Kind) bool { return s.types == 0 || s.types&bit(k) != 0 }

// AllowsMore reports whether the schema says that an object may have fields it does not name.
func (s *Schema) AllowsMore() bool { return s.extra == extraAllowed }

// takes reports whether a value of a kind could match.
func (s *Schema) Accepts(k jsontree.Kind) bool { return s.kinds&bit(k) != 0 }

// Only reports whether a value that matches is of one kind, or null.
func (s *Schema) Only(k jsontree.Kind) bool {
	return s.Accepts(k) && s.kinds&^(bit(k)|bit(jsontree.Null)) == 0
}

// typeNames lists the types that the schema itself allows.
func (s *Schema) typeNames() (names []string) {
	for _, k := range []jsontree.Kind{jsontree.Boolean, jsontree.Number, jsontree.String, jsontree.Array, jsontree.Object} {
		switch {
		case s.types&bit(k) == 0:
		case s.integer && k == jsontree.Number:
			names = append(names, "integer")
		default:
			names = append(names, k.String())
		}
	}
	return names
}

// wantedType says which types the schema asks for: "an integer", "a string or null".
func (s *Schema) wantedType() string {
	words := s.typeNames()
	if words == nil {
		return "a value other than null"
	}
	for i, word := range words {
		article := "a "
		if strings.ContainsRune("aeio", rune(word[0])) {
			article = "an "
		}
		words[i] = article + word
	}
	if s.acceptsNull {
		words = append(words, "null")
	}
	return strings.Join(words, " or ")
}

// Next lists the schemas that a value, or what is inside of it, can be judged by next.
func (s *Schema) Next() []*Schema {
	out := slices.Concat(s.Parts, s.OneOf, s.AnyOf)
	for _, name := range s.Names {
		out = append(out, s.Properties[name])
	}
	for _, one := range []*Schema{s.Items, s.additional} {
		if one != nil {
			out = append(out, one)
		}
	}
	if s.tag != nil {
		if s.tag.base != nil {
			out = append(out, s.tag.base)
		}
		for _, value := range s.tag.values {
			if branch := s.tag.branches[value]; branch != nil {
				out = append(out, branch)
			}
		}
	}
	return out
}

// Alternatives lists those of oneOf and anyOf.
func (s *Schema) Alternatives() []*Schema { return slices.Concat(s.OneOf, s.AnyOf) }

// AdmitsAnything reports whether a schema has no keyword that a value could break.
func (s *Schema) AdmitsAnything() bool {
	return s.kinds == anyKind && s.Enum == nil && len(s.Parts) == 1 && s.OneOf == nil && s.AnyOf == nil && s.not == nil && s.tag == nil &&
		s.pattern == nil && s.format == nil && s.numberFormat == nil && s.minLength == 0 && s.maxLength < 0 && s.min == nil && s.max == nil &&
		s.multipleOf == nil && s.Items == nil && s.minItems == 0 && s.maxItems < 0 && !s.unique && len(s.Properties) == 0 &&
		len(s.required) == 0 && s.extra == extraSilent && s.minFields == 0 && s.maxFields < 0
}

// refs lists where schemas stand.
func refs(list []*Schema) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = s.Ref
	}
	if len(out) > 4 {
		out = append(out[:3], fmt.Sprintf("%d others", len(list)-3))
	}
	return strings.Join(out, ", ")
}
