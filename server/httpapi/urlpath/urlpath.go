// Package urlpath parses request targets by the rules of CT 3.3, which are those of browsers rather than net/url's.
//
// The rules apply in this order:
//
//  1. The path ends at the first question mark. A target in absolute form loses its scheme and authority.
//  2. A raw backslash is a slash.
//  3. The segments "." and "..", raw or percent-encoded, are resolved. Nothing else is normalised: a double or trailing
//     slash makes an empty segment.
//  4. Each segment is percent-decoded once. Invalid escapes, and escapes that are not UTF-8, stay as they are; the others
//     are decoded. An encoded slash is part of its segment.
package urlpath

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

// A Path is the path of a request target as decoded segments: "/a%2Fb/c/" has the three segments "a/b", "c" and "".
type Path []string

// Parse splits a request target into its path and its query, which it does not change. A target without a path, such
// as "*", has no segments.
func Parse(target string) (path Path, query string) {
	raw, query, _ := strings.Cut(target, "?")
	raw = strings.ReplaceAll(withoutOrigin(raw), `\`, "/")
	if !strings.HasPrefix(raw, "/") {
		return nil, query
	}
	segments := strings.Split(raw[1:], "/")
	resolved := segments[:0]
	for i, segment := range segments {
		last := i == len(segments)-1
		switch dots(segment) {
		case 0:
			resolved = append(resolved, segment)
			continue
		case 2:
			if len(resolved) > 0 {
				resolved = resolved[:len(resolved)-1]
			}
		}
		if last {
			resolved = append(resolved, "") // "/a/." and "/a/b/.." are "/a/"
		}
	}
	for i, segment := range resolved {
		resolved[i] = Unescape(segment)
	}
	return Path(resolved), query
}

// In reports whether the path is one of the given paths or is below one.
func (p Path) In(parents ...Path) bool {
	return slices.ContainsFunc(parents, func(parent Path) bool {
		return len(p) >= len(parent) && slices.Equal(p[:len(parent)], parent)
	})
}

// String returns the path with each segment escaped. net/url decodes it to exactly the segments of p.
func (p Path) String() string {
	var b strings.Builder
	for _, segment := range p {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(segment))
	}
	return b.String()
}

// withoutOrigin removes "http://authority" from a target in absolute form (RFC 9112 §3.2.2).
func withoutOrigin(target string) string {
	for _, scheme := range []string{"http://", "https://"} {
		if len(target) < len(scheme) || !strings.EqualFold(target[:len(scheme)], scheme) {
			continue
		}
		rest := target[len(scheme):]
		if end := strings.IndexAny(rest, `/\`); end >= 0 {
			return rest[end:]
		}
		return "/"
	}
	return target
}

// dots returns how many dots a dot segment has, or 0 for any other segment.
func dots(segment string) int {
	n := 0
	for segment != "" {
		switch {
		case segment[0] == '.':
			segment = segment[1:]
		case len(segment) >= 3 && strings.EqualFold(segment[:3], "%2e"):
			segment = segment[3:]
		default:
			return 0
		}
		n++
	}
	if n > 2 {
		return 0
	}
	return n
}

// Unescape percent-decodes a string once, as UTF-8. Invalid escapes, and escapes that are not UTF-8, stay as they
// are. Raw bytes that are not UTF-8 become U+FFFD.
func Unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return ToUTF8(s)
	}
	var b strings.Builder
	for s != "" {
		if s[0] != '%' {
			end := strings.IndexByte(s, '%')
			if end < 0 {
				end = len(s)
			}
			b.WriteString(ToUTF8(s[:end]))
			s = s[end:]
			continue
		}
		size := escapes(s)
		if size == 0 { // not an escape, or not the start of a character
			size = 1
			if _, ok := unhex(s); ok {
				size = 3
			}
			b.WriteString(s[:size])
			s = s[size:]
			continue
		}
		for range size {
			c, _ := unhex(s)
			b.WriteByte(c)
			s = s[3:]
		}
	}
	return b.String()
}

// ToUTF8 decodes raw bytes of a path or a header field as UTF-8, in the same way as bodies (WHATWG Encoding 8.1.1).
func ToUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	decoded, err := unicode.UTF8.NewDecoder().String(s)
	if err != nil { // the decoder replaces invalid bytes, and has no other error
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return decoded
}

// escapes returns how many escapes at the start of s form one UTF-8 character, or 0 if they do not.
func escapes(s string) int {
	var char [utf8.UTFMax]byte
	for n := 0; n < len(char); n++ {
		c, ok := unhex(s[3*n:])
		if !ok {
			return 0
		}
		char[n] = c
		if utf8.Valid(char[:n+1]) {
			return n + 1
		}
	}
	return 0
}

// unhex decodes the escape at the start of s.
func unhex(s string) (c byte, ok bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[1:3], 16, 8)
	return byte(n), err == nil
}
