package schema

import (
	"math"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A visit is a pair of a value and a schema whose distance is measured.
type visit struct {
	node   *jsontree.Node
	schema *Schema
}

// Weights for the search of the closest alternative. A value of another type is the least likely to be meant. A field
// with a single allowed value, and another value in it, most likely distinguishes the alternatives. A field that is not
// named only breaks ties.
const (
	infinite           = 1 << 30
	typeWeight         = 1 << 20
	tagWeight          = 200
	faultWeight        = 10 // also the maximum that one field or element can add
	unknownFieldWeight = 3
)

// A measurer measures how far values are from schemas.
type measurer struct {
	keywords     keywordJudge
	depth        int // nesting of the current measurement
	measured     map[visit]measurement
	measurements int           // of compound schemas
	returned     int           // the lowest level of an unfinished measurement that was met again
	asked        map[visit]int // the schemas whose alternatives are being tried for a value, and at which depth
}

// distance measures how far a value is from matching a schema; 0 means that it matches.
//
// Nested alternatives would be tried again for each outer alternative, in time exponential in their depth. So the
// distance to a compound schema is kept: each pair of a value and a schema is measured once, except in circular
// schemas.
func (j *measurer) distance(n *jsontree.Node, s *Schema) int {
	if n.Kind == jsontree.Null {
		if s.acceptsNull {
			return 0
		}
		return typeWeight
	}
	if j.keywords.gaveUp || j.depth == maxMeasureDepth || j.measurements == maxMeasured {
		j.keywords.gaveUp = true
		return 0
	}
	j.depth++
	defer func() { j.depth-- }()
	if !s.compound {
		return j.measure(n, s)
	}
	key := visit{n, s}
	if m, ok := j.measured[key]; ok {
		j.returned = min(j.returned, m.level)
		return m.distance
	}
	if j.measured == nil {
		j.measured = make(map[visit]measurement)
	}
	outer := j.returned
	j.returned = independent
	j.measured[key] = measurement{0, j.depth} // a schema that leads back to itself on the same value demands nothing more
	j.measurements++
	d := j.measure(n, s)
	if j.returned >= j.depth {
		j.returned, j.measured[key] = outer, measurement{d, independent}
	} else {
		j.returned = min(j.returned, outer)
		delete(j.measured, key)
	}
	return d
}

// A measurement is how far a value is from a schema. While it is unfinished, level is its depth. A result that depends
// on an unfinished measurement is valid only inside of it, and is not kept.
type measurement struct{ distance, level int }

// independent is the level of a measurement that depends on no other.
const independent = math.MaxInt

// The cost depends on the size or depth of the value, times the nested alternatives of the document. So stack and
// memory are limited, and a judge that gives up reports it.
const (
	maxMeasureDepth = 200_000
	maxMeasured     = 5_000_000
)

func (j *measurer) measure(n *jsontree.Node, s *Schema) int {
	if s.isBase() {
		return j.distanceToDerived(n, s)
	}
	total := 0
	for _, p := range s.Parts {
		quiet, faults := j.keywords.quiet, j.keywords.faults
		j.keywords.quiet, j.keywords.faults = true, 0
		fits := j.keywords.keywords(n, p, s)
		own := j.keywords.faults
		j.keywords.quiet, j.keywords.faults = quiet, faults
		if !fits {
			return typeWeight
		}
		total += own*faultWeight + j.inside(n, p)
		if p.offering {
			total += j.distanceToAlternatives(n, p)
		}
	}
	if total > 0 && n.Kind == jsontree.Object {
		total += unknownFields(n, s)
	}
	return min(total, infinite-1)
}

// unknownFields weighs the fields that no part of a schema names.
func unknownFields(n *jsontree.Node, s *Schema) (total int) {
	for _, name := range n.Names {
		if s.Property(name) == nil {
			total += unknownFieldWeight
		}
	}
	return total
}

// inside adds up how far the fields or elements are from their schemas.
func (j *measurer) inside(n *jsontree.Node, p *Schema) int {
	total := 0
	switch n.Kind {
	case jsontree.Array:
		if p.Items == nil && p.prefix == nil {
			break
		}
		for i, item := range n.Items {
			if s := p.elementAt(i); s != nil {
				total += min(j.distance(item, s), faultWeight)
			}
		}
	case jsontree.Object:
		for i, name := range n.Names {
			f := p.fieldSchemas(name)
			if f.Schema == nil {
				continue
			}
			d := min(j.distance(n.Items[i], f.Schema), faultWeight)
			if d > 0 && len(f.Schema.Enum) == 1 {
				d = tagWeight
			}
			for _, s := range f.Also {
				d += min(j.distance(n.Items[i], s), faultWeight)
			}
			total += d
		}
	}
	return min(total, typeWeight-1) // always less than the weight of another type
}

// distanceToAlternatives measures the distance to oneOf, anyOf, not and the discriminator. An alternative may include,
// by allOf, the schema that lists it. Then the same question comes up again for the same value, and counts once.
func (j *measurer) distanceToAlternatives(n *jsontree.Node, p *Schema) int {
	if level, again := j.asked[visit{n, p}]; again {
		j.returned = min(j.returned, level)
		return 0
	}
	defer j.asking(n, p)()
	total := 0
	if p.not != nil && j.distance(n, p.not) == 0 {
		total += faultWeight
	}
	total += j.distanceToConditional(n, p)
	if p.tag != nil && n.Kind == jsontree.Object {
		value := n.Member(p.tag.field)
		if value == nil || value.Kind != jsontree.String || p.tag.branches[value.Text] == nil {
			return total + tagWeight
		}
		return total + j.distance(n, p.tag.branches[value.Text])
	}
	if p.OneOf != nil {
		least, matching := j.least(n, p.OneOf)
		if matching > 1 {
			least = faultWeight
		}
		total += least
	}
	if p.AnyOf != nil {
		least, _ := j.least(n, p.AnyOf)
		total += least
	}
	return total
}

// distanceToConditional adds up the distances to what applies only in some cases, and the parts that are too many or
// too few.
func (j *measurer) distanceToConditional(n *jsontree.Node, p *Schema) (total int) {
	if !p.cases.any() {
		return 0
	}
	for _, s := range j.chosen(n, p) {
		if p.cases.condition == nil || s != p.cases.condition.test {
			total += j.distance(n, s)
		}
	}
	j.counted(n, p, func(string, Kind, string, ...any) { total += faultWeight })
	if schema, known := j.unevaluatedSchemas(n, p); schema != nil {
		for i, item := range n.Items {
			if !known[i] {
				total += min(j.distance(item, schema), faultWeight)
			}
		}
	}
	return total
}

// offers reports whether the schema itself has keywords that apply other schemas to the same value, or that count the
// parts of a value which match a schema.
func (s *Schema) offers() bool {
	return s.OneOf != nil || s.AnyOf != nil || s.not != nil || s.tag != nil || s.cases.any()
}

// asking records that the alternatives of a schema are being tried for a value, until the returned function is called.
func (j *measurer) asking(n *jsontree.Node, p *Schema) (done func()) {
	if j.asked == nil {
		j.asked = make(map[visit]int)
	}
	key := visit{n, p}
	j.asked[key] = j.depth
	return func() { delete(j.asked, key) }
}

func (j *measurer) least(n *jsontree.Node, members []*Schema) (least, matching int) {
	least = infinite
	for _, m := range members {
		d := j.distance(n, m)
		least = min(least, d)
		if d == 0 {
			matching++
		}
	}
	return least, matching
}

func (j *measurer) distanceToDerived(n *jsontree.Node, s *Schema) int {
	derived, unknown := s.derived(n)
	if unknown != nil {
		return tagWeight + j.distance(n, derived)
	}
	return j.distance(n, derived)
}
