package contract

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// alternatives is about two values that match different alternatives.
func (w *walk) alternatives(s *schema, looks [2]look) Silence {
	keyword, list := "oneOf", s.oneOf
	if s.oneOf == nil {
		keyword, list = "anyOf", s.anyOf
	}
	var names [2]string
	for i, l := range looks {
		var matched []string
		for _, branch := range list {
			if inAny(l.applied, branch) {
				matched = append(matched, shortRef(branch.ref))
			}
		}
		names[i] = strings.Join(matched, " and ")
		if matched == nil {
			names[i] = "null"
		}
	}
	return w.doc.silence(s.ref, fmt.Sprintf("%s: the reference's matches %s, the candidate's %s", keyword, names[0], names[1]), "fewer alternatives")
}

// shortRef is how a schema is called where it is plain that it is one.
func shortRef(ref string) string {
	return strings.TrimPrefix(ref, schemasRef)
}

// absent is about a field, or an element, that one side lacks.
func (w *walk) absent(common []*schema, name string, there *jsontree.Node) (Silence, bool) {
	for _, s := range common {
		property := s.properties[name]
		if property == nil {
			continue
		}
		if there.Kind == jsontree.Null {
			return w.doc.silence(s.ref, quote(name)+" is nullable and not required: null and absent are both right", "required, or no nullable"), true
		}
		return w.doc.silence(s.ref, quote(name)+" is not required", "required: ["+name+"]"), true
	}
	return w.free(common, name)
}

// free is about a field that no schema names.
func (w *walk) free(common []*schema, name string) (Silence, bool) {
	for _, s := range common {
		if s.extra == extraAllowed {
			return w.doc.silence(s.ref, "additionalProperties admits "+quote(name), "additionalProperties: false, or the field under properties"), true
		}
	}
	s := common[len(common)-1]
	if s.types != 0 && s.types&bit(jsontree.Object) == 0 {
		return w.doc.silence(s.ref, s.says(), ""), true
	}
	return w.doc.silence(s.ref, "an object may have fields that nobody names, such as "+quote(name), "properties, and additionalProperties: false"), true
}

// anyElement is about an element of a list of which no schema says what is in it.
func (w *walk) anyElement(common []*schema) Silence {
	s := common[len(common)-1]
	if s.types == 0 {
		return w.doc.silence(s.ref, s.says(), "type: array, and items")
	}
	return w.doc.silence(s.ref, s.says(), "items")
}

// end is about two values that both are there.
func (w *walk) end(looks [2]look, common []*schema, how How) Silence {
	s := telling(common)
	a, b := looks[0].node, looks[1].node
	pin := ""
	switch {
	case how == OtherIdentity:
		return w.doc.silence(s.ref, s.says()+"; no schema says which ids belong together", anExpect)
	case how == OtherOrder:
		return w.doc.silence(s.ref, s.says()+"; no schema says in which order", anExpect)
	case a.Kind != b.Kind && (a.Kind == jsontree.Null || b.Kind == jsontree.Null):
		pin = "no nullable"
		if s.types == 0 {
			pin = "a type"
		}
	case a.Kind != b.Kind:
		pin = "a type"
	case how == OtherForm:
		return w.doc.silence(s.ref, s.says(), "a pattern or a format")
	case how == OtherLength:
		pin = "minItems and maxItems"
	default:
		pin = narrower[a.Kind]
	}
	if s.enum != nil {
		pin = "a narrower enum"
	}
	return w.doc.silence(s.ref, s.says(), pin)
}

// anExpect is what pins down what no schema can.
const anExpect = "an expect of the scenario"

// narrower has what would tell two values of a kind apart.
var narrower = map[jsontree.Kind]string{
	jsontree.String:  "an enum, a pattern or a format",
	jsontree.Number:  "an enum, or a minimum and a maximum",
	jsontree.Boolean: "an enum",
	jsontree.Array:   "a schema of its items",
	jsontree.Object:  "properties",
}

// telling returns the schema that has the most to say: the last that has a type or an enum, else the last.
func telling(common []*schema) *schema {
	for _, s := range slices.Backward(common) {
		if s.types != 0 || s.enum != nil {
			return s
		}
	}
	return common[len(common)-1]
}

// says writes what a schema asks of a value by itself, as the document does: "type: string, minLength: 1".
func (s *schema) says() string {
	var words []string
	add := func(ok bool, text string, args ...any) {
		if ok {
			words = append(words, fmt.Sprintf(text, args...))
		}
	}
	if s.types != 0 {
		var types []string
		for _, k := range []jsontree.Kind{jsontree.Boolean, jsontree.Number, jsontree.String, jsontree.Array, jsontree.Object} {
			if s.types&bit(k) != 0 {
				types = append(types, pick(s.integer && k == jsontree.Number, "integer", k.String()))
			}
		}
		add(true, "type: %s", strings.Join(types, " or "))
	}
	add(s.nullable, "nullable: true")
	add(s.enum != nil, "enum: [%s]", s.enumText)
	add(s.format != nil, "format: %s", formatName(stringFormats, s.format))
	add(s.numberFormat != nil, "format: %s", formatName(numberFormats, s.numberFormat))
	add(s.patternText != "", "pattern: %s", s.patternText)
	add(s.minLength > 0, "minLength: %d", s.minLength)
	add(s.maxLength >= 0, "maxLength: %d", s.maxLength)
	add(s.min != nil, "minimum: %v", s.min)
	add(s.max != nil, "maximum: %v", s.max)
	add(s.minItems > 0, "minItems: %d", s.minItems)
	add(s.maxItems >= 0, "maxItems: %d", s.maxItems)
	add(s.unique, "uniqueItems: true")
	if words == nil {
		return "no type: any value"
	}
	return strings.Join(words, ", ")
}

// formatName is the name of a format.
func formatName(formats map[string]format, f *format) string {
	if f == nil {
		return ""
	}
	for _, name := range sortedKeys(formats) {
		if formats[name].want == f.want {
			return name
		}
	}
	return f.want
}
