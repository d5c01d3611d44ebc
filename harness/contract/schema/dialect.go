package schema

import (
	"maps"
	"regexp"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// The keywords that JSON Schema 2020-12 has and OpenAPI 3.0 does not have. OpenAPI 3.1 and later include them. They are
// read in any document, because a tool that writes one of them means it.

// A containment is `contains` with `minContains` and `maxContains`.
type containment struct {
	element  *Schema
	min, max int // max is -1 without a limit
}

// A condition is `if` with `then` and `else`, of which one may be nil.
type condition struct{ test, then, otherwise *Schema }

// patternFields is an entry of `patternProperties`. The pattern is nil if Go's engine does not support it: then all fields
// count as named.
type patternFields struct {
	pattern *regexp.Regexp
	schema  *Schema
}

func (p patternFields) matches(field string) bool {
	return p.pattern == nil || p.pattern.MatchString(field)
}

// A dependent is what `dependentRequired` and `dependentSchemas` demand of an object that has a field.
type dependent struct {
	field    string
	required []string
	schema   *Schema // or nil
}

// unevaluated is `unevaluatedProperties` or `unevaluatedItems`: a schema for the parts of a value that no other keyword
// of the same schema evaluates, with all that it includes (JSON Schema 2020-12, Core §11).
type unevaluated struct {
	schema *Schema // nil refuses such parts
}

// setDialect reads the keywords of JSON Schema 2020-12.
func (b *Builder) setDialect(s *Schema, in *openapi3.Schema) {
	c := &s.cases
	s.never = in.Always != nil && !*in.Always || in.Const != nil && len(s.Enum) == 0
	s.prefix = b.list(in.PrefixItems, s.Ref+"/prefixItems")
	if element := b.Schema(in.Contains, s.Ref+"/contains"); element != nil {
		s.cases.contains = &containment{element, 1, atMost(in.MaxContains)}
		if in.MinContains != nil {
			s.cases.contains.min = atLeast(*in.MinContains)
		}
	}
	if test := b.Schema(in.If, s.Ref+"/if"); test != nil {
		s.cases.condition = &condition{test, b.Schema(in.Then, s.Ref+"/then"), b.Schema(in.Else, s.Ref+"/else")}
	}
	for _, text := range slices.Sorted(maps.Keys(in.PatternProperties)) {
		ref := jsontree.AppendName(s.Ref+"/patternProperties", text)
		s.patterns = append(s.patterns, patternFields{pattern(b, text, ref), b.Schema(in.PatternProperties[text], ref)})
	}
	s.cases.fieldNames = b.Schema(in.PropertyNames, s.Ref+"/propertyNames")
	fields := map[string]dependent{}
	for name, required := range in.DependentRequired {
		fields[name] = dependent{field: name, required: required}
	}
	for _, name := range slices.Sorted(maps.Keys(in.DependentSchemas)) {
		d := fields[name]
		d.field, d.schema = name, b.Schema(in.DependentSchemas[name], jsontree.AppendName(s.Ref+"/dependentSchemas", name))
		fields[name] = d
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		s.cases.dependents = append(s.cases.dependents, fields[name])
	}
	for _, u := range []struct {
		in   openapi3.BoolSchema
		name string
		out  **unevaluated
	}{{in.UnevaluatedItems, "/unevaluatedItems", &c.unevaluatedItems}, {in.UnevaluatedProperties, "/unevaluatedProperties", &c.unevaluatedFields}} {
		if u.in.Schema != nil || u.in.Has != nil && !*u.in.Has {
			*u.out = &unevaluated{b.Schema(u.in.Schema, s.Ref+u.name)}
		}
	}
	if in.DynamicRef != "" {
		b.Note(s.Ref, "$dynamicRef "+in.DynamicRef+" is not followed, so values are not checked by it", "write a $ref")
	}
}

// conditional are the keywords by which schemas apply to a value only in some cases, or count or name its parts.
type conditional struct {
	condition         *condition
	dependents        []dependent // sorted by field
	contains          *containment
	fieldNames        *Schema // propertyNames
	unevaluatedFields *unevaluated
	unevaluatedItems  *unevaluated
}

// any reports whether the schema has one of these keywords.
func (c *conditional) any() bool {
	return c.condition != nil || c.dependents != nil || c.contains != nil || c.fieldNames != nil || c.unevaluatedFields != nil ||
		c.unevaluatedItems != nil
}

// schemas lists the schemas of these keywords. Some may be nil.
func (c *conditional) schemas() (out []*Schema) {
	if c.condition != nil {
		out = append(out, c.condition.test, c.condition.then, c.condition.otherwise)
	}
	for _, d := range c.dependents {
		out = append(out, d.schema)
	}
	if c.contains != nil {
		out = append(out, c.contains.element)
	}
	for _, u := range []*unevaluated{c.unevaluatedFields, c.unevaluatedItems} {
		if u != nil {
			out = append(out, u.schema)
		}
	}
	return append(out, c.fieldNames)
}

// fieldSchemas returns what the schema itself says about a field. It is named if nothing else counts as its schema.
func (s *Schema) fieldSchemas(field string) (f FieldSchemas) {
	if property := s.Properties[field]; property != nil {
		f.add(property)
	}
	for _, p := range s.patterns {
		switch {
		case !p.matches(field):
		case p.pattern == nil || p.schema == nil:
			f.named = true
		default:
			f.add(p.schema)
		}
	}
	switch {
	case f.named:
	case s.additional != nil:
		f.add(s.additional)
	case s.extra == extraRefused:
		f.named = true // named but forbidden, and reported as such
	}
	return f
}

// elementAt returns the schema of an element, or nil.
func (s *Schema) elementAt(i int) *Schema {
	if i < len(s.prefix) {
		return s.prefix[i]
	}
	return s.Items
}

// chosen lists the schemas that apply to a value because of the value: by if, and by the fields that it has.
func (j *measurer) chosen(n *jsontree.Node, p *Schema) (out []*Schema) {
	if c := p.cases.condition; c != nil {
		if j.distance(n, c.test) == 0 {
			out = append(out, c.test, c.then)
		} else {
			out = append(out, c.otherwise)
		}
	}
	for _, d := range p.cases.dependents {
		if n.Kind == jsontree.Object && n.Member(d.field) != nil {
			out = append(out, d.schema)
		}
	}
	return slices.DeleteFunc(out, func(s *Schema) bool { return s == nil })
}

// counted checks the keywords that count or name parts of a value: contains, propertyNames, and the unevaluated ones
// that allow nothing. It calls report for each violation.
func (j *measurer) counted(n *jsontree.Node, p *Schema, report func(field string, kind Kind, text string, args ...any)) {
	switch n.Kind {
	case jsontree.Array:
		if c := p.cases.contains; c != nil {
			matching := 0
			for _, item := range n.Items {
				if j.distance(item, c.element) == 0 {
					matching++
				}
			}
			if matching < c.min {
				report("", WrongItemCount, "%d elements match %s; at least %d are wanted", matching, c.element.Ref, c.min)
			}
			if c.max >= 0 && matching > c.max {
				report("", WrongItemCount, "%d elements match %s; at most %d are wanted", matching, c.element.Ref, c.max)
			}
		}
		if u := p.cases.unevaluatedItems; u != nil && u.schema == nil {
			if known := j.evaluated(n, p); slices.Contains(known, false) {
				report("", WrongItemCount, "the element %d is not described, and unevaluatedItems allows no others", slices.Index(known, false))
			}
		}
	case jsontree.Object:
		if p.cases.fieldNames != nil {
			for _, name := range n.Names {
				if j.distance(&jsontree.Node{Kind: jsontree.String, Text: name}, p.cases.fieldNames) > 0 {
					report(name, WrongFieldName, "the name does not match %s", p.cases.fieldNames.Ref)
				}
			}
		}
		if u := p.cases.unevaluatedFields; u != nil && u.schema == nil {
			for i, known := range j.evaluated(n, p) {
				if !known {
					report(n.Names[i], ForbiddenField, "is not a field of this object, which allows no others%s", suggest(n.Names[i], p.Names))
				}
			}
		}
	}
}

// unevaluatedSchemas returns the schema of the parts that no other keyword evaluates, and which parts these are; nil if
// there is none.
func (j *measurer) unevaluatedSchemas(n *jsontree.Node, p *Schema) (schema *Schema, known []bool) {
	u := p.cases.unevaluatedFields
	if n.Kind == jsontree.Array {
		u = p.cases.unevaluatedItems
	}
	if u == nil || u.schema == nil || len(n.Items) == 0 || n.Kind != jsontree.Array && n.Kind != jsontree.Object {
		return nil, nil
	}
	return u.schema, j.evaluated(n, p)
}

// evaluated reports which parts of a value are evaluated by a schema, its parts, and the alternatives that match, apart
// from its own unevaluated keywords.
func (j *measurer) evaluated(n *jsontree.Node, p *Schema) []bool {
	known := make([]bool, len(n.Items))
	seen := map[*Schema]bool{}
	var mark func(s *Schema)
	mark = func(s *Schema) {
		for _, q := range s.Parts {
			if seen[q] {
				continue
			}
			seen[q] = true
			j.markOwn(n, q, q == p, known)
			matching := slices.DeleteFunc(slices.Concat(q.OneOf, q.AnyOf), func(a *Schema) bool { return j.distance(n, a) > 0 })
			for _, one := range append(matching, j.chosen(n, q)...) {
				mark(one)
			}
			if q.tag != nil && q.tag.base != nil && n.Kind == jsontree.Object {
				derived, _ := q.derived(n)
				mark(derived)
			}
		}
	}
	mark(p)
	return known
}

// markOwn marks what the keywords of one schema evaluate.
func (j *measurer) markOwn(n *jsontree.Node, q *Schema, top bool, known []bool) {
	for i := range known {
		switch n.Kind {
		case jsontree.Object:
			f := q.fieldSchemas(n.Names[i])
			known[i] = known[i] || f.named || q.extra == extraAllowed || !top && q.cases.unevaluatedFields != nil
		case jsontree.Array:
			known[i] = known[i] || q.elementAt(i) != nil || !top && q.cases.unevaluatedItems != nil ||
				q.cases.contains != nil && j.distance(n.Items[i], q.cases.contains.element) == 0
		}
	}
}
