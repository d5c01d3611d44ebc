package faux

import (
	"slices"
	"strings"
)

const (
	create = "POST /items"
	read   = "GET /items/{id}"
	shelf  = "GET /items"
	label  = "GET /items/{id}/label"
)

// member returns a hook that changes the members of the item that is read.
func member(change func(object)) func(*answer) {
	return about(read, func(a *answer) { change(a.value.(object)) })
}

// row returns the n-th item of a list.
func row(a *answer, n int) object { return a.value.([]any)[n].(object) }

// valueFaults write valid JSON with wrong values.
var valueFaults = []*Fault{
	{
		ID: "other-value", Doc: "it answers with another name for the item", In: "items/story",
		Says: []Finding{
			{difference, "value", "3", "body /name", `"lamp"`, `"LAMP"`, silent},
		},
		answer: member(func(o object) { o["name"] = "LAMP" }),
	},
	{
		ID: "other-number", Doc: "it answers with a size that is one too large", In: "items/story",
		Says: []Finding{
			{difference, "value", "3", "body /size", "4", "5", silent},
		},
		answer: member(func(o object) { o["size"] = 5 }),
	},
	{
		ID: "wrong-type", Doc: "it writes a number as a string", In: "items/story",
		Says: []Finding{
			{difference, "type", "3", "body /size", "4", `"4"`, candidate},
			{violation, "type", "3", "body/size", "", "", candidate},
		},
		answer: member(func(o object) { o["size"] = "4" }),
	},
	{
		ID: "missing-field", Doc: "it leaves out a field that is required", In: "items/story",
		Says: []Finding{
			{difference, "field-missing", "3", "body /size", "4", "—", candidate},
			{violation, "missing-field", "3", "body/size", "", "", candidate},
		},
		answer: member(func(o object) { delete(o, "size") }),
	},
	{
		ID: "extra-field", Doc: "it answers with a field that no schema declares", In: "items/story",
		Says: []Finding{
			{difference, "field-extra", "3", "body /color", "—", `"red"`, candidate},
			{violation, "undocumented-field", "3", "body/color", "", "", candidate},
		},
		answer: member(func(o object) { o["color"] = "red" }),
	},
	{
		ID: "null-for-absent", Doc: "it writes null where the other leaves the field out; the contract allows both", In: "items/story",
		Says: []Finding{
			{difference, "field-extra", "3", "body /note", "—", "null", silent},
		},
		answer: member(func(o object) { o["note"] = nil }),
	},
	{
		ID: "null-for-value", Doc: "it writes null where there is a value", In: "items/story",
		Says: []Finding{
			{difference, "type", "3", "body /name", `"lamp"`, "null", candidate},
			{violation, "type", "3", "body/name", "", "", candidate},
		},
		answer: member(func(o object) { o["name"] = nil }),
	},
	{
		ID: "other-id", Doc: "it answers with an id that it has never assigned", In: "items/story",
		Says: []Finding{
			{difference, "identity", "3", "body /id", `"‹id›"`, `"‹id›"`, silent},
		},
		answer: member(func(o object) { o["id"] = newID() }),
	},
	{
		ID: "other-serial", Doc: "it answers with a serial, an id by rule, that it has not assigned", In: "items/story",
		Says: []Finding{
			{difference, "identity", "3", "body /serial", "‹serial›", "‹serial›", silent},
		},
		answer: member(func(o object) { o["serial"] = o["serial"].(int) + 500 }),
	},
	{
		ID: "other-id-in-text", Doc: "it puts another id into a longer text", In: "items/story",
		Says: []Finding{
			{difference, "identity", "5", "body", "lamp (‹id›)\n", "lamp (‹id›)\n", silent},
		},
		answer: about(label, func(a *answer) { a.text = []byte("lamp (" + newID() + ")\n") }),
	},
	{
		ID: "other-id-in-header", Doc: "it puts another id into a header field", In: "items/story",
		Says: []Finding{
			{difference, "identity", "1", "header Location", `"/items/‹id›"`, `"/items/‹id›"`, silent},
		},
		answer: about(create, func(a *answer) { a.set("Location", "/items/"+newID()) }),
	},
	{
		ID: "swapped-ids", Doc: "it gives each of two items the id of the other", In: "items/story",
		Says: []Finding{
			{difference, "identity", "4", "body /0/id", `"‹id›"`, `"‹id›"`, silent},
			{difference, "identity", "4", "body /1/id", `"‹id›"`, `"‹id›"`, silent},
		},
		answer: about(shelf, func(a *answer) {
			r, s := row(a, 0), row(a, 1)
			r["id"], s["id"] = s["id"], r["id"]
		}),
	},
	{
		ID: "one-id-for-two", Doc: "it gives two items one id", In: "items/story",
		Says: []Finding{
			{difference, "identity", "4", "body /1/id", `"‹id›"`, `"‹id›"`, silent},
		},
		answer: about(shelf, func(a *answer) { row(a, 1)["id"] = row(a, 0)["id"] }),
	},
	{
		ID: "id-of-another-shape", Doc: "it generates ids of another format", In: "items/story",
		Says: []Finding{
			{difference, "value", "3", "body /id", `"‹id›"`, `"7"`, candidate},
			{violation, "pattern", "3", "body/id", "", "", candidate},
		},
		answer: member(func(o object) { o["id"] = "7" }),
	},
	{
		ID: "id-behind-another-prefix", Doc: "it puts another prefix before an id", In: "items/story",
		Says: []Finding{
			{difference, "id-form", "3", "body /id", `"‹id›"`, `"thing_0123456789abcdef0123"`, candidate},
			{violation, "pattern", "3", "body/id", "", "", candidate},
		},
		answer: member(func(o object) { o["id"] = "thing_0123456789abcdef0123" }),
	},
	{
		ID: "old-time", Doc: "it gives an item an old time of creation", In: "items/story",
		Says: []Finding{
			{difference, "value", "3", "body /createdAt", `"‹time›"`, `"2001-02-03T04:05:06Z"`, silent},
		},
		answer: member(func(o object) { o["createdAt"] = "2001-02-03T04:05:06Z" }),
	},
	{
		ID: "no-time", Doc: "it writes a time in another format", In: "items/story",
		Says: []Finding{
			{difference, "value", "3", "body /createdAt", `"‹time›"`, `"yesterday"`, candidate},
			{violation, "format", "3", "body/createdAt", "", "", candidate},
		},
		answer: member(func(o object) { o["createdAt"] = "yesterday" }),
	},
	{
		ID: "wrong-twice", Doc: "it answers with another name, and with an invalid time", In: "items/story",
		Says: []Finding{
			{difference, "value", "3", "body /name", `"lamp"`, `"LAMP"`, silent},
			{difference, "value", "3", "body /createdAt", `"‹time›"`, `"yesterday"`, candidate},
			{violation, "format", "3", "body/createdAt", "", "", candidate},
		},
		answer: member(func(o object) { o["name"], o["createdAt"] = "LAMP", "yesterday" }),
	},
	{
		ID: "reordered-list", Doc: "it lists the elements of an array in another order", In: "items/story",
		Says: []Finding{
			{difference, "order", "3", "body /tags", `["tall","brass","fünf ✓"]`, `["fünf ✓","brass","tall"]`, silent},
		},
		answer: member(func(o object) { slices.Reverse(o["tags"].([]any)) }),
	},
	{
		ID: "reordered-items", Doc: "it lists items in another order", In: "items/story",
		Says: []Finding{
			{difference, "order", "4", "body", `[{"createdAt":"‹time›","id":"‹id›","name":"lamp","self":"/items/‹id›","serial":‹serial›,"shelf":"s-‹…`, `[{"createdAt":"‹time›","id":"‹id›","name":"chair","self":"/items/‹id›","serial":‹serial›,"shelf":"s-…`, silent},
		},
		answer: about(shelf, func(a *answer) { slices.Reverse(a.value.([]any)) }),
	},
	{
		ID: "missing-element", Doc: "it leaves out an element of an array", In: "items/story",
		Says: []Finding{
			{difference, "element-missing", "3", "body /tags/1", `"brass"`, "—", silent},
		},
		answer: member(func(o object) { o["tags"] = slices.Delete(o["tags"].([]any), 1, 2) }),
	},
	{
		ID: "extra-element", Doc: "it adds an element to an array", In: "items/story",
		Says: []Finding{
			{difference, "element-extra", "3", "body /tags/1", "—", `"tall"`, silent},
		},
		answer: member(func(o object) { o["tags"] = slices.Insert(o["tags"].([]any), 1, any("tall")) }),
	},
	{
		ID: "missing-item", Doc: "it leaves out an item of a list", In: "items/story",
		Says: []Finding{
			{difference, "element-missing", "4", "body /0", theLamp, "—", silent},
		},
		answer: about(shelf, func(a *answer) { a.value = a.value.([]any)[1:] }),
	},
	{
		ID: "object-for-array", Doc: "it wraps a list in an object", In: "items/story",
		Says: []Finding{
			{difference, "type", "4", "body", `[{"createdAt":"‹time›","id":"‹id›","name":"lamp","self":"/items/‹id›","serial":‹serial›,"shelf":"s-‹…`, `{"items":[{"createdAt":"‹time›","id":"‹id›","name":"lamp","self":"/items/‹id›","serial":‹serial›,"sh…`, candidate},
			{violation, "type", "4", "body", "", "", candidate},
		},
		answer: about(shelf, func(a *answer) { a.value = object{"items": a.value} }),
	},
	{
		ID: "other-text", Doc: "it writes another plain text", In: "items/story",
		Says: []Finding{
			{difference, "body", "5", "body", "lamp (‹id›)\n", "LAMP (‹id›)\n", silent},
		},
		answer: about(label, func(a *answer) { a.text = []byte(strings.ToUpper(string(a.text[:4])) + string(a.text[4:])) }),
	},
	{
		ID: "other-line-end", Doc: "it ends a plain text's line in CRLF", In: "items/story",
		Says: []Finding{
			{difference, "body", "5", "body", "lamp (‹id›)\n", "lamp (‹id›)\r\n", silent},
		},
		answer: about(label, func(a *answer) { a.text = append(a.text[:len(a.text)-1], "\r\n"...) }),
	},
}
