package compare

import (
	"slices"
	"strings"
)

// A field that is a list (RFC 9110 §5.6.1) may have blanks and empty elements anywhere, and stand in several lines. Of those
// below the definition also says that the order of the elements means nothing, or that they have no case. In others, such as
// Accept-Language and Upgrade, the order is a preference.

// A listField says what is compared of a list.
type listField struct {
	ordered bool                // the order of the elements counts
	plain   func(string) string // writes an element in one way
}

var listFields = map[string]listField{
	"accept":                        {plain: mediaElement},    // RFC 9110 §12.5.1: weights tell the preference
	"accept-ch":                     {plain: strings.ToLower}, // RFC 8942 §3.1
	"accept-charset":                {plain: strings.ToLower}, // RFC 9110 §12.5.2
	"accept-encoding":               {plain: strings.ToLower}, // §12.5.3
	"accept-patch":                  {plain: mediaElement},    // RFC 5789 §3.1
	"accept-post":                   {plain: mediaElement},    // W3C LDP §7.1
	"accept-ranges":                 {plain: strings.ToLower}, // RFC 9110 §14.3
	"access-control-allow-headers":  {plain: strings.ToLower}, // Fetch §3.3.3: names of fields
	"access-control-allow-methods":  {plain: asItIs},
	"access-control-expose-headers": {plain: strings.ToLower},
	"allow":                         {plain: asItIs},    // RFC 9110 §10.2.1; methods have a case (§9.1)
	"cache-control":                 {plain: directive}, // RFC 9111 §5.2
	"connection":                    {plain: strings.ToLower},
	"content-encoding":              {plain: strings.ToLower, ordered: true}, // RFC 9110 §8.4: as they were applied
	"content-language":              {plain: strings.ToLower},                // §8.5
	"te":                            {plain: strings.ToLower},
	"trailer":                       {plain: strings.ToLower},
	"transfer-encoding":             {plain: strings.ToLower, ordered: true},
	"vary":                          {plain: strings.ToLower}, // RFC 9110 §12.5.5: names of fields
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

// elements returns the elements of a list as they are compared. An empty one is none (RFC 9110 §5.6.1.2).
func (f listField) elements(value string) []string {
	var out []string
	for _, element := range splitList(value, ',') {
		if element != "" {
			out = append(out, f.plain(strings.Join(splitList(element, ';'), ";")))
		}
	}
	if !f.ordered {
		slices.Sort(out)
	}
	return out
}

// splitList splits a value where a separator stands outside of quotes, and trims the parts.
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

func asItIs(element string) string { return element }

// directive writes a cache directive: its name has no case, and its argument may be quoted or not (RFC 9111 §5.2).
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
