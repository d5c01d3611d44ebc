package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Notes records mistakes at places of the document, with their fixes. A note is about something that changes no
// judgement, or that cannot be judged.
type Notes interface {
	Problem(ref, what, fix string)
	Note(ref, what, fix string)
}

// A Builder prepares the schemas of a document.
type Builder struct {
	Notes
	components openapi3.Schemas
	draft2020  bool            // OpenAPI 3.1 or later: schemas are those of JSON Schema 2020-12
	Refs       []string        // references to the components
	names      map[string]bool // names of the components

	schemas  map[*openapi3.Schema]*Schema
	order    []*openapi3.Schema // the order in which schemas were read, so that problems always have the same order
	settler  settler
	bases    []*Schema
	derived  map[*Schema][]*Schema // by base schema
	examples []example
}

// SchemasRef is the prefix of references to component schemas.
const SchemasRef = "#/components/schemas/"

// NewBuilder returns a builder that has read the components. draft2020 is set for OpenAPI 3.1 and later.
func NewBuilder(n Notes, components openapi3.Schemas, draft2020 bool) *Builder {
	b := &Builder{
		Notes: n, draft2020: draft2020, components: components, names: map[string]bool{}, schemas: map[*openapi3.Schema]*Schema{}, derived: map[*Schema][]*Schema{},
		settler: settler{map[*Schema][]*Schema{}, map[*Schema]bool{}, map[*Schema]kindSet{}},
	}
	for _, name := range slices.Sorted(maps.Keys(components)) {
		ref := jsontree.AppendName("#/components/schemas", name)
		b.names[name], b.Refs = true, append(b.Refs, ref)
		b.Schema(components[name], ref)
	}
	return b
}

// Finish links the schemas after all of them have been read, and checks examples and defaults against them.
func (b *Builder) Finish() {
	b.resolveTags()
	for _, in := range b.order {
		b.settler.settle(b.schemas[in])
	}
	for _, base := range b.bases {
		b.settler.settle(base)
	}
	for _, in := range b.order {
		s := b.schemas[in]
		b.checkExample(example{"example", in.Example, s, s.Ref + "/example"})
		b.checkExample(example{"default", in.Default, s, s.Ref + "/default"})
	}
	for _, e := range b.examples {
		b.checkExample(e)
	}
}

// Schema returns the schema at a place of the document, or the schema that a $ref there leads to.
func (b *Builder) Schema(in *openapi3.SchemaRef, ref string) *Schema {
	if in == nil || in.Value == nil {
		return nil
	}
	if strings.HasPrefix(in.Ref, "#/") {
		ref = in.Ref
	}
	if s, ok := b.schemas[in.Value]; ok {
		return s
	}
	s := &Schema{Ref: ref}
	b.schemas[in.Value] = s
	b.order = append(b.order, in.Value)
	b.fill(s, in.Value)
	return s
}

func (b *Builder) fill(s *Schema, in *openapi3.Schema) {
	b.setType(s, in)
	s.Enum, s.enumText = b.enum(allowed(in))
	b.setNumber(s, in)
	b.setString(s, in)
	s.Items = b.Schema(in.Items, s.Ref+"/items")
	s.minItems, s.maxItems, s.unique = atLeast(in.MinItems), atMost(in.MaxItems), in.UniqueItems
	b.setFields(s, in)
	if parts := b.list(in.AllOf, s.Ref+"/allOf"); parts != nil {
		b.settler.allOf[s] = parts
	}
	s.AnyOf = b.list(in.AnyOf, s.Ref+"/anyOf")
	s.OneOf = b.list(in.OneOf, s.Ref+"/oneOf")
	s.not = b.Schema(in.Not, s.Ref+"/not")
	b.setDialect(s, in)
	s.ReadOnly, s.WriteOnly = in.ReadOnly, in.WriteOnly
}

func (b *Builder) setType(s *Schema, in *openapi3.Schema) {
	s.nullable = in.Nullable && !b.draft2020
	s.decimals = b.draft2020
	for _, name := range in.Type.Slice() {
		switch name {
		case openapi3.TypeBoolean:
			s.types |= bit(jsontree.Boolean)
		case openapi3.TypeInteger:
			s.types |= bit(jsontree.Number)
			s.integer = !in.Type.Includes(openapi3.TypeNumber)
		case openapi3.TypeNumber:
			s.types |= bit(jsontree.Number)
		case openapi3.TypeString:
			s.types |= bit(jsontree.String)
		case openapi3.TypeArray:
			s.types |= bit(jsontree.Array)
		case openapi3.TypeObject:
			s.types |= bit(jsontree.Object)
		case openapi3.TypeNull:
			s.types |= bit(jsontree.Null)
		}
	}
}

// allowed returns the values of enum and const. A value must be in both.
func allowed(in *openapi3.Schema) []any {
	if in.Const == nil {
		return in.Enum
	}
	constant := []any{in.Const}
	if in.Enum != nil && !slices.ContainsFunc(in.Enum, func(v any) bool { return equal(tree(v), tree(in.Const)) }) {
		return []any{}
	}
	return constant
}

