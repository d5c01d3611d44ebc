package compare

import (
	"mime"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/internal/coding"
)

// Some fields say by their definition that one thing can be written in several ways, and frameworks do: the words of a media
// type have no case, and its parameters no order (RFC 9110 §8.3.1), and neither have the attributes of a cookie (RFC 6265 §5.2).
// Lists have their own rules; see list.go. Every client reads them by that, so these ways are no difference. Of all other fields
// the text is what is compared.

// sameField reports whether two values of a field, which differ as texts, say the same.
func sameField(b *ident.Bindings, name, ref, cand string, p ident.Place) bool {
	switch strings.ToLower(name) {
	case "content-encoding":
		return slices.Equal(coding.Of([]string{ref}), coding.Of([]string{cand}))
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

// plainMedia writes a media type in one way. The name of a charset has no case (RFC 2046 §4.1.2); other parameters may have
// one. UTF-8 is not worth a word where nothing else can be meant: JSON defines no charset (RFC 8259 §11), and that of an
// event stream serves no purpose (WHATWG HTML, IANA considerations).
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

// plainCookie writes a cookie with its attributes in small letters, and sorted. Of their values, only that of SameSite has no
// case for certain.
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

// inOrder returns the values of a field in the order in which they are compared: cookies by their names, since a client
// keeps each by itself, and of one name as they came; the lines of a list as one (RFC 9110 §5.3); all others as they came.
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
