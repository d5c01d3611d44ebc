package mutate

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// encodedOperators confuse ids where they are a part of a text: in JSON or Base64, or in the name of a temporary folder.
var encodedOperators = []Operator{
	operator("identity", "encoded", "In a text that holds JSON it sends an id that nobody has", func(s *Subject, seed uint64, yield emit) {
		s.spots(func(v *spot) bool {
			inner, encode := heldIn(v.node)
			if inner == nil || v.ref == nil {
				return true
			}
			for i, name := range inner.Names {
				id := inner.Items[i]
				if !isID(name) || id.Kind != jsontree.String || len(id.Text) < 6 || !s.elsewhere(id.Text, v) {
					continue
				}
				after := encode(strings.Replace(inner.String(), text(id.Text), text(fresh(id.Text, seed)), 1))
				if after != v.node.Text && !yield(v.set(text(after))) {
					return false
				}
			}
			return true
		})
	}),
	operator("identity", "temporary", "In one place it names a temporary folder that nobody has", func(s *Subject, seed uint64, yield emit) {
		s.spots(func(v *spot) bool {
			name := temporaryIn(v.node)
			if name == "" || v.class == fixed || s.count(name) < 2 {
				return true
			}
			return yield(v.set(text(strings.Replace(v.node.Text, name, fresh(name, seed), 1))))
		})
	}),
}

// elsewhere reports whether a text stands in another value.
func (s *Subject) elsewhere(text string, here *spot) bool {
	found := false
	s.spots(func(v *spot) bool {
		found = found || v != here && v.node.Kind == jsontree.String && strings.Contains(v.node.Text, text)
		return !found
	})
	return found
}

// temporaryIn returns the name of the folder below /tmp that a text begins with; "" when it names none.
func temporaryIn(n *jsontree.Node) string {
	rest, ok := strings.CutPrefix(n.Text, "/tmp/")
	if !ok || n.Kind != jsontree.String {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	if !isWord(name) {
		return ""
	}
	return name
}

var base64Variants = []*base64.Encoding{base64.StdEncoding.Strict(), base64.RawStdEncoding.Strict(), base64.URLEncoding.Strict(), base64.RawURLEncoding.Strict()}

// heldIn returns the object that a text holds, as JSON or as JSON in Base64, and how another one is written so.
func heldIn(n *jsontree.Node) (*jsontree.Node, func(string) string) {
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

// objectIn returns the object that a text is, written as this package writes JSON; nil when it is none.
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

// renaming returns what puts texts in the place of others, each second one for the one before it, in what is written in
// Base64 too.
func renaming(pairs ...string) func(string) string {
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
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z' || strings.IndexByte("+/-_", s[n]) >= 0) {
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
