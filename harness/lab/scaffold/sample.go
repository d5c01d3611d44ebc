package scaffold

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A taste is a way to generate values from schemas. Tastes are tried in the order of the table until the document
// accepts a value.
type taste struct {
	examples bool // use the document's examples
	optional bool // give objects their optional members
}

var tastes = []taste{{true, true}, {true, false}, {false, true}, {false, false}}

// deepest limits how deep optional members are generated. Required members may be ten times as deep.
const deepest = 4

// Limits of the number of parts of a value. Beyond the first one, optional members are left out. Beyond the second one,
// no value is generated, because schemas that refer to themselves can double with each level.
const enough, most = 200, 5000

// A sampler generates values from schemas with one taste.
type sampler struct {
	taste
	depth int
	made  int // number of values so far, including parts of others
}

// value returns a value of a schema, for a member or a parameter of that name. It returns nil when it cannot generate
// one.
func (s *sampler) value(ref *openapi3.SchemaRef, name string) *jsontree.Node {
	if ref == nil || ref.Value == nil {
		return text(name)
	}
	schema := flat(ref.Value, 0)
	if given := s.given(schema); given != nil {
		return given
	}
	s.made++
	if s.depth > 10*deepest || s.made > most {
		return nil
	}
	s.depth++
	defer func() { s.depth-- }()
	for _, alternatives := range []openapi3.SchemaRefs{schema.OneOf, schema.AnyOf} {
		if len(alternatives) > 0 {
			return s.alternative(schema, alternatives, name)
		}
	}
	switch kind(schema) {
	case openapi3.TypeObject:
		return s.object(schema)
	case openapi3.TypeArray:
		return s.array(schema, name)
	case openapi3.TypeInteger, openapi3.TypeNumber:
		return number(schema)
	case openapi3.TypeBoolean:
		return &jsontree.Node{Kind: jsontree.Boolean, Text: "true"}
	case openapi3.TypeNull:
		return &jsontree.Node{Kind: jsontree.Null, Text: "null"}
	}
	return stringOf(schema, name)
}

// example returns the document's example of a parameter or a body: the first one by name if there are several. It
// returns nil when the document itself has none, or the taste does not use them.
func (t taste) example(example any, examples openapi3.Examples) *jsontree.Node {
	if !t.examples {
		return nil
	}
	if example != nil {
		return from(example)
	}
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		if e := examples[name]; e.Value != nil && e.Value.Value != nil {
			return from(e.Value.Value)
		}
	}
	return nil
}

// wantsMore reports whether optional members and elements are generated.
func (s *sampler) wantsMore() bool { return s.optional && s.depth <= deepest && s.made <= enough }

// given returns a value from the document.
func (s *sampler) given(schema *openapi3.Schema) *jsontree.Node {
	if s.examples && schema.Example != nil {
		return from(schema.Example)
	}
	if s.examples && len(schema.Examples) > 0 {
		return from(schema.Examples[0])
	}
	if s.examples && schema.Default != nil {
		return from(schema.Default)
	}
	if schema.Const != nil {
		return from(schema.Const)
	}
	for _, v := range schema.Enum {
		if v != nil {
			return from(v)
		}
	}
	return nil
}

// kind is the type of a schema, or the type that its keywords are about.
func kind(schema *openapi3.Schema) string {
	switch {
	case schema.Type != nil && len(*schema.Type) > 0:
		for _, name := range *schema.Type {
			if name != openapi3.TypeNull {
				return name
			}
		}
		return openapi3.TypeNull
	case len(schema.Properties) > 0 || len(schema.Required) > 0:
		return openapi3.TypeObject
	case schema.Items != nil || schema.PrefixItems != nil:
		return openapi3.TypeArray
	case schema.Min != nil || schema.Max != nil || schema.MultipleOf != nil || schema.ExclusiveMin.Value != nil || schema.ExclusiveMax.Value != nil:
		return openapi3.TypeNumber
	}
	return openapi3.TypeString
}

// flat returns a schema with everything that it includes by allOf.
func flat(schema *openapi3.Schema, depth int) *openapi3.Schema {
	if len(schema.AllOf) == 0 || depth > deepest*4 {
		return schema
	}
	out := *schema
	out.AllOf = nil
	out.Properties = maps.Clone(schema.Properties)
	out.Required = slices.Clone(schema.Required)
	for _, ref := range schema.AllOf {
		if ref.Value != nil {
			add(&out, flat(ref.Value, depth+1))
		}
	}
	return &out
}

// add adds to a schema what one of its parts has and it lacks.
func add(to, part *openapi3.Schema) {
	if to.Properties == nil {
		to.Properties = openapi3.Schemas{}
	}
	for name, p := range part.Properties {
		if to.Properties[name] == nil {
			to.Properties[name] = p
		}
	}
	for _, name := range part.Required {
		if !slices.Contains(to.Required, name) {
			to.Required = append(to.Required, name)
		}
	}
	if to.Const == nil {
		to.Const = part.Const
	}
	if to.PrefixItems == nil {
		to.PrefixItems = part.PrefixItems
	}
	to.Type, to.Items, to.MaxLength = cmp.Or(to.Type, part.Type), cmp.Or(to.Items, part.Items), cmp.Or(to.MaxLength, part.MaxLength)
	to.Format, to.Pattern = cmp.Or(to.Format, part.Format), cmp.Or(to.Pattern, part.Pattern)
	if to.Min == nil {
		to.Min, to.ExclusiveMin = part.Min, part.ExclusiveMin
	}
	if to.Max == nil {
		to.Max, to.ExclusiveMax = part.Max, part.ExclusiveMax
	}
	if to.Enum == nil {
		to.Enum = part.Enum
	}
	to.MinLength, to.MinItems = max(to.MinLength, part.MinLength), max(to.MinItems, part.MinItems)
	if to.OneOf == nil {
		to.OneOf = part.OneOf
	}
	if to.AnyOf == nil {
		to.AnyOf = part.AnyOf
	}
}

