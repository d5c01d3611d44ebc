package contract

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// fault notes that something is wrong, and reports whether anybody wants to read what.
func (j *judge) fault() bool {
	j.faults++
	if j.quiet || j.gaveUp { // a choice without a measurement proves nothing
		return false
	}
	if len(j.found) >= j.limit {
		j.full = true
		return false
	}
	return true
}

// longestPointer bounds what a body of megabyte-long names can make us keep.
const longestPointer = 1000

// report adds a finding about the value under judgement.
func (j *judge) report(kind Kind, s *schema, text string, args ...any) {
	pointer := string(j.path)
	if len(pointer) > longestPointer {
		pointer = strings.ToValidUTF8(pointer[:longestPointer], "") + "…"
	}
	j.found = append(j.found, finding{pointer, kind, fmt.Sprintf(text, args...) + j.hint, s.ref})
}

// reportAt adds a finding about one of its fields.
func (j *judge) reportAt(field string, kind Kind, s *schema, text string, args ...any) {
	depth := len(j.path)
	j.path = appendName(j.path, field)
	j.report(kind, s, text, args...)
	j.path = j.path[:depth]
}

func hintClosest(closest *schema, members int) string {
	return fmt.Sprintf(" (of %d alternatives the closest is %s)", members, closest.ref)
}

// most is how much of a value a text quotes, in bytes.
const most = 60

// quote returns a string in quotes, cut when it is long. Nothing a server sends reaches a terminal unescaped.
func quote(s string) string {
	if len(s) <= most {
		return strconv.Quote(s)
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strconv.Quote(s[:cut]) + "…"
}

func quoteAll(list []string) string {
	const few = 8
	var out []string
	for _, s := range list[:min(few, len(list))] {
		out = append(out, quote(s))
	}
	if rest := len(list) - few; rest > 0 {
		out = append(out, fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(out, ", ")
}

// excerpt shows a value.
func excerpt(n *jsontree.Node) string {
	switch n.Kind {
	case jsontree.Array:
		return "the array"
	case jsontree.Object:
		return "the object"
	case jsontree.String:
		return quote(n.Text)
	case jsontree.Null:
		return "null"
	}
	if len(n.Text) > most {
		return n.Text[:most] + "…"
	}
	return n.Text
}

// describe shows a value and says what it is.
func describe(n *jsontree.Node) string {
	switch n.Kind {
	case jsontree.Array:
		return "an array"
	case jsontree.Object:
		return "an object"
	case jsontree.Null:
		return "null"
	}
	return "the " + n.Kind.String() + " " + excerpt(n)
}

// suggest names the field that was probably meant.
func suggest(name string, known []string) string {
	if near, ok := problem.Nearest(name, known); ok {
		return fmt.Sprintf("; did it mean %q?", near)
	}
	return ""
}

func pick(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

func (b *bound) String() string { return formatNumber(b.double) }

// appendName appends a name to a JSON Pointer (RFC 6901 §3).
func appendName(pointer []byte, name string) []byte {
	pointer = append(pointer, '/')
	for i := range len(name) {
		switch c := name[i]; c {
		case '~':
			pointer = append(pointer, "~0"...)
		case '/':
			pointer = append(pointer, "~1"...)
		default:
			pointer = append(pointer, c)
		}
	}
	return pointer
}

func appendIndex(pointer []byte, i int) []byte {
	return strconv.AppendInt(append(pointer, '/'), int64(i), 10)
}

var pointerUnescape = strings.NewReplacer("~1", "/", "~0", "~")

// unescapePointer returns the name that a token of a JSON Pointer stands for.
func unescapePointer(token string) string { return pointerUnescape.Replace(token) }
