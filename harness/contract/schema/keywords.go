package schema

import (
	"slices"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// A direction says which side sends a message. Some fields may be sent by only one side.
type direction byte

const (
	anyDirection direction = iota // for a value in the document
	ToServer
	ToClient
)

// A keywordJudge checks a value against the keywords of one schema.
type keywordJudge struct {
	reporter
	hasher
	direction direction
}

// keywords checks a value that is not null against the keywords of one schema, without its parts, alternatives, fields
// and elements. It reports whether the value has the right type; if not, it checks nothing else. root is the same
// schema, or one that includes p by allOf.
func (j *keywordJudge) keywords(n *jsontree.Node, p, root *Schema) (fits bool) {
	if p.types != 0 && p.types&bit(n.Kind) == 0 || p.never {
		j.wrongType(n, p)
		return false
	}
	if p.Enum != nil && !slices.ContainsFunc(p.Enum, func(e enumValue) bool { return e.Is(n) }) && j.fault() {
		j.report(NotInEnum, p, "%s is not among the allowed values: %s", excerpt(n), p.enumText)
	}
	switch n.Kind {
	case jsontree.Number:
		return j.number(n, p)
	case jsontree.String:
		j.text(n, p)
	case jsontree.Array:
		j.array(n, p)
	case jsontree.Object:
		j.object(n, p, root)
	}
	return true
}

func (j *keywordJudge) wrongType(n *jsontree.Node, p *Schema) {
	if j.fault() {
		j.report(WrongType, p, "%s stands here; %s is wanted", describe(n), p.wantedType())
	}
}

func (j *keywordJudge) number(n *jsontree.Node, p *Schema) (fits bool) {
	if p.integer && !isInteger(n.Text) && !(p.decimals && parseDecimal(n.Text).whole()) {
		if j.fault() {
			form := ", which OpenAPI 3.0 writes without fraction and exponent"
			if p.decimals {
				form = ""
			}
			j.report(WrongType, p, "%s stands here; an integer is wanted%s", excerpt(n), form)
		}
		return false
	}
	if f := p.numberFormat; f != nil && !f.check(n.Text) && j.fault() {
		j.report(FormatMismatch, p, "%s is not %s", excerpt(n), f.want)
	}
	if p.min != nil {
		switch c := p.min.compare(n.Text); {
		case c < 0 && !p.exclusiveMin:
			j.outOfRange(n, p, "at least", p.min)
		case c <= 0 && p.exclusiveMin:
			j.outOfRange(n, p, "greater than", p.min)
		}
	}
	if p.max != nil {
		switch c := p.max.compare(n.Text); {
		case c > 0 && !p.exclusiveMax:
			j.outOfRange(n, p, "at most", p.max)
		case c >= 0 && p.exclusiveMax:
			j.outOfRange(n, p, "less than", p.max)
		}
	}
	if p.multipleOf != nil && !parseDecimal(n.Text).multipleOf(p.multipleOf.decimal) && j.fault() {
		j.report(NotMultiple, p, "%s is not a multiple of %s", excerpt(n), p.multipleOf)
	}
	return true
}

func (j *keywordJudge) outOfRange(n *jsontree.Node, p *Schema, relation string, limit *bound) {
	if j.fault() {
		j.report(OutOfRange, p, "%s is not %s %s", excerpt(n), relation, limit)
	}
}

func (j *keywordJudge) text(n *jsontree.Node, p *Schema) {
	if p.minLength > 0 || p.maxLength >= 0 {
		// "The length of a string instance is defined as the number of its characters" (Wright 00 §5.6).
		length := jsontree.Length(n.Text)
		if length < p.minLength && j.fault() {
			j.report(WrongLength, p, "%s has %d characters; at least %d are wanted", excerpt(n), length, p.minLength)
		}
		if p.maxLength >= 0 && length > p.maxLength && j.fault() {
			j.report(WrongLength, p, "%s has %d characters; at most %d are wanted", excerpt(n), length, p.maxLength)
		}
	}
	if p.pattern != nil && !p.pattern.MatchString(n.Text) && j.fault() {
		j.report(PatternMismatch, p, "%s does not match the pattern %s", excerpt(n), p.patternText)
	}
	if f := p.format; f != nil && !f.check(n.Text) && j.fault() {
		j.report(FormatMismatch, p, "%s is not %s", excerpt(n), f.want)
	}
}

func (j *keywordJudge) array(n *jsontree.Node, p *Schema) {
	if len(n.Items) < p.minItems && j.fault() {
		j.report(WrongItemCount, p, "the array has %d elements; at least %d are wanted", len(n.Items), p.minItems)
	}
	if p.maxItems >= 0 && len(n.Items) > p.maxItems && j.fault() {
		j.report(WrongItemCount, p, "the array has %d elements; at most %d are wanted", len(n.Items), p.maxItems)
	}
	if p.unique {
		if a, b, ok := j.findEqual(n.Items); ok && j.fault() {
			j.report(RepeatedItem, p, "the elements %d and %d are equal: %s", a, b, excerpt(n.Items[a]))
		}
	}
}

func (j *keywordJudge) object(n *jsontree.Node, p, root *Schema) {
	if len(n.Items) < p.minFields && j.fault() {
		j.report(WrongFieldCount, p, "the object has %d fields; at least %d are wanted", len(n.Items), p.minFields)
	}
	if p.maxFields >= 0 && len(n.Items) > p.maxFields && j.fault() {
		j.report(WrongFieldCount, p, "the object has %d fields; at most %d are wanted", len(n.Items), p.maxFields)
	}
	for _, name := range p.required {
		if n.Member(name) == nil && !j.optional(name, root) && j.fault() {
			j.reportAt(name, MissingField, p, "%q is missing", name)
		}
	}
	for _, d := range p.cases.dependents {
		for _, name := range d.required {
			if n.Member(d.field) != nil && n.Member(name) == nil && j.fault() {
				j.reportAt(name, MissingField, p, "%q is missing, and required because there is %q", name, d.field)
			}
		}
	}
	if p.extra == extraRefused {
		for _, name := range n.Names {
			if p.Properties[name] == nil && !slices.ContainsFunc(p.patterns, func(f patternFields) bool { return f.matches(name) }) && j.fault() {
				j.reportAt(name, ForbiddenField, p, "%s is not a field of this object, which allows no others%s",
					problem.Quote(name), suggest(name, p.Names))
			}
		}
	}
	if j.direction == ToServer && root.optionalInRequest != nil || j.direction == ToClient && root.optionalInResponse != nil {
		j.directed(n, p)
	}
}

// optional reports whether a required field may be missing in this direction: "If the property is marked as readOnly
// being true and is in the required list, the required will take effect on the response only", and writeOnly the other
// way round (OpenAPI 3.0.3 §4.7.24.1). An example in the document may lack either.
func (j *keywordJudge) optional(name string, root *Schema) bool {
	switch j.direction {
	case ToServer:
		return root.optionalInRequest[name]
	case ToClient:
		return root.optionalInResponse[name]
	default:
		return root.optionalInRequest[name] || root.optionalInResponse[name]
	}
}

// directed reports the fields that only the other side may send.
func (j *keywordJudge) directed(n *jsontree.Node, p *Schema) {
	for _, name := range n.Names {
		property := p.Properties[name]
		switch {
		case property == nil:
		case j.direction == ToServer && property.ReadOnly && j.fault():
			j.reportAt(name, ReadOnlyField, property, "%q is read-only: it belongs to responses", name)
		case j.direction == ToClient && property.WriteOnly && j.fault():
			j.reportAt(name, WriteOnlyField, property, "%q is write-only: it belongs to requests", name)
		}
	}
}

func (j *keywordJudge) undocumentedField(declared *Schema, name string) {
	if j.fault() {
		j.report(UndocumentedField, declared, "no schema names the field %s%s", problem.Quote(name), suggest(name, declared.Names))
	}
}
