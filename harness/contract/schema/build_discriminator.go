package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// resolveTags gives each discriminator its branches. "The discriminator object is legal only when using one of the
// composite keywords oneOf, anyOf, allOf" (OpenAPI 3.0.3 §4.7.25). With oneOf or anyOf, the branches are the
// alternatives. Without them, they are the derived schemas, which include the schema by allOf.
func (b *Builder) resolveTags() {
	var tagged []*openapi3.Schema
	for _, in := range b.order {
		if in.Discriminator == nil || in.Discriminator.PropertyName == "" {
			continue
		}
		tagged = append(tagged, in)
		if s := b.schemas[in]; s.OneOf == nil && s.AnyOf == nil {
			b.makeBase(s)
		}
	}
	for _, in := range tagged {
		b.setTag(b.schemas[in], in.Discriminator)
	}
}

// makeBase splits a base schema in two: the schema that its derived schemas include, and the schema that selects the
// derived schema for a value by its discriminator.
func (b *Builder) makeBase(s *Schema) {
	base := *s
	b.settler.allOf[&base] = slices.Clone(b.settler.allOf[s])
	b.bases = append(b.bases, &base)
	s.tag = &discriminator{base: &base}
	for sub, list := range b.settler.allOf {
		for i, taken := range list {
			if taken == s {
				list[i] = &base
				if !slices.Contains(b.bases, sub) {
					b.derived[s] = append(b.derived[s], sub)
				}
			}
		}
	}
}

func (b *Builder) setTag(s *Schema, in *openapi3.Discriminator) {
	if s.tag == nil {
		s.tag = &discriminator{}
	}
	s.tag.field, s.tag.branches, s.tag.schemas = in.PropertyName, map[string]*Schema{}, b.names
	for _, m := range slices.Concat(s.OneOf, s.AnyOf, b.derivedFrom(s)) {
		// Without a mapping, the value of the field is the name of the schema.
		if name, ok := strings.CutPrefix(m.Ref, SchemasRef); ok && !strings.Contains(name, "/") {
			s.tag.branches[jsontree.UnescapeName(name)] = m
		}
	}
	for _, value := range slices.Sorted(maps.Keys(in.Mapping)) {
		ref := in.Mapping[value].Ref
		if !strings.ContainsAny(ref, "/#") {
			ref = SchemasRef + ref
		}
		if s.tag.branches[value] = b.Component(ref); s.tag.branches[value] == nil {
			b.Problem(s.Ref+"/discriminator", fmt.Sprintf("the mapping of %q points to %q, which does not exist", value, in.Mapping[value].Ref),
				problem.DidYouMean(ref, b.Refs))
		}
	}
	if !b.setTagsOfAlternatives(s) {
		s.tag = nil
		return
	}
	s.tag.values = slices.Sorted(maps.Keys(s.tag.branches))
}

// setTagsOfAlternatives adds the values that alternatives themselves demand of the field, by enum or const. The names of
// schemas do not select inline alternatives ("inline schema definitions will not be considered", OpenAPI 3.0.3 §4.7.25), but
// many documents have them. ok is false when nothing selects an alternative: then the discriminator says nothing.
func (b *Builder) setTagsOfAlternatives(s *Schema) (ok bool) {
	for _, m := range slices.Concat(s.OneOf, s.AnyOf) {
		if m.types != 0 && m.types&bit(jsontree.Object) == 0 {
			continue // it has no fields
		}
		for _, e := range b.settler.demanded(m, s.tag.field, map[*Schema]bool{}) {
			if e.Node.Kind == jsontree.String && s.tag.branches[e.Node.Text] == nil {
				s.tag.branches[e.Node.Text] = m
			}
		}
		if !slices.Contains(slices.Collect(maps.Values(s.tag.branches)), m) {
			return false
		}
	}
	return true
}

// demanded returns the values that a schema, or one that it includes by allOf, allows for a property.
func (t *settler) demanded(s *Schema, name string, seen map[*Schema]bool) []enumValue {
	if seen[s] {
		return nil
	}
	seen[s] = true
	if of := s.Properties[name]; of != nil && of.Enum != nil {
		return of.Enum
	}
	for _, part := range t.allOf[s] {
		if found := t.demanded(part, name, seen); found != nil {
			return found
		}
	}
	return nil
}

// derivedFrom lists the schemas that include a base by allOf, directly or through another derived schema.
func (b *Builder) derivedFrom(s *Schema) []*Schema {
	var all []*Schema
	seen := map[*Schema]bool{s: true}
	for queue := b.derived[s]; len(queue) > 0; queue = queue[1:] {
		sub := queue[0]
		if seen[sub] {
			continue
		}
		seen[sub] = true
		all = append(all, sub)
		queue = append(queue, b.derived[sub]...)
		for other, list := range b.settler.allOf {
			if slices.Contains(list, sub) {
				queue = append(queue, other)
			}
		}
	}
	return all
}
