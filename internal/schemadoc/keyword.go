package schemadoc

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// resolve follows references to the schema with the constraints.
func (w *writer) resolve(s schema) schema {
	for {
		ref := text(s.node, "$ref")
		if ref == "" {
			return s
		}
		next, ok := w.refer(ref, s.id)
		if !ok {
			w.problem("%s: there is no %s", s.id, ref)
			return schema{&jsontree.Node{Kind: jsontree.Object}, s.id}
		}
		s = next
	}
}

func (w *writer) refer(ref, base string) (schema, bool) {
	name, pointer, _ := strings.Cut(ref, "#")
	id := base
	if name != "" {
		id, _ = url.JoinPath(base, "..", name)
	}
	at := w.documents[id]
	for _, step := range strings.Split(pointer, "/")[1:] {
		if at == nil {
			return schema{}, false
		}
		at = at.Member(step)
	}
	return schema{at, id}, at != nil
}

// description returns the description of a schema, or else of the schema that it refers to.
func (w *writer) description(s schema) string { return w.say(s, "description") }

// say returns the text of an annotation: that of the schema itself, or else of the nearest schema that it refers to.
func (w *writer) say(s schema, keyword string) string {
	if own := text(s.node, keyword); own != "" || s.node.Member("$ref") == nil {
		return own
	}
	if next, ok := w.refer(text(s.node, "$ref"), s.id); ok {
		return w.say(next, keyword)
	}
	return ""
}

// fallback returns the default of a key, as a cell of a table.
func (w *writer) fallback(s schema) string {
	if words := w.say(s, "x-default"); words != "" {
		return words
	}
	if value := w.say(s, "default"); value != "" {
		return code(value)
	}
	return ""
}

// A choice is an object schema that one of several keys selects, or several keys together.
type choice struct {
	keys []string
	then *jsontree.Node
}

// choices returns the conditions of allOf that test for a key, in the form {"if": {"required": [key]}, "then": …,
// "else": …}, where "then" and "else" may be another condition. They are in the order in which anyOf lists the keys.
func choices(n *jsontree.Node) []choice {
	var out []choice
	all := n.Member("allOf")
	if all == nil {
		return nil
	}
	for _, item := range all.Items {
		out = append(out, chain(item, nil)...)
	}
	order := alternativeKeys(n)
	slices.SortStableFunc(out, func(a, b choice) int {
		return cmp.Compare(slices.Index(order, a.keys[0]), slices.Index(order, b.keys[0]))
	})
	return out
}

// chain returns the choices of a condition, after other keys.
func chain(n *jsontree.Node, after []string) (out []choice) {
	for ; n != nil && n.Member("if") != nil; n = n.Member("else") {
		keys := texts(n.Member("if").Member("required"))
		if len(keys) != 1 {
			continue
		}
		keys = append(slices.Clip(after), keys...)
		if then := n.Member("then"); then.Member("if") != nil {
			out = append(out, chain(then, keys)...)
		} else {
			out = append(out, choice{keys, then})
		}
	}
	if n != nil && len(after) > 0 { // what is left when no other key is there
		out = slices.Insert(out, 0, choice{after, n})
	}
	return out
}

// alternativeKeys returns the keys of which one is required.
func alternativeKeys(n *jsontree.Node) []string {
	var keys []string
	if list := n.Member("anyOf"); list != nil {
		for _, item := range list.Items {
			keys = append(keys, texts(item.Member("required"))...)
		}
	}
	return keys
}

// oneOf returns a sentence that lists the keys of which at least one is required, or "" if there are none.
func oneOf(n *jsontree.Node) string {
	keys := alternativeKeys(n)
	if len(keys) == 0 {
		return ""
	}
	return fmt.Sprintf("At least one is required of: %s.", alternatives(keys, code))
}

// text returns the text of a scalar member, or "" if it is missing.
func text(n *jsontree.Node, name string) string {
	if v := n.Member(name); v != nil {
		return v.Text
	}
	return ""
}

// texts returns the strings of a list. A single string counts as a list of one.
func texts(n *jsontree.Node) []string {
	switch {
	case n == nil:
		return nil
	case n.Kind == jsontree.String:
		return []string{n.Text}
	}
	var out []string
	for _, item := range n.Items {
		out = append(out, item.Text)
	}
	return out
}

func alternatives(all []string, show func(string) string) string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = show(s)
	}
	return strings.Join(out, ", ")
}

func code(s string) string { return "`" + s + "`" }

// lower returns a title as it is written inside a sentence.
func lower(title string) string { return strings.ToLower(title[:1]) + title[1:] }

// marked escapes characters that have a meaning in Markdown or in its tables.
var marked = strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`)

// cell escapes a sentence of a schema for a table.
func cell(sentence string) string { return marked.Replace(sentence) }

var notInSlugs = regexp.MustCompile(`[^\p{L}\p{N}_ -]+`)

// Slug returns the anchor that GitHub gives a heading.
func Slug(heading string) string {
	return strings.ReplaceAll(notInSlugs.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}
