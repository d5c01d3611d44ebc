package compare

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// A story is what a server answered in a row: documents in which generated values occur, some of them in several places.
// ${0}, ${1}, … stand for the generated values.
type story []string

// makers make generated values of several shapes; the n-th is another one for each n and each world.
var makers = []func(world, n int) string{
	func(world, n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", world*7919+n, n) },
	func(world, n int) string { return fmt.Sprintf("ses_%d%s%05d", world, "f3a9c1", n) },
	func(world, n int) string { return fmt.Sprintf("01JQ%dZ7XK9M3V5T8R2P4%06d", world, n) },
}

// told writes a story with the values of a world, which differ from those of another.
func (s story) told(world int) []string {
	out := make([]string, len(s))
	for i, document := range s {
		for n := range values {
			document = strings.ReplaceAll(document, fmt.Sprintf("${%d}", n), makers[n%len(makers)](world, n))
		}
		out[i] = document
	}
	return out
}

const values = 6

var stories = rapid.Custom(func(t *rapid.T) story {
	s := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return document(t, 3) }), 1, 4).Draw(t, "documents")
	return s
})

// document draws a JSON document.
func document(t *rapid.T, depth int) string {
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
		return fmt.Sprintf(`"${%d}"`, rapid.IntRange(0, values-1).Draw(t, "value"))
	case 4:
		return fmt.Sprintf(`"%s/${%d}?x"`, rapid.StringMatching(`[a-z]{1,5}`).Draw(t, "path"), rapid.IntRange(0, values-1).Draw(t, "value"))
	case 5:
		var items []string
		for range rapid.IntRange(0, 4).Draw(t, "length") {
			items = append(items, document(t, depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	default:
		var members []string
		for i := range rapid.IntRange(0, 4).Draw(t, "members") {
			members = append(members, fmt.Sprintf(`"m%d":%s`, i, document(t, depth-1)))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
}

// enlarged makes a large document of two small ones, in which both stand in parts of their own.
func enlarged(one, two string) string {
	pad := fmt.Sprintf(`"pad":"%0140d"`, 0)
	return fmt.Sprintf(`{"list":[{%s,"is":%s},[%s,{%s}],{"${5}":1,"is":%s,%s}],%s}`, pad, one, one, pad, two, pad, pad)
}
