package jsondiff

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// A docStory is a series of documents from a server. Some generated values occur in several places. ${0}, ${1}, … are
// their placeholders.
type docStory []string

// docMakers make generated values of several shapes, a different one for each n and each world.
var docMakers = []func(world, n int) string{
	func(world, n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", world*7919+n, n) },
	func(world, n int) string { return fmt.Sprintf("ses_%d%s%05d", world, "f3a9c1", n) },
	func(world, n int) string { return fmt.Sprintf("01JQ%dZ7XK9M3V5T8R2P4%06d", world, n) },
}

// told returns the documents with the generated values of a world.
func (s docStory) told(world int) []string {
	out := make([]string, len(s))
	for i, document := range s {
		for n := range docValues {
			document = strings.ReplaceAll(document, fmt.Sprintf("${%d}", n), docMakers[n%len(docMakers)](world, n))
		}
		out[i] = document
	}
	return out
}

const docValues = 6

var docStories = rapid.Custom(func(t *rapid.T) docStory {
	s := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return drawDocument(t, 3) }), 1, 4).Draw(t, "documents")
	return s
})

func drawDocument(t *rapid.T, depth int) string {
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
		return fmt.Sprintf(`"${%d}"`, rapid.IntRange(0, docValues-1).Draw(t, "value"))
	case 4:
		return fmt.Sprintf(`"%s/${%d}?x"`, rapid.StringMatching(`[a-z]{1,5}`).Draw(t, "path"), rapid.IntRange(0, docValues-1).Draw(t, "value"))
	case 5:
		var items []string
		for range rapid.IntRange(0, 4).Draw(t, "length") {
			items = append(items, drawDocument(t, depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	default:
		var members []string
		for i := range rapid.IntRange(0, 4).Draw(t, "members") {
			members = append(members, fmt.Sprintf(`"m%d":%s`, i, drawDocument(t, depth-1)))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
}

// enlargedPair builds a large document with two small ones in separate parts.
func enlargedPair(one, two string) string {
	pad := fmt.Sprintf(`"pad":"%0140d"`, 0)
	return fmt.Sprintf(`{"list":[{%s,"is":%s},[%s,{%s}],{"${5}":1,"is":%s,%s}],%s}`, pad, one, one, pad, two, pad, pad)
}
