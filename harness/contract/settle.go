package contract

import "github.com/lockstep-dev/lockstep/internal/jsontree"

// A settler computes what a schema can only know once all others are there. Its maps hold the answers so far; a schema
// that leads back to itself finds its own answer there, as if it asked for nothing.
type settler struct {
	allOf map[*schema][]*schema
	nulls map[*schema]bool
	kinds map[*schema]kindSet
}

func (t *settler) settle(s *schema) {
	t.collect(s, s, map[*schema]bool{})
	s.compound = len(s.parts) > 1 || s.anyOf != nil || s.oneOf != nil || s.not != nil || s.tag != nil
	for _, p := range s.parts {
		for name, property := range p.properties {
			if property.readOnly {
				s.optionalInRequest = with(s.optionalInRequest, name)
			}
			if property.writeOnly {
				s.optionalInResponse = with(s.optionalInResponse, name)
			}
		}
	}
	s.acceptsNull = t.null(s)
	s.wants = t.wants(s)
}

// collect adds p and what it takes in to the parts of s.
func (t *settler) collect(s, p *schema, seen map[*schema]bool) {
	if seen[p] {
		return
	}
	seen[p] = true
	s.parts = append(s.parts, p)
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
// keyword, only if type is explicitly defined within the same Schema Object" (OpenAPI 3.0.3 §4.7.24.1), and a schema
// without a type allows null by itself. "Other Schema Object constraints retain their defined behavior, and therefore may
// disallow the use of null", it goes on. Two readings are kinder than this letter, because authors mean them so: nullable
// beside a $ref in allOf, and nullable beside an enum that does not list null.
func (t *settler) null(s *schema) bool {
	if answer, ok := t.nulls[s]; ok {
		return answer
	}
	t.nulls[s] = true
	answer := s.nullable || t.nullByParts(s)
	t.nulls[s] = answer
	return answer
}

func (t *settler) nullByParts(s *schema) bool {
	if s.isBase() {
		return t.null(s.tag.base)
	}
	if s.types != 0 || s.enum != nil && !containsNull(s.enum) {
		return false
	}
	for _, p := range t.allOf[s] {
		if !t.null(p) {
			return false
		}
	}
	if s.anyOf != nil && t.countNull(s.anyOf) == 0 || s.oneOf != nil && t.countNull(s.oneOf) != 1 {
		return false
	}
	return s.not == nil || !t.null(s.not)
}

func (t *settler) countNull(list []*schema) (n int) {
	for _, s := range list {
		if t.null(s) {
			n++
		}
	}
	return n
}

func containsNull(list []enumValue) bool {
	for _, e := range list {
		if e.node.Kind == jsontree.Null {
			return true
		}
	}
	return false
}

// wants returns the kinds of value that could match.
func (t *settler) wants(s *schema) kindSet {
	if answer, ok := t.kinds[s]; ok {
		return answer
	}
	t.kinds[s] = anyKind
	answer := anyKind
	if s.isBase() {
		answer = t.wants(s.tag.base)
	}
	if s.types != 0 {
		answer &= s.types
	}
	for _, p := range t.allOf[s] {
		answer &= t.wants(p)
	}
	for _, alternatives := range [][]*schema{s.oneOf, s.anyOf} {
		var some kindSet
		for _, a := range alternatives {
			some |= t.wants(a)
		}
		if alternatives != nil {
			answer &= some
		}
	}
	t.kinds[s] = answer
	return answer
}
