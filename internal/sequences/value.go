package sequences

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

type node = jsontree.Node

func text(s string) *node { return jsontree.NewText(s) }

func parse(s string) *node {
	n, _, err := jsontree.Parse([]byte(s))
	if err != nil {
		panic(fmt.Sprintf("sequences: %s: %v", s, err))
	}
	return n
}

func object(pairs ...any) *node {
	out := &node{Kind: jsontree.Object}
	for i := 0; i < len(pairs); i += 2 {
		value, ok := pairs[i+1].(*node)
		if !ok {
			value = text(pairs[i+1].(string))
		}
		out.Names, out.Items = append(out.Names, pairs[i].(string)), append(out.Items, value)
	}
	return out
}

func list(items ...*node) *node { return &node{Kind: jsontree.Array, Items: items} }

// sayable reports whether YAML can express a value. It cannot express duplicate names or lone surrogates.
func sayable(n *node) bool {
	for i, name := range n.Names {
		if slices.Index(n.Names, name) != i || strings.Contains(name, half) {
			return false
		}
	}
	return !strings.Contains(n.Text, half) && !slices.ContainsFunc(n.Items, func(item *node) bool { return !sayable(item) })
}

// half is a lone high surrogate, as jsontree encodes it.
const half = "\xed\xa0\xbd"

// value returns a random value of a schema, for the named member of an object whose schema is called parent.
func (s *story) value(ref *openapi3.SchemaRef, parent, name string) *node {
	s.depth++
	defer func() { s.depth-- }()
	if choice, ok := members[parent+"."+name]; ok {
		return s.thing(s.pick(choice))
	}
	if choice, ok := members[name]; ok {
		return s.thing(s.pick(choice))
	}
	schema, own := ref.Value, ref.Ref[strings.LastIndexByte(ref.Ref, '/')+1:]
	if schema.Nullable && s.chance(5) {
		return &node{Kind: jsontree.Null}
	}
	if len(schema.AllOf) > 0 {
		return s.value(schema.AllOf[0], parent, name)
	}
	if len(schema.Enum) > 0 {
		return parse(encoded(s.pickAny(schema.Enum)))
	}
	for _, choice := range []openapi3.SchemaRefs{schema.OneOf, schema.AnyOf} {
		if len(choice) > 0 {
			return s.alternative(schema, own, choice, name)
		}
	}
	switch {
	case schema.Type == nil:
		return s.free()
	case schema.Type.Is(openapi3.TypeObject):
		return s.object(schema, own)
	case schema.Type.Is(openapi3.TypeArray):
		out := &node{Kind: jsontree.Array}
		for range s.Intn(3) {
			out.Items = append(out.Items, s.value(schema.Items, own, name))
		}
		return out
	case schema.Type.Is(openapi3.TypeBoolean):
		return parse(s.pick([]string{"true", "false"}))
	case schema.Type.Is(openapi3.TypeInteger), schema.Type.Is(openapi3.TypeNumber):
		return parse(s.pick([]string{"1", "2", "7", "100"}))
	}
	return text(s.someText())
}

func encoded(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func (s *story) alternative(schema *openapi3.Schema, own string, refs openapi3.SchemaRefs, name string) *node {
	d := schema.Discriminator
	if d == nil {
		return s.value(refs[s.Intn(len(refs))], own, name)
	}
	tags := alternatives[own]
	if tags == nil {
		tags = sorted(d.Mapping)
	}
	tag := s.pick(tags)
	for _, ref := range refs {
		if ref.Ref == d.Mapping[tag].Ref {
			out := s.value(ref, own, name)
			out.Set(d.PropertyName, text(tag))
			return out
		}
	}
	panic("sequences: no alternative " + tag + " of " + own)
}

func (s *story) object(schema *openapi3.Schema, own string) *node {
	out := object()
	for _, name := range sorted(schema.Properties) {
		if slices.Contains(schema.Required, name) || s.depth < 4 && s.chance(3) || s.chance(8) {
			out.Set(name, s.value(schema.Properties[name], own, name))
		}
	}
	if extra := schema.AdditionalProperties.Schema; extra != nil {
		for range s.Intn(3) {
			out.Set(s.someText(), s.value(extra, own, ""))
		}
	}
	if len(schema.Properties) == 0 && schema.AdditionalProperties.Schema == nil {
		return s.freeObject()
	}
	return out
}

// free returns random JSON.
func (s *story) free() *node {
	switch s.Intn(8) {
	case 0:
		return s.freeObject()
	case 1:
		return list(s.freeLeaf(), s.freeLeaf())
	case 2:
		return parse(strings.Repeat(`[{"d":`, 40) + "0" + strings.Repeat("}]", 40))
	}
	return s.freeLeaf()
}

func (s *story) freeLeaf() *node {
	if s.chance(2) {
		return text(s.someText())
	}
	if !s.clients && s.chance(8) {
		return parse("12345678901234567890") // the other family may round it
	}
	return parse(s.pick([]string{"0", "7", "1.5", "0.1", "null", "true", "[]", "{}"}))
}

func (s *story) freeObject() *node {
	out := object()
	for range s.Intn(4) {
		out.Set(s.pick([]string{"b", "a", "10", "2", s.someText()}), s.freeLeaf())
	}
	return out
}

// twist changes one place of a body, so that most bodies break the contract.
func (s *story) twist(body *node) *node {
	var places []*node
	var walk func(n *node)
	walk = func(n *node) {
		places = append(places, n)
		for _, item := range n.Items {
			walk(item)
		}
	}
	walk(body)
	at := places[s.Intn(len(places))]
	kind := s.Intn(6)
	if at.Kind == jsontree.Object && len(at.Names) > 0 {
		i := s.Intn(len(at.Names))
		switch kind {
		case 0:
			at.Names, at.Items = slices.Delete(at.Names, i, i+1), slices.Delete(at.Items, i, i+1)
			return body
		case 1:
			at.Names, at.Items = append(at.Names, at.Names[i]), append(at.Items, s.freeLeaf())
			return body
		case 2:
			at.Names[i] = s.pick([]string{strings.ToUpper(at.Names[i]), s.someText()})
			return body
		case 3:
			at.Set(s.someText(), s.free())
			return body
		}
	}
	if at.Kind == jsontree.Number && kind < 4 {
		*at = *parse(s.pick([]string{"1.0", "1e2", "-1", "2147483648", "9223372036854775808", "1.5", "0"}))
		return body
	}
	if at.Kind == jsontree.String && kind < 3 {
		*at = *text(s.pick(odd))
		return body
	}
	*at = *s.pickNode(parse("null"), parse("5"), parse("true"), parse("[]"), parse("{}"), text("x"), s.free())
	return body
}
