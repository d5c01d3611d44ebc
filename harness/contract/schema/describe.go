package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Describe writes what a schema itself demands of a value, as the document does: "type: string, minLength: 1".
func (s *Schema) Describe() string {
	var words []string
	add := func(ok bool, text string, args ...any) {
		if ok {
			words = append(words, fmt.Sprintf(text, args...))
		}
	}
	if names := s.typeNames(); s.HasType() && s.Allows(jsontree.Null) {
		add(true, "type: [%s]", strings.Join(append(names, "null"), ", "))
	} else {
		add(s.types != 0, "type: %s", strings.Join(names, " or "))
	}
	add(s.nullable, "nullable: true")
	add(s.Enum != nil, "enum: [%s]", s.enumText)
	add(s.format != nil, "format: %s", formatName(StringFormats, s.format))
	add(s.numberFormat != nil, "format: %s", formatName(NumberFormats, s.numberFormat))
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

func formatName(formats map[string]format, f *format) string {
	if f == nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(formats)) {
		if formats[name].want == f.want {
			return name
		}
	}
	return f.want
}
