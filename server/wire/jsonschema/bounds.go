package jsonschema

import (
	"bytes"
	"regexp"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// These bounds limit schemas and values, and the time of a validation.
const (
	maxSize     = 256 << 10 // of a schema
	maxDepth    = 200
	maxDigits   = 1000
	maxExponent = 1000
	maxLooks    = 300_000 // checks of a value against a schema
)

// TooDeep is the reason of the only problem of a value with more than maxDepth levels.
const TooDeep = "there are more than 200 levels"

// beyond returns a problem if a canonical text is nested too deeply, or has a number that is too large to compute
// with. Otherwise it returns nil. It reads each byte once.
func beyond(text []byte) *Problem {
	var open []level
	for at := 0; at < len(text); {
		end := at + 1
		switch c := text[at]; c {
		case '{', '[':
			if len(open) == maxDepth {
				return &Problem{place(open), TooDeep}
			}
			open = append(open, level{object: c == '{'})
		case '}', ']':
			open = open[:len(open)-1]
		case ',':
			open[len(open)-1].index++
		case '"':
			end = jsonwire.SkipString(jsonwire.Text(text), at)
			if end < len(text) && text[end] == ':' {
				open[len(open)-1].name = text[at:end]
			}
		case ':':
		default:
			for end < len(text) && bytes.IndexByte([]byte(",]}"), text[end]) < 0 {
				end++
			}
			if jsonwire.Text(text[at:end]).Kind() == "number" && isHuge(text[at:end]) {
				return &Problem{place(open), "the number has too many digits, or too large an exponent"}
			}
		}
		at = end
	}
	return nil
}

// A level is an object or array that is open, and the current place in it.
type level struct {
	object bool
	index  int
	name   []byte // in quotes
}

func place(open []level) string {
	steps := make([]string, len(open))
	for i, l := range open {
		steps[i] = strconv.Itoa(l.index)
		if l.object {
			steps[i] = jsonwire.Text(l.name).Str()
		}
	}
	return pointer(steps)
}

func isHuge(number []byte) bool {
	mantissa, exponent, found := bytes.Cut(bytes.ToLower(number), []byte("e"))
	digits := len(mantissa)
	for _, c := range mantissa {
		if c == '-' || c == '.' {
			digits--
		}
	}
	if digits > maxDigits || !found {
		return digits > maxDigits
	}
	n, err := strconv.Atoi(string(exponent))
	return err != nil || n < -maxExponent || n > maxExponent
}

// A counter makes compiled schemas count their cost.
type counter struct {
	left          *int
	ignoreFormats bool
	seen          map[*jsonschema.Schema]bool
}

// count makes a compiled schema count its cost, and fail with errTooLong when nothing is left. It uses the format,
// because the library calls a format before the nested schemas.
func (c counter) count(s *jsonschema.Schema) {
	if s == nil || c.seen[s] {
		return
	}
	c.seen[s] = true
	inner := within(s)
	cost := 1
	for _, i := range inner {
		c.count(i)
		cost++
		if i.Enum != nil {
			cost += len(i.Enum.Values)
		}
	}
	format := s.Format
	if c.ignoreFormats {
		format = nil
	}
	counting := &jsonschema.Format{Name: "format", Validate: func(value any) error {
		if *c.left -= cost * weight(s, value); *c.left < 0 {
			panic(errTooLong)
		}
		if format == nil {
			return nil
		}
		return format.Validate(value)
	}}
	if format != nil {
		counting.Name = format.Name
		if format.Name == "regex" { // for this format, the library does not call Validate
			counting.Name, format = "regular expression", &jsonschema.Format{Validate: isRegexp}
		}
	}
	s.Format = counting
}

func isRegexp(value any) error {
	if text, ok := value.(string); ok {
		_, err := regexp.Compile(text)
		return err
	}
	return nil
}

// weight returns the cost of a check of a value against a schema, without nested schemas.
func weight(s *jsonschema.Schema, value any) int {
	switch value := value.(type) {
	case map[string]any:
		return 1 + len(value)*len(s.PatternProperties)
	case string:
		if s.Pattern != nil {
			return 1 + len(value)*len(s.Pattern.String())/1000
		}
	}
	return 1
}

// within returns the schemas that a schema applies.
func within(s *jsonschema.Schema) []*jsonschema.Schema {
	all := []*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else, s.PropertyNames, s.UnevaluatedProperties,
		s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema}
	if s.DynamicRef != nil {
		all = append(all, s.DynamicRef.Ref)
	}
	for _, list := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems} {
		all = append(all, list...)
	}
	for _, members := range []map[string]*jsonschema.Schema{s.Properties, s.DependentSchemas} {
		for _, member := range members {
			all = append(all, member)
		}
	}
	for _, member := range s.PatternProperties {
		all = append(all, member)
	}
	either := []any{s.AdditionalProperties, s.Items, s.AdditionalItems}
	for _, dependency := range s.Dependencies {
		either = append(either, dependency)
	}
	for _, one := range either {
		switch one := one.(type) {
		case *jsonschema.Schema:
			all = append(all, one)
		case []*jsonschema.Schema:
			all = append(all, one...)
		}
	}
	there := all[:0]
	for _, one := range all {
		if one != nil {
			there = append(there, one)
		}
	}
	return there
}
