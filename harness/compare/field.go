package compare

import (
	"mime"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// By their definition, some fields can be written in several ways, and frameworks do that. The words of a media type
// are case-insensitive, and its parameters have no order (RFC 9110 §8.3.1). Neither have the attributes of a cookie
// (RFC 6265 §5.2). Lists have their own rules: see list.go. All clients know these definitions, so another notation is
// no difference. All other fields are compared as text.

// sameField reports whether two values of a field mean the same, although their texts differ.
func sameField(b *ident.Bindings, name, ref, cand string, p ident.Place) bool {
	switch strings.ToLower(name) {
	case "content-encoding":
		return slices.Equal(transcript.ContentCodings([]string{ref}), transcript.ContentCodings([]string{cand}))
	case "content-type":
		return sameMedia(ref, cand)
	case "set-cookie":
		return b.Texts(plainCookie(ref), plainCookie(cand), p).None()
	}
	return sameList(name, ref, cand)
}

// sameMedia reports whether two media types are the same.
func sameMedia(ref, cand string) bool {
	r, rok := plainMedia(ref)
	c, cok := plainMedia(cand)
	return rok && cok && r == c
}

// plainMedia normalizes a media type. The name of a charset is case-insensitive (RFC 2046 §4.1.2); other parameters may
// be case-sensitive. UTF-8 is left out where nothing else is possible: JSON defines no charset (RFC 8259 §11), and that
// of an event stream serves no purpose (WHATWG HTML, IANA considerations).
func plainMedia(value string) (plain string, ok bool) {
	media, parameters, err := mime.ParseMediaType(value)
	if err != nil {
		return "", false
	}
	if charset, given := parameters["charset"]; given {
		parameters["charset"] = strings.ToLower(charset)
		if parameters["charset"] == "utf-8" && (isJSONType(media) || media == "text/event-stream") {
			delete(parameters, "charset")
		}
	}
	plain = mime.FormatMediaType(media, parameters)
	return plain, plain != ""
}

func isJSONType(media string) bool {
	return media == "application/json" || strings.HasSuffix(media, "+json")
}

// plainCookie writes the attributes of a cookie in lower case and sorted. Of their values, only that of SameSite is
// certainly case-insensitive.
func plainCookie(value string) string {
	pair, rest, found := strings.Cut(value, ";")
	if !found {
		return value
	}
	var attributes []string
	for attribute := range strings.SplitSeq(rest, ";") {
		name, value, given := strings.Cut(attribute, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if value = strings.TrimSpace(value); name == "samesite" {
			value = strings.ToLower(value)
		}
		if given {
			name += "=" + value
		}
		attributes = append(attributes, name)
	}
	slices.Sort(attributes)
	return strings.TrimSpace(pair) + "; " + strings.Join(attributes, "; ")
}

// inOrder returns the values of a field in the order in which to compare them. Cookies are sorted by name, because
// clients store each one separately; those with one name keep their order. The lines of a list are joined
// (RFC 9110 §5.3). All other values keep their order.
func inOrder(name string, values []string) []string {
	switch {
	case len(values) < 2:
		return values
	case isList(name):
		return []string{strings.Join(values, ", ")}
	case !strings.EqualFold(name, "Set-Cookie"):
		return values
	}
	cookie := func(value string) string {
		pair, _, _ := strings.Cut(value, ";")
		name, _, _ := strings.Cut(pair, "=")
		return strings.TrimSpace(name)
	}
	return slices.SortedStableFunc(slices.Values(values), func(a, b string) int { return strings.Compare(cookie(a), cookie(b)) })
}

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
