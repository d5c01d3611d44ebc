package contract

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// schema returns the schema that stands at a place of the document, or that a $ref there leads to.
func (b *builder) schema(in *openapi3.SchemaRef, ref string) *schema {
	if in == nil || in.Value == nil {
		return nil
	}
	if strings.HasPrefix(in.Ref, "#/") {
		ref = in.Ref
	}
	if s, ok := b.schemas[in.Value]; ok {
		return s
	}
	s := &schema{ref: ref}
	b.schemas[in.Value] = s
	b.order = append(b.order, in.Value)
	b.fill(s, in.Value)
	return s
}

func (b *builder) fill(s *schema, in *openapi3.Schema) {
	b.setType(s, in)
	s.enum, s.enumText = b.enum(in.Enum)
	b.setNumber(s, in)
	b.setString(s, in)
	s.items = b.schema(in.Items, s.ref+"/items")
	s.minItems, s.maxItems, s.unique = atLeast(in.MinItems), atMost(in.MaxItems), in.UniqueItems
	b.setFields(s, in)
	b.settler.allOf[s] = b.list(in.AllOf, s.ref+"/allOf")
	s.anyOf = b.list(in.AnyOf, s.ref+"/anyOf")
	s.oneOf = b.list(in.OneOf, s.ref+"/oneOf")
	s.not = b.schema(in.Not, s.ref+"/not")
	s.readOnly, s.writeOnly = in.ReadOnly, in.WriteOnly
}

func (b *builder) setType(s *schema, in *openapi3.Schema) {
	s.nullable = in.Nullable
	for _, name := range in.Type.Slice() {
		switch name {
		case openapi3.TypeBoolean:
			s.types |= bit(jsontree.Boolean)
		case openapi3.TypeInteger:
			s.types |= bit(jsontree.Number)
			s.integer = true
		case openapi3.TypeNumber:
			s.types |= bit(jsontree.Number)
		case openapi3.TypeString:
			s.types |= bit(jsontree.String)
		case openapi3.TypeArray:
			s.types |= bit(jsontree.Array)
		case openapi3.TypeObject:
			s.types |= bit(jsontree.Object)
		}
	}
}

func (b *builder) enum(in []any) (list []enumValue, text string) {
	var texts []string
	for _, v := range in {
		n := tree(v)
		e := enumValue{node: n}
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

// tree returns a value of the document, as the loader has read it.
func tree(v any) *jsontree.Node {
	text, err := json.Marshal(v)
	if err == nil {
		if n, _, err := jsontree.Parse(text); err == nil {
			return n
		}
	}
	return &jsontree.Node{Kind: jsontree.Null}
}

func (b *builder) setNumber(s *schema, in *openapi3.Schema) {
	if in.Min != nil {
		s.min = newBound(*in.Min)
	}
	if in.Max != nil {
		s.max = newBound(*in.Max)
	}
	s.openMin = in.ExclusiveMin.Bool != nil && *in.ExclusiveMin.Bool
	s.openMax = in.ExclusiveMax.Bool != nil && *in.ExclusiveMax.Bool
	if in.MultipleOf != nil {
		if *in.MultipleOf <= 0 {
			b.problem(s.ref, fmt.Sprintf("multipleOf is %s, and must be greater than 0", formatNumber(*in.MultipleOf)), "")
		} else {
			s.multipleOf = newBound(*in.MultipleOf)
		}
	}
	if f, ok := numberFormats[in.Format]; ok {
		s.numberFormat = &f
	}
}

func (b *builder) setString(s *schema, in *openapi3.Schema) {
	s.minLength, s.maxLength = atLeast(in.MinLength), atMost(in.MaxLength)
	if f, ok := stringFormats[in.Format]; ok {
		s.format = &f
	}
	if in.Pattern != "" {
		s.patternText = in.Pattern
		var err error
		if s.pattern, err = regexp.Compile(toRE2(in.Pattern)); err != nil {
			b.skip(s.ref, fmt.Sprintf("the pattern %s is not checked: %v", in.Pattern, err),
				"write it without lookaround, back-references and counts above 1000")
		}
	}
}

var codeUnit = regexp.MustCompile(`\\u([0-9A-Fa-f]{4})`)

// toRE2 rewrites what ECMA-262 and RE2 spell differently. Lookaround and back-references have no counterpart.
func toRE2(pattern string) string { return codeUnit.ReplaceAllString(pattern, `\x{$1}`) }

func (b *builder) setFields(s *schema, in *openapi3.Schema) {
	s.names = sortedKeys(in.Properties)
	if len(s.names) > 0 {
		s.properties = make(map[string]*schema, len(s.names))
	}
	for _, name := range s.names {
		s.properties[name] = b.schema(in.Properties[name], string(appendName([]byte(s.ref+"/properties"), name)))
	}
	s.required = in.Required
	s.minFields, s.maxFields = atLeast(in.MinProps), atMost(in.MaxProps)
	switch extra := in.AdditionalProperties; {
	case extra.Schema != nil:
		s.extra, s.additional = extraAllowed, b.schema(extra.Schema, s.ref+"/additionalProperties")
	case extra.Has == nil:
		s.extra = extraSilent
	case *extra.Has:
		s.extra = extraAllowed
	default:
		s.extra = extraRefused
	}
}

func (b *builder) list(in openapi3.SchemaRefs, ref string) (out []*schema) {
	for i, item := range in {
		if s := b.schema(item, string(appendIndex([]byte(ref), i))); s != nil {
			out = append(out, s)
		}
	}
	return out
}

func atLeast(n uint64) int { return int(min(n, math.MaxInt32)) }

// atMost returns -1 for no limit.
func atMost(n *uint64) int {
	if n == nil {
		return -1
	}
	return atLeast(*n)
}
