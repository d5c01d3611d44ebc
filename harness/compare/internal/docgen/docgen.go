// Package docgen draws JSON documents for the tests of package compare and of the packages below it.
package docgen

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// A Story is a series of documents from a server. Some generated values occur in several places. ${0}, ${1}, … are their
// placeholders.
type Story []string

// Values is how many generated values a story has.
const Values = 6

// In returns the documents with the generated values of a world.
func (s Story) In(world int) []string {
	out := make([]string, len(s))
	for i, document := range s {
		for n := range Values {
			document = strings.ReplaceAll(document, fmt.Sprintf("${%d}", n), Value(n, world, n))
		}
		out[i] = document
	}
	return out
}

// Shapes is how many shapes a generated value can have.
const Shapes = 3

// Value returns a generated value. It differs for each n and each world.
func Value(shape, world, n int) string {
	switch shape % Shapes {
	case 0:
		return fmt.Sprintf("%08x-0000-4000-8000-%012x", world*7919+n, n)
	case 1:
		return fmt.Sprintf("ses_%d%s%05d", world, "f3a9c1", n)
	default:
		return fmt.Sprintf("01JQ%dZ7XK9M3V5T8R2P4%06d", world, n)
	}
}

// Stories draws stories of one to four documents.
var Stories = rapid.Custom(func(t *rapid.T) Story {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return Document(t, 3) }), 1, 4).Draw(t, "documents")
})

// Document draws a JSON document with at most this depth.
func Document(t *rapid.T, depth int) string {
	kinds := 5
	if depth > 0 {
		kinds = 7
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "word")
	case 1:
		return rapid.SampledFrom([]string{"0", "1", "-2.5", "1e3", "9007199254740993"}).Draw(t, "number")
	case 2:
		return `"` + rapid.StringMatching(`[a-z é✓]{0,8}`).Draw(t, "text") + `"`
	case 3:
		return fmt.Sprintf(`"${%d}"`, rapid.IntRange(0, Values-1).Draw(t, "value"))
	case 4:
		return fmt.Sprintf(`"%s/${%d}?x"`, rapid.StringMatching(`[a-z]{1,5}`).Draw(t, "path"), rapid.IntRange(0, Values-1).Draw(t, "value"))
	case 5:
		var items []string
		for range rapid.IntRange(0, 4).Draw(t, "length") {
			items = append(items, Document(t, depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	default:
		var members []string
		for i := range rapid.IntRange(0, 4).Draw(t, "members") {
			members = append(members, fmt.Sprintf(`"m%d":%s`, i, Document(t, depth-1)))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
}

// Enlarged builds a large document with two small ones in separate parts.
func Enlarged(one, two string) string {
	pad := fmt.Sprintf(`"pad":"%0140d"`, 0)
	return fmt.Sprintf(`{"list":[{%s,"is":%s},[%s,{%s}],{"${5}":1,"is":%s,%s}],%s}`, pad, one, one, pad, two, pad, pad)
}
