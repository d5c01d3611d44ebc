package mutate

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// similarID returns another id of the same form: its last six letters and digits are replaced by others of the same
// kind.
func similarID(s string, seed uint64) string {
	out := []byte(s)
	left := 6
	for i := len(out) - 1; i >= 0 && left > 0; i-- {
		if next, ok := otherCharacter(out[i], seed+uint64(left)); ok {
			out[i] = next
			left--
		}
	}
	return string(out)
}

// otherCharacter returns another letter or digit of the same kind. A hexadecimal letter stays hexadecimal.
func otherCharacter(c byte, seed uint64) (byte, bool) {
	for _, set := range []string{"0123456789", "abcdef", "ghijklmnopqrstuvwxyz", "ABCDEF", "GHJKMNPQRSTVWXYZ", "ILOU"} {
		if i := strings.IndexByte(set, c); i >= 0 {
			step := 1 + splitMix64(seed)%uint64(len(set)-1)
			return set[(uint64(i)+step)%uint64(len(set))], true
		}
	}
	return c, false
}

// splitMix64 scrambles a number.
func splitMix64(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// isPlainID reports whether a text may be an id without anything around it, so that it is written in the same way in
// every place.
func isPlainID(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r|0x20 < 'a' || r|0x20 > 'z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}

// isIDName reports whether a member has the name of an id.
func isIDName(name string) bool {
	return name == "id" || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "ID") || strings.HasSuffix(name, "_id")
}

// replaceWord returns a function that replaces a word where no letter or digit precedes or follows it.
func replaceWord(word, other string) func(string) string {
	return func(text string) string {
		var out strings.Builder
		for at := 0; ; {
			i := nextWord(text, word, at)
			if i < 0 {
				return out.String() + text[at:]
			}
			out.WriteString(text[at:i] + other)
			at = i + len(word)
		}
	}
}

// nextWord returns the next index of a word at or after a place, or -1.
func nextWord(text, word string, at int) int {
	for at <= len(text) {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return -1
		}
		i += at
		if end := i + len(word); (i == 0 || !ident.Alnum(text[i-1])) && (end == len(text) || !ident.Alnum(text[end])) {
			return i
		}
		at = i + 1
	}
	return -1
}

var base64Variants = []*base64.Encoding{base64.StdEncoding.Strict(), base64.RawStdEncoding.Strict(), base64.URLEncoding.Strict(), base64.RawURLEncoding.Strict()}

// embeddedObject returns the object in a text, which is JSON or JSON in Base64. It also returns a function that writes
// another object in the same way.
func embeddedObject(n *jsontree.Node) (*jsontree.Node, func(string) string) {
	if n.Kind != jsontree.String {
		return nil, nil
	}
	if inner := objectIn(n.Text); inner != nil {
		return inner, func(s string) string { return s }
	}
	for _, v := range base64Variants {
		if data, err := v.DecodeString(n.Text); err == nil {
			if inner := objectIn(string(data)); inner != nil {
				return inner, func(s string) string { return v.EncodeToString([]byte(s)) }
			}
		}
	}
	return nil, nil
}

// objectIn returns the object that a text is, if the text is written as this package writes JSON; nil otherwise.
func objectIn(s string) *jsontree.Node {
	if len(s) < 2 || s[0] != '{' {
		return nil
	}
	root, defects, err := jsontree.Parse([]byte(s))
	if err != nil || len(defects) > 0 || root.Kind != jsontree.Object || root.String() != s {
		return nil
	}
	return root
}

// replaceEncoded returns a function that replaces texts, even inside of Base64. pairs alternates texts and their
// replacements.
func replaceEncoded(pairs ...string) func(string) string {
	r := strings.NewReplacer(pairs...)
	return func(s string) string {
		const shortest = 16
		s = r.Replace(s)
		var out strings.Builder
		for i := 0; i < len(s); {
			n := base64Len(s[i:])
			if n >= shortest {
				out.WriteString(reencoded(s[i:i+n], r))
			} else {
				n = max(n, 1)
				out.WriteString(s[i : i+n])
			}
			i += n
		}
		return out.String()
	}
}

// base64Len returns how many characters of Base64 a text begins with.
func base64Len(s string) int {
	n := 0
	for n < len(s) && (ident.Alnum(s[n]) || strings.IndexByte("+/-_", s[n]) >= 0) {
		n++
	}
	for n > 0 && n < len(s) && s[n] == '=' {
		n++
	}
	return n
}

func reencoded(word string, r *strings.Replacer) string {
	for _, v := range base64Variants {
		data, err := v.DecodeString(word)
		if err != nil || !utf8.Valid(data) {
			continue
		}
		if after := r.Replace(string(data)); after != string(data) {
			return v.EncodeToString([]byte(after))
		}
	}
	return word
}
