package mutate

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

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
	for n < len(s) && (isAlphanumeric(s[n]) || strings.IndexByte("+/-_", s[n]) >= 0) {
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
