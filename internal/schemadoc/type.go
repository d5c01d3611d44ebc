package schemadoc

import (
	"fmt"
	"strings"
)

// number selects the singular or the plural of a type.
type number string

const (
	one  number = ""
	many number = "s"
)

// typeOf describes the type of a value. title names the section of an object whose schema has no title.
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
		return fmt.Sprintf("[%s%s](#%s)", name, n, w.enqueue(s, title, nil))
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
			if text(item, "type") == "array" && item.Member("items") == nil { // "items" is outside of anyOf for better messages
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

// mapOf describes the type of a map's values.
func (w *writer) mapOf(s schema, title string) string {
	others := s.node.Member("additionalProperties")
	if others == nil {
		return "map"
	}
	return "map to " + w.typeOf(schema{others, s.id}, many, title)
}

// word adds a scalar to the table at the end, and returns a link to it.
func (w *writer) word(s schema, title string, n number) string {
	if w.anchors[s.node] == "" {
		w.anchor(s.node, title)
		w.words = append(w.words, s)
	}
	return fmt.Sprintf("[%s%s](#%s)", title, n, w.anchors[s.node])
}

// plain describes the JSON type of a scalar, and its bounds.
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
