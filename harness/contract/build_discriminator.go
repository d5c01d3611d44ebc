package contract

import (
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/problem"
)

// resolveTags gives each discriminator its branches. "The discriminator object is legal only when using one of the
// composite keywords oneOf, anyOf, allOf" (OpenAPI 3.0.3 §4.7.25): beside the first two the branches are the
// alternatives; without them they are the schema's heirs, which take it in by allOf.
func (b *builder) resolveTags() {
	var tagged []*openapi3.Schema
	for _, in := range b.order {
		if in.Discriminator == nil || in.Discriminator.PropertyName == "" {
			continue
		}
		tagged = append(tagged, in)
		if s := b.schemas[in]; s.oneOf == nil && s.anyOf == nil {
			b.makeBase(s)
		}
	}
	for _, in := range tagged {
		b.setTag(b.schemas[in], in.Discriminator)
	}
}

// makeBase splits a base schema in two: what its heirs take in, and what sends a value to the heir that its tag names.
func (b *builder) makeBase(s *schema) {
	base := *s
	b.settler.allOf[&base] = slices.Clone(b.settler.allOf[s])
	b.bases = append(b.bases, &base)
	s.tag = &tag{base: &base}
	for heir, list := range b.settler.allOf {
		for i, taken := range list {
			if taken == s {
				list[i] = &base
				if !slices.Contains(b.bases, heir) {
					b.heirs[s] = append(b.heirs[s], heir)
				}
			}
		}
	}
}

func (b *builder) setTag(s *schema, in *openapi3.Discriminator) {
	if s.tag == nil {
		s.tag = &tag{}
	}
	s.tag.field, s.tag.branches, s.tag.schemas = in.PropertyName, map[string]*schema{}, b.names
	for _, m := range slices.Concat(s.oneOf, s.anyOf, b.heirsOf(s)) {
		// Without a mapping, the value of the field is the name of the schema.
		if name, ok := strings.CutPrefix(m.ref, schemasRef); ok && !strings.Contains(name, "/") {
			s.tag.branches[unescapePointer(name)] = m
		}
	}
	for _, value := range sortedKeys(in.Mapping) {
		ref := in.Mapping[value].Ref
		if !strings.ContainsAny(ref, "/#") {
			ref = schemasRef + ref
		}
		if s.tag.branches[value] = b.component(ref); s.tag.branches[value] == nil {
			b.problem(s.ref+"/discriminator", fmt.Sprintf("the mapping of %q leads to %q, which does not exist", value, in.Mapping[value].Ref),
				problem.DidYouMean(ref, b.refs))
		}
	}
	s.tag.values = sortedKeys(s.tag.branches)
}

// heirsOf lists the schemas that take a base in by allOf, directly or through another heir.
func (b *builder) heirsOf(s *schema) []*schema {
	var all []*schema
	seen := map[*schema]bool{s: true}
	for queue := b.heirs[s]; len(queue) > 0; queue = queue[1:] {
		heir := queue[0]
		if seen[heir] {
			continue
		}
		seen[heir] = true
		all = append(all, heir)
		queue = append(queue, b.heirs[heir]...)
		for other, list := range b.settler.allOf {
			if slices.Contains(list, heir) {
				queue = append(queue, other)
			}
		}
	}
	return all
}