func (b *Builder) enum(in []any) (list []enumValue, text string) {
	var texts []string
	for _, v := range in {
		n := tree(v)
		e := enumValue{Node: n}
		if f, ok := v.(float64); ok {
			e.number = newBound(f)
		}
		list = append(list, e)
		if encoded, err := json.Marshal(v); err == nil {
			texts = append(texts, string(encoded))
		}
	}
	const few = 12
	if rest := len(texts) - few; rest > 0 {
		texts = append(texts[:few], fmt.Sprintf("and %d more", rest))
	}
	return list, strings.Join(texts, ", ")
}

// tree returns a value of the document as the loader has read it.
func tree(v any) *jsontree.Node {
	text, err := json.Marshal(v)
	if err == nil {
		if n, _, err := jsontree.Parse(text); err == nil {
			return n
		}
	}
	return &jsontree.Node{Kind: jsontree.Null}
}

func (b *Builder) setNumber(s *Schema, in *openapi3.Schema) {
	if in.Min != nil {
		s.min = newBound(*in.Min)
	}
	if in.Max != nil {
		s.max = newBound(*in.Max)
	}
	s.exclusiveMin = in.ExclusiveMin.Bool != nil && *in.ExclusiveMin.Bool
	s.exclusiveMax = in.ExclusiveMax.Bool != nil && *in.ExclusiveMax.Bool
	if limit := in.ExclusiveMin.Value; limit != nil && (in.Min == nil || *limit >= *in.Min) {
		s.min, s.exclusiveMin = newBound(*limit), true
	}
	if limit := in.ExclusiveMax.Value; limit != nil && (in.Max == nil || *limit <= *in.Max) {
		s.max, s.exclusiveMax = newBound(*limit), true
	}
	if in.MultipleOf != nil {
		if *in.MultipleOf <= 0 {
			b.Problem(s.Ref, fmt.Sprintf("multipleOf is %s, and must be greater than 0", formatNumber(*in.MultipleOf)), "")
		} else {
			s.multipleOf = newBound(*in.MultipleOf)
		}
	}
	if f, ok := NumberFormats[in.Format]; ok {
		s.numberFormat = &f
	}
}

func (b *Builder) setString(s *Schema, in *openapi3.Schema) {
	s.minLength, s.maxLength = atLeast(in.MinLength), atMost(in.MaxLength)
	if f, ok := StringFormats[in.Format]; ok {
		s.format = &f
	}
	if in.Pattern != "" {
		s.patternText = in.Pattern
		s.pattern = pattern(b, in.Pattern, s.Ref)
	}
}

// pattern returns a regular expression, or nil and a note if Go's engine does not support it.
func pattern(n Notes, text, ref string) *regexp.Regexp {
	pattern, err := regexp.Compile(toRE2(text))
	if err != nil {
		n.Note(ref, fmt.Sprintf("the pattern %s is not checked: %v", text, err), "write it without lookaround, back-references and counts above 1000")
	}
	return pattern
}

var codeUnit = regexp.MustCompile(`\\u([0-9A-Fa-f]{4})`)

// toRE2 rewrites what ECMA-262 and RE2 write differently. Lookaround and back-references have no equivalent.
func toRE2(pattern string) string { return codeUnit.ReplaceAllString(pattern, `\x{$1}`) }

func (b *Builder) setFields(s *Schema, in *openapi3.Schema) {
	s.Names = slices.Sorted(maps.Keys(in.Properties))
	if len(s.Names) > 0 {
		s.Properties = make(map[string]*Schema, len(s.Names))
	}
	for _, name := range s.Names {
		s.Properties[name] = b.Schema(in.Properties[name], jsontree.AppendName(s.Ref+"/properties", name))
	}
	s.required = in.Required
	s.minFields, s.maxFields = atLeast(in.MinProps), atMost(in.MaxProps)
	switch extra := in.AdditionalProperties; {
	case extra.Schema != nil:
		s.extra, s.additional = extraAllowed, b.Schema(extra.Schema, s.Ref+"/additionalProperties")
	case extra.Has == nil:
		s.extra = extraSilent
	case *extra.Has:
		s.extra = extraAllowed
	default:
		s.extra = extraRefused
	}
}

func (b *Builder) list(in openapi3.SchemaRefs, ref string) (out []*Schema) {
	for i, item := range in {
		if s := b.Schema(item, jsontree.AppendIndex(ref, i)); s != nil {
			out = append(out, s)
		}
	}
	return out
}

func atLeast(n uint64) int { return int(min(n, math.MaxInt32)) }

// atMost returns a limit, or -1 without one.
func atMost(n *uint64) int {
	if n == nil {
		return -1
	}
	return atLeast(*n)
}

// Component returns the schema that a reference to a component leads to.
func (b *Builder) Component(ref string) *Schema {
	name, ok := strings.CutPrefix(ref, SchemasRef)
	if in := b.components[jsontree.UnescapeName(name)]; ok && in != nil {
		return b.schemas[in.Value]
	}
	return nil
}
