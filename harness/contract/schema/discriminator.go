package schema

import (
	"slices"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// A discriminator is a Discriminator Object (OpenAPI 3.0.3 §4.7.25): the value of its field names the schema.
type discriminator struct {
	field    string
	branches map[string]*Schema // by the value of the field
	values   []string           // the keys, sorted
	// schemas has the names of all component schemas. The discriminator of a base schema may name one that is not
	// derived from it; then only the base applies.
	schemas map[string]bool
	// base is set when the discriminator belongs to a schema that others include by allOf, rather than to oneOf or
	// anyOf.
	base *Schema
}

// derived returns the schema that the discriminator of a base schema selects: the base itself, or one derived from it
// by allOf. If that one is also a base, its discriminator selects the next. In a circle, the last schema is selected.
// unknown is the schema whose discriminator has a value that names no schema, or nil.
func (s *Schema) derived(n *jsontree.Node) (derived, unknown *Schema) {
	for seen := []*Schema{s}; ; seen = append(seen, s) {
		value := n.Member(s.tag.field)
		if value == nil || value.Kind != jsontree.String {
			return s.tag.base, nil
		}
		branch := s.tag.branches[value.Text]
		switch {
		case branch == nil && !s.tag.schemas[value.Text]:
			return s.tag.base, s
		case branch == nil || slices.Contains(seen, branch):
			return s.tag.base, nil
		case !branch.isBase():
			return branch, nil
		}
		s = branch
	}
}

// isBase reports whether the schema's discriminator selects one of its derived schemas.
func (s *Schema) isBase() bool { return s.tag != nil && s.tag.base != nil }

// applyDerived judges by the schema that the discriminator of a base schema selects.
func (j *Judge) applyDerived(n *jsontree.Node, s *Schema, sc *scope) {
	derived, unknown := s.derived(n)
	if unknown != nil {
		j.measurer.keywords.unknownTag(unknown, n.Member(unknown.tag.field).Text)
		sc.open = true
	}
	j.apply(n, derived, sc)
}

// tagged returns the alternative that the discriminator of oneOf or anyOf selects. If there is none, it reports why and
// returns nil.
func (j *Judge) tagged(n *jsontree.Node, p *Schema) *Schema {
	value := n.Member(p.tag.field)
	switch {
	case value == nil:
		if j.measurer.keywords.fault() {
			j.measurer.keywords.reportAt(p.tag.field, UnknownAlternative, p, "%q is missing, which tells the alternatives apart", p.tag.field)
		}
	case value.Kind != jsontree.String:
		if j.measurer.keywords.fault() {
			j.measurer.keywords.reportAt(p.tag.field, UnknownAlternative, p, "%s stands here; the name of an alternative is wanted", excerpt(value))
		}
	case p.tag.branches[value.Text] == nil:
		j.measurer.keywords.unknownTag(p, value.Text)
	default:
		return p.tag.branches[value.Text]
	}
	return nil
}

func (j *reporter) unknownTag(p *Schema, value string) {
	if j.fault() {
		j.reportAt(p.tag.field, UnknownAlternative, p, "%s names none of the alternatives %s", problem.Quote(value), QuoteAll(p.tag.values))
	}
}
