package schemadoc

import (
	"fmt"
	"strings"
)

// number is how many of a thing a type speaks of.
type number string

const (
	one  number = ""
	many number = "s"
)

// typeOf says what a value may be. title is that of the section that it gets when it is an object with keys and has no
// title of its own.
func (w *writer) typeOf(s schema, n number, title string) string {
	s = w.resolve(s)
	own := text(s.node, "title")
	if own != "" {
		title = own
	}
	switch {
	case s.node.Member("properties") != nil || len(choices(s.node)) > 0:
		name := "object"
		if own != "" {
			name = lower(own)
		}
		return fmt.Sprintf("[%s%s](#%s)", name, n, w.enqueue(s, title, ""))
	case text(s.node, "type") == "array":
		return "list of " + w.typeOf(schema{s.node.Member("items"), s.id}, many, title)
	case own != "":
		return w.word(s, own, n)
	case s.node.Member("enum") != nil:
		return alternatives(texts(s.node.Member("enum")), code)
	case s.node.Member("const") != nil:
		return code(text(s.node, "const"))
	case s.node.Member("anyOf") != nil:
		var all []string
		for _, item := range s.node.Member("anyOf").Items {
			if text(item, "type") == "array" && item.Member("items") == nil { // they stand beside, where a mistake in one is reported
				all = append(all, "list of "+w.typeOf(schema{s.node.Member("items"), s.id}, many, title))
				continue
			}
			all = append(all, w.typeOf(schema{item, s.id}, n, title))
		}
		return strings.Join(all, ", or ")
	case text(s.node, "type") == "object":
		return w.mapOf(s, title)
	}
	return w.plain(s, n)
}

// mapOf says what the values of a map are.
func (w *writer) mapOf(s schema, title string) string {
	others := s.node.Member("additionalProperties")
	if others == nil {
		return "map"
	}
	return "map to " + w.typeOf(schema{others, s.id}, many, title)
}

// word has a scalar explained at the end.
func (w *writer) word(s schema, title string, n number) string {
	if w.anchors[s.node] == "" {
		w.anchor(s.node, title)
		w.words = append(w.words, s)
	}
	return fmt.Sprintf("[%s%s](#%s)", title, n, w.anchors[s.node])
}

// plain says which type of JSON a scalar has, and within which bounds.
func (w *writer) plain(s schema, n number) string {
	types := texts(s.node.Member("type"))
	if len(types) == 0 {
		return "any"
	}
	out := alternatives(types, func(s string) string { return s + string(n) })
	least, most := text(s.node, "minimum"), text(s.node, "maximum")
	switch {
	case least != "" && most != "":
		out += fmt.Sprintf(" from %s to %s", least, most)
	case least != "":
		out += " from " + least
	}
	return out
}
