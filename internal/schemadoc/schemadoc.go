// Package schemadoc generates a Markdown reference from the JSON Schemas of the files that users write.
//
// Each file is a chapter. Each kind of object in it is a section with a table of its keys, in the order of the keys.
// A schema that several places share is written once and linked: an object as a section, a scalar with a title as a
// row of the table "Values" at the end.
//
// In addition to the keywords of JSON Schema it reads "x-default": the description of a default that is not a
// constant.
package schemadoc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A File is a kind of file that a schema describes.
type File struct {
	Title  string // the chapter's title
	Schema []byte
}

// Markdown returns the reference. The schemas may refer to each other. Errors are a key without a description, a
// reference without a target, and two sections with the same name.
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

// A schema is a node of a document with the document's id, which its references are relative to.
type schema struct {
	node *jsontree.Node
	id   string
}

// A section is still to be written. It describes an object with keys, or a choice among such objects.
type section struct {
	schema
	title string
	keys  []string // of a choice: the required keys that select it
}

// A writer writes the reference.
type writer struct {
	documents map[string]*jsontree.Node // by $id
	out       strings.Builder
	toc       strings.Builder
	anchors   map[*jsontree.Node]string // of the sections that are written or queued
	taken     map[string]bool           // the anchors in use
	waiting   []section
	words     []schema // scalars with a title, in order of appearance
	problems  []string
}

func (w *writer) problem(format string, args ...any) {
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// chapter writes everything that a file's schema uses and that no earlier chapter has written.
func (w *writer) chapter(title string, root schema) {
	w.waiting = nil
	if items := root.node.Member("items"); items != nil { // the chapter of a list describes its elements
		fmt.Fprintf(&w.out, "\n## %s\n\n%s\n", title, cell(w.description(root)))
		fmt.Fprintf(&w.toc, "\n\n[%s](#%s)", title, w.anchor(nil, title))
		w.typeOf(schema{items, root.id}, one, title)
	} else {
		w.enqueue(root, title, nil)
	}
	for len(w.waiting) > 0 {
		next := w.waiting[0]
		w.waiting = w.waiting[1:]
		later := w.waiting
		w.waiting = nil
		w.section(&next)
		// The sections that a section links to come directly after it. The members of a choice stay together.
		siblings := 0
		for siblings < len(later) && next.keys != nil && later[siblings].keys != nil {
			siblings++
		}
		w.waiting = slices.Concat(later[:siblings], w.waiting, later[siblings:])
	}
}

// enqueue queues a section, unless it is already queued or written, and returns its anchor. The first section of a
// chapter is the chapter itself.
func (w *writer) enqueue(s schema, title string, keys []string) string {
	if a, ok := w.anchors[s.node]; ok {
		return a
	}
	a := w.anchor(s.node, title)
	w.waiting = append(w.waiting, section{s, title, keys})
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

// kinds writes the table of a choice: the first key of each kind of object, and what that kind does.
func (w *writer) kinds(s *section, kinds []choice) {
	w.out.WriteString("| begins with | what it does |\n| --- | --- |\n")
	for _, k := range kinds {
		target := w.resolve(schema{k.then, s.id})
		name := "`" + strings.Join(k.keys, "`, `") + "`"
		a := w.enqueue(target, s.title+" "+name, k.keys)
		fmt.Fprintf(&w.out, "| [%s](#%s) | %s |\n", name, a, cell(w.description(target)))
	}
}

// table writes the keys of an object.
func (w *writer) table(s *section) {
	w.out.WriteString("| key | type | default | |\n| --- | --- | --- | --- |\n")
	required := append(texts(s.node.Member("required")), s.keys...)
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

// mark returns the anchor of a key. A key needs none if its value has a section with the same name.
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
