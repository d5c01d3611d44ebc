package compare

import (
	"slices"
	"strings"
)

// A list field (RFC 9110 §5.6.1) may have white space and empty elements anywhere, and several lines. In the fields
// below, by definition, the order or the case of the elements has no meaning. In other lists, such as Accept-Language
// and Upgrade, the order is a preference.

// A listField says how the elements of a list are compared.
type listField struct {
	ordered   bool                // the order of the elements matters
	normalize func(string) string // makes equal elements the same text
}

var listFields = map[string]listField{
	"accept":                        {normalize: mediaElement},    // RFC 9110 §12.5.1: weights express the preference
	"accept-ch":                     {normalize: strings.ToLower}, // RFC 8942 §3.1
	"accept-charset":                {normalize: strings.ToLower}, // RFC 9110 §12.5.2
	"accept-encoding":               {normalize: strings.ToLower}, // §12.5.3
	"accept-patch":                  {normalize: mediaElement},    // RFC 5789 §3.1
	"accept-post":                   {normalize: mediaElement},    // W3C LDP §7.1
	"accept-ranges":                 {normalize: strings.ToLower}, // RFC 9110 §14.3
	"access-control-allow-headers":  {normalize: strings.ToLower}, // Fetch §3.3.3: names of fields
	"access-control-allow-methods":  {normalize: unchanged},
	"access-control-expose-headers": {normalize: strings.ToLower},
	"allow":                         {normalize: unchanged}, // RFC 9110 §10.2.1; methods are case-sensitive (§9.1)
	"cache-control":                 {normalize: directive}, // RFC 9111 §5.2
	"connection":                    {normalize: strings.ToLower},
	"content-encoding":              {normalize: strings.ToLower, ordered: true}, // RFC 9110 §8.4: in the order of application
	"content-language":              {normalize: strings.ToLower},                // §8.5
	"te":                            {normalize: strings.ToLower},
	"trailer":                       {normalize: strings.ToLower},
	"transfer-encoding":             {normalize: strings.ToLower, ordered: true},
	"vary":                          {normalize: strings.ToLower}, // RFC 9110 §12.5.5: names of fields
}

func isList(name string) bool {
	_, ok := listFields[strings.ToLower(name)]
	return ok
}

// sameList reports whether two values of a field that is a list have the same elements.
func sameList(name, ref, cand string) bool {
	field, ok := listFields[strings.ToLower(name)]
	return ok && slices.Equal(field.elements(ref), field.elements(cand))
}

// elements returns the elements of a list in a normalized form. Empty ones do not count (RFC 9110 §5.6.1.2).
func (f listField) elements(value string) []string {
	var out []string
	for _, element := range splitList(value, ',') {
		if element != "" {
			out = append(out, f.normalize(strings.Join(splitList(element, ';'), ";")))
		}
	}
	if !f.ordered {
		slices.Sort(out)
	}
	return out
}

// splitList splits a value at each separator outside of quotes, and trims the parts.
func splitList(value string, separator byte) []string {
	var out []string
	from, quoted := 0, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == separator && !quoted:
			out = append(out, strings.Trim(value[from:i], " \t"))
			from = i + 1
		}
	}
	return append(out, strings.Trim(value[from:], " \t"))
}

func unchanged(element string) string { return element }

// directive normalizes a cache directive: its name is case-insensitive, and its argument may be quoted
// (RFC 9111 §5.2).
func directive(element string) string {
	name, argument, given := strings.Cut(element, "=")
	if !given {
		return strings.ToLower(element)
	}
	if bare := strings.TrimSuffix(strings.TrimPrefix(argument, `"`), `"`); len(bare) == len(argument)-2 && !strings.ContainsAny(bare, `"\, `) {
		argument = bare
	}
	return strings.ToLower(name) + "=" + argument
}

func mediaElement(element string) string {
	if plain, ok := plainMedia(element); ok {
		return plain
	}
	return element
}
