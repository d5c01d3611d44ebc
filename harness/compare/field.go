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