// alternative returns a value of the first alternative for which there is one, with the members that all alternatives
// share.
func (s *sampler) alternative(schema *openapi3.Schema, alternatives openapi3.SchemaRefs, name string) *jsontree.Node {
	own := *schema
	own.OneOf, own.AnyOf = nil, nil
	for _, ref := range alternatives {
		value := s.value(ref, name)
		if value == nil {
			continue
		}
		if value.Kind == jsontree.Object {
			if d := schema.Discriminator; d != nil && !demands(ref.Value, d.PropertyName) {
				value.Set(d.PropertyName, text(tagFor(d, ref)))
			}
			if common := s.object(&own); common != nil {
				for i, member := range common.Names {
					if value.Member(member) == nil {
						value.Set(member, common.Items[i])
					}
				}
			}
		}
		return value
	}
	return nil
}

// demands reports whether an alternative itself says which values a property may have.
func demands(schema *openapi3.Schema, name string) bool {
	of := flat(schema, 0).Properties[name]
	return of != nil && of.Value != nil && (len(of.Value.Enum) > 0 || of.Value.Const != nil)
}

// tagFor is the discriminator's value for an alternative: a name that is mapped to it, or its own name.
func tagFor(d *openapi3.Discriminator, ref *openapi3.SchemaRef) string {
	for _, tag := range slices.Sorted(maps.Keys(d.Mapping)) {
		if d.Mapping[tag].Ref == ref.Ref {
			return tag
		}
	}
	return ref.Ref[strings.LastIndexByte(ref.Ref, '/')+1:]
}

// object returns an object with its required members in the document's order, followed by the others.
func (s *sampler) object(schema *openapi3.Schema) *jsontree.Node {
	out := &jsontree.Node{Kind: jsontree.Object}
	for _, name := range schema.Required {
		ref := schema.Properties[name]
		if ref != nil && ref.Value != nil && ref.Value.ReadOnly {
			continue
		}
		value := s.value(ref, name)
		if value == nil {
			return nil
		}
		out.Set(name, value)
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		ref := schema.Properties[name]
		if out.Member(name) != nil || ref.Value == nil || ref.Value.ReadOnly || ref.Value.Deprecated {
			continue
		}
		full := len(out.Names) >= int(schema.MinProps)
		if full && (!s.wantsMore() || schema.MaxProps != nil && len(out.Names) >= int(*schema.MaxProps)) {
			continue
		}
		if value := s.value(ref, name); value != nil {
			out.Set(name, value)
		}
	}
	for n := len(out.Names); n < int(schema.MinProps) && n < 100; n++ {
		name := "key" + strconv.Itoa(n+1)
		value := s.value(schema.AdditionalProperties.Schema, name)
		if value == nil {
			return nil
		}
		out.Set(name, value)
	}
	return out
}

// array returns a list with the required number of elements, or with one if it may be empty.
func (s *sampler) array(schema *openapi3.Schema, name string) *jsontree.Node {
	out := &jsontree.Node{Kind: jsontree.Array}
	n := max(1, int(schema.MinItems), len(schema.PrefixItems))
	if schema.MinItems == 0 && schema.PrefixItems == nil && (!s.wantsMore() || schema.MaxItems != nil && *schema.MaxItems == 0) {
		n = 0
	}
	if n > 100 {
		return nil
	}
	for i := range n {
		of := schema.Items
		if i < len(schema.PrefixItems) {
			of = schema.PrefixItems[i]
		} else if schema.Contains != nil {
			of = schema.Contains
		}
		item := s.value(of, name)
		if item == nil {
			return nil
		}
		if i > 0 && schema.UniqueItems {
			item = another(item, schema.Items, i)
		}
		out.Items = append(out.Items, item)
	}
	return out
}

// another returns a value that differs from the i previous ones, if that is easy.
func another(v *jsontree.Node, ref *openapi3.SchemaRef, i int) *jsontree.Node {
	if ref != nil && ref.Value != nil && i < len(ref.Value.Enum) {
		return from(ref.Value.Enum[i])
	}
	out := *v
	switch v.Kind {
	case jsontree.String:
		out.Text += "-" + strconv.Itoa(i+1)
	case jsontree.Number:
		if n, err := strconv.Atoi(v.Text); err == nil {
			out.Text = strconv.Itoa(n + i)
		}
	}
	return &out
}

// text returns a string in which expressions are escaped.
func text(s string) *jsontree.Node {
	return jsontree.NewText(strings.ReplaceAll(s, "${{", "$${{"))
}

// from returns a value of the document.
func from(v any) *jsontree.Node {
	data, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	n, _, err := jsontree.Parse(data)
	if err != nil {
		return nil
	}
	return literal(n)
}

// literal escapes everything that a scenario would read as an expression.
func literal(n *jsontree.Node) *jsontree.Node {
	if n.Kind == jsontree.String {
		return text(n.Text)
	}
	for i := range n.Names {
		n.Names[i] = text(n.Names[i]).Text
	}
	for i := range n.Items {
		n.Items[i] = literal(n.Items[i])
	}
	return n
}
