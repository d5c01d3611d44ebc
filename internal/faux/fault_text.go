package faux

import (
	"bytes"
	"strings"
)

// text returns a hook that changes the bytes of the item that is read.
func text(change func([]byte) []byte) func(*answer) {
	return about(read, func(a *answer) {
		a.text = change((&Style{}).JSON(a.value))
	})
}

// textFaults write JSON that is invalid, or that parsers read differently.
var textFaults = []*Fault{
	{
		ID: "not-json", Doc: "it declares something else as JSON", In: "items/story",
		Says: []Finding{
			{difference, "body-not-json", "3", "body", theLamp, "<html>lamp</html>", candidate},
			{violation, "json-syntax", "3", "body", "", "", candidate},
		},
		answer: text(func([]byte) []byte { return []byte("<html>lamp</html>") }),
	},
	{
		ID: "empty-json", Doc: "it declares an empty body as JSON", In: "items/story",
		Says: []Finding{
			{difference, "body-not-json", "3", "body", theLamp, "—", candidate},
			{violation, "missing-body", "3", "body", "", "", candidate},
		},
		answer: text(func([]byte) []byte { return []byte{} }),
	},
	{
		ID: "half-json", Doc: "it sends half a document, with the length of that half", In: "items/story",
		Says: []Finding{
			{difference, "body-not-json", "3", "body", theLamp, `{"createdAt":"‹time›","id":"‹id›",`, candidate},
			{violation, "json-syntax", "3", "body", "", "", candidate},
		},
		answer: text(func(b []byte) []byte { return b[:bytes.Index(b, []byte(`"name"`))] }),
	},
	{
		ID: "broken-utf8", Doc: "it writes bytes that are not UTF-8", In: "items/story",
		Says: []Finding{
			{difference, "value", "3", "body /tags/1", `"brass"`, `"br�ss"`, candidate},
			{violation, "json-invalid-utf8", "3", "body/tags/1", "", "", candidate},
		},
		answer: text(func(b []byte) []byte { return bytes.Replace(b, []byte("brass"), []byte("br\xffss"), 1) }),
	},
	{
		ID: "duplicate-key", Doc: "it repeats a key in an object", In: "items/story",
		Says: []Finding{
			{difference, "body-not-json", "3", "body", theLamp, `{"name":"lamp",` + strings.TrimSuffix(theLamp[1:], `,"shelf":"s-‹u…`) + "…", candidate},
			{violation, "json-duplicate-name", "3", "body/name", "", "", candidate},
		},
		answer: text(func(b []byte) []byte { return bytes.Replace(b, []byte("{"), []byte(`{"name":"lamp",`), 1) }),
	},
	{
		ID: "other-duplicate", Doc: "it repeats a key in an object, and the last value differs", In: "items/story",
		Says: []Finding{
			{difference, "value", "3", "body /name", `"lamp"`, `"candle"`, candidate},
			{violation, "json-duplicate-name", "3", "body/name", "", "", candidate},
		},
		answer: text(func(b []byte) []byte { return append(b[:len(b)-1], `,"name":"candle"}`...) }),
	},
	{
		ID: "byte-order-mark", Doc: "it begins a document with a byte order mark", In: "items/story",
		Says: []Finding{
			{difference, "body-not-json", "3", "body", theLamp, "\ufeff" + strings.TrimSuffix(theLamp, "u…") + "…", candidate},
			{violation, "json-byte-order-mark", "3", "body", "", "", candidate},
		},
		answer: text(func(b []byte) []byte { return append([]byte("\xef\xbb\xbf"), b...) }),
	},
	{
		ID: "trailing-text", Doc: "it writes text after a document", In: "items/story",
		Says: []Finding{
			{difference, "body-not-json", "3", "body", theLamp, theLamp, candidate},
			{violation, "json-trailing-text", "3", "body", "", "", candidate},
		},
		answer: text(func(b []byte) []byte { return append(b, "\n// cached"...) }),
	},
	{
		ID: "not-a-number", Doc: "it writes NaN", In: "items/story",
		Says: []Finding{
			{difference, "body-not-json", "3", "body", theLamp, theLamp, candidate},
			{violation, "json-syntax", "3", "body", "", "", candidate},
		},
		answer: text(func(b []byte) []byte { return bytes.Replace(b, []byte("1.5"), []byte("NaN"), 1) }),
	},
	{
		ID: "rounded-number", Doc: "it rounds a number to the nearest float", In: "items/story",
		Says: []Finding{
			{difference, "value", "3", "body /weight", "1.5", "1.5000000000000002", silent},
		},
		answer: text(func(b []byte) []byte { return bytes.Replace(b, []byte("1.5"), []byte("1.5000000000000002"), 1) }),
	},
	{
		ID: "deep-nesting", Doc: "it nests arrays 100,000 deep", In: "items/story",
		Says: []Finding{
			{difference, "body-not-json", "3", "body", theLamp, theLamp, candidate},
			{violation, "json-syntax", "3", "body", "", "", candidate},
		},
		answer: text(func(b []byte) []byte {
			deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
			return append(b[:len(b)-1], `,"note":`+deep+`}`...)
		}),
	},
}
