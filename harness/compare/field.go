package compare

import (
	"maps"
	"mime"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/coding"
)

// Two fields say by their definition that one thing can be written in several ways, and frameworks do: the words of a media
// type have no case, and its parameters no order (RFC 9110 §8.3.1), and neither have the attributes of a cookie (RFC 6265 §5.2).
// Every client reads them by that, so these ways are no difference. Of all other fields the text is what is compared.

// sameField reports whether two values of a field, which differ as texts, say the same.
func (b *bindings) sameField(name, ref, cand string, p place) bool {
	switch strings.ToLower(name) {
	case "content-encoding":
		return slices.Equal(coding.Of([]string{ref}), coding.Of([]string{cand}))
	case "content-type":
		return sameMedia(ref, cand)
	case "set-cookie":
		kind, _ := b.texts(plainCookie(ref), plainCookie(cand), p)
		return kind == ""
	}
	return false
}

// sameMedia reports whether two media types are the same. The name of a charset has no case (RFC 2046 §4.1.2); other
// parameters may have one.
func sameMedia(ref, cand string) bool {
	r, rp, rerr := mime.ParseMediaType(ref)
	c, cp, cerr := mime.ParseMediaType(cand)
	if rerr != nil || cerr != nil || r != c {
		return false
	}
	for _, parameters := range [...]map[string]string{rp, cp} {
		if charset, ok := parameters["charset"]; ok {
			parameters["charset"] = strings.ToLower(charset)
		}
	}
	return maps.Equal(rp, cp)
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
// keeps each by itself, and of one name as they came; all others as they came.
func inOrder(name string, values []string) []string {
	if len(values) < 2 || !strings.EqualFold(name, "Set-Cookie") {
		return values
	}
	cookie := func(value string) string {
		pair, _, _ := strings.Cut(value, ";")
		name, _, _ := strings.Cut(pair, "=")
		return strings.TrimSpace(name)
	}
	return slices.SortedStableFunc(slices.Values(values), func(a, b string) int { return strings.Compare(cookie(a), cookie(b)) })
}
