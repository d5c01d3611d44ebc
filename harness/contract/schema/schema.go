// Package schema judges JSON values by the schemas of an OpenAPI document.
//
// A Builder prepares the schemas. A Judge checks one value against one schema. It reports each violation with the
// value's JSON Pointer and the schema's reference. Among alternatives, it reports those of the closest one.
package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A Schema is a Schema Object (OpenAPI 3.0.3 §4.7.24), prepared to judge values. Schemas may refer to each other in
// circles. Each schema of a document exists once.
type Schema struct {
	Ref string // its place: "#/components/schemas/Pet"

	types    kindSet // 0 means any type
	never    bool    // the schema is false: no value matches
	integer  bool
	decimals bool // 1.0 is an integer (JSON Schema 2020-12, Validation §6.1.1)
	nullable bool // as the schema itself says; acceptsNull is the result
	Enum     []enumValue
	enumText string

	pattern     *regexp.Regexp
	patternText string
	format      *format // of strings
	minLength   int
	maxLength   int // -1 means no limit

	numberFormat *format
	min, max     *bound
	exclusiveMin bool // exclusiveMinimum
	exclusiveMax bool
	multipleOf   *bound

	prefix             []*Schema // of the first elements
	Items              *Schema   // of all others
	minItems, maxItems int
	unique             bool

	Properties         map[string]*Schema
	Names              []string // names of the properties, sorted
	required           []string
	extra              extraFields
	additional         *Schema // the schema in additionalProperties, if any
	patterns           []patternFields
	minFields          int
	maxFields          int
	ReadOnly           bool
	WriteOnly          bool
	optionalInRequest  map[string]bool // fields that are read-only in this schema or in one of its parts
	optionalInResponse map[string]bool // the same for write-only

	// Parts are the schema itself and all schemas that it includes by allOf, directly or not, each once.
	Parts        []*Schema
	AnyOf, OneOf []*Schema
	not          *Schema
	cases        conditional
	tag          *discriminator
	// compound means that other schemas apply to the same value. Only such schemas can form a circle without a step
	// into the value, or lead to the same schema in two ways.
	compound    bool
	offering    bool // the result of offers
	acceptsNull bool
	kinds       kindSet // the kinds of value that can match, including its alternatives
}

// extraFields says which undeclared properties an object may have.
type extraFields byte

const (
	extraSilent  extraFields = iota // additionalProperties is absent: they are allowed but not documented
	extraAllowed                    // true, or a schema
	extraRefused                    // false
)

// An enumValue is one allowed value. The loader reads a number as a double, so number says how precise it is.
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

type kindSet byte

const anyKind kindSet = 63

// bit returns the set of one kind. It is a switch because it is called for every value.
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

// SaysNullable reports whether the schema itself says nullable: true.
func (s *Schema) SaysNullable() bool { return s.nullable }

// HasType reports whether the schema itself names a type.
func (s *Schema) HasType() bool { return s.types != 0 }

// Allows reports whether the schema itself allows values of a kind.
func (s *Schema) Allows(k jsontree.Kind) bool { return s.types == 0 || s.types&bit(k) != 0 }

// AllowsMore reports whether the schema explicitly allows fields that it does not name.
func (s *Schema) AllowsMore() bool { return s.extra == extraAllowed }

// Accepts reports whether a value of a kind can match.
func (s *Schema) Accepts(k jsontree.Kind) bool { return s.kinds&bit(k) != 0 }

// Only reports whether all values that match are of one kind, or null.
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

// wantedType says which types the schema wants: "an integer", "a string or null".
func (s *Schema) wantedType() string {
	words := s.typeNames()
	switch {
	case s.never:
		return "no value"
	case words == nil && s.types != 0:
		return "null"
	case words == nil:
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

// Next lists the schemas that can judge a value or its parts next.
func (s *Schema) Next() []*Schema {
	out := slices.Concat(s.Parts, s.OneOf, s.AnyOf)
	for _, name := range s.Names {
		out = append(out, s.Properties[name])
	}
	for _, p := range s.patterns {
		if p.schema != nil {
			out = append(out, p.schema)
		}
	}
	for _, one := range slices.Concat(s.prefix, s.cases.schemas(), []*Schema{s.Items, s.additional}) {
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

// Alternatives lists the schemas of oneOf and anyOf.
func (s *Schema) Alternatives() []*Schema { return slices.Concat(s.OneOf, s.AnyOf) }

// AdmitsAnything reports whether a schema has no keyword that a value can violate.
func (s *Schema) AdmitsAnything() bool {
	return s.kinds == anyKind && s.Enum == nil && len(s.Parts) == 1 && !s.offers() && s.patterns == nil && s.prefix == nil &&
		s.pattern == nil && s.format == nil && s.numberFormat == nil && s.minLength == 0 && s.maxLength < 0 && s.min == nil && s.max == nil &&
		s.multipleOf == nil && s.Items == nil && s.minItems == 0 && s.maxItems < 0 && !s.unique && len(s.Properties) == 0 &&
		len(s.required) == 0 && s.extra == extraSilent && s.minFields == 0 && s.maxFields < 0
}

// refs lists the references of schemas.
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
