// Package schemadoc turns the JSON Schemas of the files that users write into a reference in Markdown.
//
// Each file is a chapter, and each kind of object in it a section with a table of its keys. The sections follow the order of the
// keys. A schema that several places share is written once and linked to: an object becomes a section, a scalar with a title
// a row of the table "Values" at the end.
//
// In addition to the keywords of JSON Schema it reads "x-default": words for a default that is not a constant.
package schemadoc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A File is a kind of file that a schema describes.
type File struct {
	Title  string // of its chapter
	Schema []byte
}

// Markdown returns the reference. The schemas may refer to each other. A key without a description, a reference without a
// target and two sections of the same name are errors.
func Markdown(files []File) (string, error) {
	w := &writer{documents: map[string]*jsontree.Node{}, anchors: map[*jsontree.Node]string{}, taken: map[string]bool{}}
	roots := make([]*jsontree.Node, len(files))
	for i, f := range files {
		root, _, err := jsontree.Parse(f.Schema)
		if err != nil {
			return "", fmt.Errorf("schema of %s: %w", f.Title, err)
		}
		roots[i] = root
		w.documents[text(root, "$id")] = root
	}
	for i, f := range files {
		w.chapter(f.Title, schema{roots[i], text(roots[i], "$id")})
	}
	w.wordList()
	if len(w.problems) > 0 {
		return "", fmt.Errorf("%s", strings.Join(w.problems, "\n"))
	}
	return strings.TrimLeft(w.toc.String(), "\n") + w.out.String(), nil
}

// A schema is a node of a document, and the document's id, which references in it are relative to.
type schema struct {
	node *jsontree.Node
	id   string
}

// A section is an object with keys, or a choice among such objects, that is still to be written.
type section struct {
	schema
	title string
	key   string // of a choice: the required key that leads here
}

// A writer writes the reference.
type writer struct {
	documents map[string]*jsontree.Node // by $id
	out       strings.Builder
	toc       strings.Builder
	anchors   map[*jsontree.Node]string // of sections that are written or queued
	taken     map[string]bool           // anchors
	waiting   []section
	words     []schema // scalars with a title, in the order in which they appeared
	problems  []string
}

func (w *writer) problem(format string, args ...any) {
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// chapter writes everything that the schema of a file leads to and that no earlier chapter has written.
func (w *writer) chapter(title string, root schema) {
	w.waiting = nil
	if items := root.node.Member("items"); items != nil { // a list: the chapter describes its elements
		fmt.Fprintf(&w.out, "\n## %s\n\n%s\n", title, cell(w.description(root)))
		fmt.Fprintf(&w.toc, "\n\n[%s](#%s)", title, w.anchor(nil, title))
		w.typeOf(schema{items, root.id}, one, title)
	} else {
		w.enqueue(root, title, "")
	}
	for len(w.waiting) > 0 {
		next := w.waiting[0]
		w.waiting = w.waiting[1:]
		later := w.waiting
		w.waiting = nil
		w.section(&next)
		// The sections that a section links to follow it. The members of a choice stay together.
		siblings := 0
		for siblings < len(later) && next.key != "" && later[siblings].key != "" {
			siblings++
		}
		w.waiting = slices.Concat(later[:siblings], w.waiting, later[siblings:])
	}
}

// enqueue queues a section, unless it is queued or written already, and returns its anchor. The first section of a chapter is
// the chapter itself.
func (w *writer) enqueue(s schema, title, key string) string {
	if a, ok := w.anchors[s.node]; ok {
		return a
	}
	a := w.anchor(s.node, title)
	w.waiting = append(w.waiting, section{s, title, key})
	return a
}

func (w *writer) anchor(n *jsontree.Node, title string) string {
	a := Slug(title)
	if w.taken[a] {
		w.problem("two sections are called %q", title)
	}
	w.taken[a] = true
	if n != nil {
		w.anchors[n] = a
	}
	return a
}

func (w *writer) section(s *section) {
	heading, joint := "###", " ·\n"
	if w.documents[s.id] == s.node {
		heading, joint = "##", "\n\n"
	}
	fmt.Fprintf(&w.out, "\n%s %s\n\n", heading, s.title)
	fmt.Fprintf(&w.toc, "%s[%s](#%s)", joint, s.title, Slug(s.title))
	if text := w.description(s.schema); text != "" {
		fmt.Fprintf(&w.out, "%s\n\n", cell(text))
	}
	if kinds := choices(s.node); len(kinds) > 0 {
		w.kinds(s, kinds)
		return
	}
	if one := oneOf(s.node); one != "" {
		fmt.Fprintf(&w.out, "%s\n\n", one)
	}
	w.table(s)
}

// kinds writes the table of a choice: the first key of each kind of object, and what the kind does.
func (w *writer) kinds(s *section, kinds []choice) {
	w.out.WriteString("| begins with | what it does |\n| --- | --- |\n")
	for _, k := range kinds {
		target := w.resolve(schema{k.then, s.id})
		a := w.enqueue(target, fmt.Sprintf("%s `%s`", s.title, k.key), k.key)
		fmt.Fprintf(&w.out, "| [`%s`](#%s) | %s |\n", k.key, a, cell(w.description(target)))
	}
}

// table writes the keys of an object.
func (w *writer) table(s *section) {
	w.out.WriteString("| key | type | default | |\n| --- | --- | --- | --- |\n")
	required := append(texts(s.node.Member("required")), s.key)
	properties := s.node.Member("properties")
	for i, key := range properties.Names {
		p := schema{properties.Items[i], s.id}
		description := w.description(p)
		if description == "" {
			w.problem("%s: %q has no description", s.title, key)
		}
		kind := w.typeOf(p, one, fmt.Sprintf("%s: `%s`", s.title, key))
		fallback := w.fallback(p)
		if slices.Contains(required, key) {
			fallback = "**required**"
		}
		fmt.Fprintf(&w.out, "| %s`%s` | %s | %s | %s |\n", w.mark(s.title, key), key, kind, fallback, cell(description))
	}
}

// mark returns the anchor of a key. A key whose value has a section of the same name needs no anchor.
func (w *writer) mark(title, key string) string {
	a := Slug(title + ": " + key)
	if w.taken[a] {
		return ""
	}
	w.taken[a] = true
	return fmt.Sprintf(`<a id="%s"></a>`, a)
}

// wordList writes the table of the scalars that have a title.
func (w *writer) wordList() {
	if len(w.words) == 0 {
		return
	}
	fmt.Fprintf(&w.out, "\n## Values\n\n| type | |\n| --- | --- |\n")
	w.toc.WriteString("\n\n[Values](#values)\n")
	for _, s := range w.words {
		fmt.Fprintf(&w.out, "| <a id=\"%s\"></a>%s | %s |\n", w.anchors[s.node], text(s.node, "title"), cell(w.description(s)))
	}
}
