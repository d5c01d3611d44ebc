package jsondiff

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// looksEncoded reports whether a text begins like one that contains a document.
func looksEncoded(s string) bool {
	return s != "" && (s[0] == '{' || s[0] == '[') || strings.HasPrefix(s, "eyJ")
}

// documentIn returns the object or the list if a text is JSON without defects; nil otherwise.
func documentIn(s string) *jsontree.Node {
	s = strings.TrimSpace(s)
	if len(s) < 2 || s[0] != '{' && s[0] != '[' || s[len(s)-1] != '}' && s[len(s)-1] != ']' {
		return nil
	}
	root, defects, err := jsontree.Parse([]byte(s))
	if err != nil || len(defects) > 0 {
		return nil
	}
	return root
}

// jwtIn returns the header and the claims of a JWT (RFC 7519); nil when the text is not a JWT.
func jwtIn(s string) []*jsontree.Node {
	parts := strings.Split(s, ".")
	if len(parts) != 3 || !strings.HasPrefix(s, "eyJ") {
		return nil
	}
	var out []*jsontree.Node
	for _, part := range parts[:2] {
		data, err := base64.RawURLEncoding.Strict().DecodeString(part)
		if err != nil {
			return nil
		}
		root := documentIn(string(data))
		if root == nil {
			return nil
		}
		out = append(out, root)
	}
	return out
}

// base64Variants are the variants of Base64 (RFC 4648 §4, §5).
var base64Variants = []*base64.Encoding{
	base64.StdEncoding.Strict(), base64.RawStdEncoding.Strict(), base64.URLEncoding.Strict(), base64.RawURLEncoding.Strict(),
}

// variantsOf returns the variants in which a text is valid, as a set of bits.
func variantsOf(s string) (set int) {
	for i, v := range base64Variants {
		if _, err := v.DecodeString(s); err == nil {
			set |= 1 << i
		}
	}
	return set
}

// base64In returns the readable text that is encoded in a text.
func base64In(s string) (text string, ok bool) {
	if len(s) < minBase64 || !inBase64(s) {
		return "", false
	}
	for _, v := range base64Variants {
		if data, err := v.DecodeString(s); err == nil {
			return string(data), readable(data)
		}
	}
	return "", false
}

func inBase64(s string) bool {
	for i := range len(s) {
		if !ident.InNano[s[i]] && s[i] != '+' && s[i] != '/' && s[i] != '=' {
			return false
		}
	}
	return true
}

// readable reports whether bytes are UTF-8 without control characters, apart from line breaks and tabs.
func readable(data []byte) bool {
	if !utf8.Valid(data) {
		return false
	}
	for _, r := range string(data) {
		if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' || r == utf8.RuneError {
			return false
		}
	}
	return true
}

// minBase64 is the shortest text that is decoded. Shorter ones are often valid Base64 by chance.
const minBase64 = 16
