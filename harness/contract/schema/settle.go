package schema

import "github.com/lockstep-dev/lockstep/internal/jsontree"

// A settler computes properties of a schema that depend on all others. Its maps hold the results so far. A schema that
// leads back to itself finds a preliminary result there, as if it demanded nothing.
type settler struct {
	allOf map[*Schema][]*Schema
	nulls map[*Schema]bool
	kinds map[*Schema]kindSet
}

func (t *settler) settle(s *Schema) {
	t.collect(s, s, map[*Schema]bool{})
	s.offering = s.offers()
	s.compound = len(s.Parts) > 1 || s.offering
	for _, p := range s.Parts {
		for name, property := range p.Properties {
			if property.ReadOnly {
				s.optionalInRequest = with(s.optionalInRequest, name)
			}
			if property.WriteOnly {
				s.optionalInResponse = with(s.optionalInResponse, name)
			}
		}
	}
	s.acceptsNull = t.null(s)
	s.kinds = t.kindsOf(s)
}

// collect adds p, and the schemas that it includes, to the parts of s.
func (t *settler) collect(s, p *Schema, seen map[*Schema]bool) {
	if seen[p] {
		return
	}
	seen[p] = true
	s.Parts = append(s.Parts, p)
	for _, q := range t.allOf[p] {
		t.collect(s, q, seen)
	}
}

func with(set map[string]bool, name string) map[string]bool {
	if set == nil {
		set = map[string]bool{}
	}
	set[name] = true
	return set
}

// null decides whether a schema accepts null. "A true value adds "null" to the allowed type specified by the type
// keyword, only if type is explicitly defined within the same Schema Object" (OpenAPI 3.0.3 §4.7.24.1). A schema
// without a type allows null by itself. The text goes on: "Other Schema Object constraints retain their defined
// behavior, and therefore may disallow the use of null". lockstep deviates from it in two cases, because authors mean
// them so: nullable with a $ref in allOf, and nullable with an enum that does not list null.
func (t *settler) null(s *Schema) bool {
	if answer, ok := t.nulls[s]; ok {
		return answer
	}
	t.nulls[s] = true
	answer := s.nullable || t.nullByParts(s)
	t.nulls[s] = answer
	return answer
}

func (t *settler) nullByParts(s *Schema) bool {
	if s.isBase() {
		return t.null(s.tag.base)
	}
	if s.never || s.types != 0 && s.types&bit(jsontree.Null) == 0 || s.Enum != nil && !containsNull(s.Enum) {
		return false
	}
	if c := s.cases.condition; c != nil {
		branch := c.otherwise
		if t.null(c.test) {
			branch = c.then
		}
		if branch != nil && !t.null(branch) {
			return false
		}
	}
	for _, p := range t.allOf[s] {
		if !t.null(p) {
			return false
		}
	}
	if s.AnyOf != nil && t.countNull(s.AnyOf) == 0 || s.OneOf != nil && t.countNull(s.OneOf) != 1 {
		return false
	}
	return s.not == nil || !t.null(s.not)
}

func (t *settler) countNull(list []*Schema) (n int) {
	for _, s := range list {
		if t.null(s) {
			n++
		}
	}
	return n
}

func containsNull(list []enumValue) bool {
	for _, e := range list {
		if e.Node.Kind == jsontree.Null {
			return true
		}
	}
	return false
}

// kindsOf returns the kinds of value that can match.
func (t *settler) kindsOf(s *Schema) kindSet {
	if answer, ok := t.kinds[s]; ok {
		return answer
	}
	t.kinds[s] = anyKind
	answer := anyKind
	if s.isBase() {
		answer = t.kindsOf(s.tag.base)
	}
	if s.types != 0 {
		answer &= s.types
	}
	if s.never {
		answer = 0
	}
	for _, p := range t.allOf[s] {
		answer &= t.kindsOf(p)
	}
	for _, alternatives := range [][]*Schema{s.OneOf, s.AnyOf} {
		var some kindSet
		for _, a := range alternatives {
			some |= t.kindsOf(a)
		}
		if alternatives != nil {
			answer &= some
		}
	}
	t.kinds[s] = answer
	return answer
}
