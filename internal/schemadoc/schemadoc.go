// Package schemadoc writes a reference for people of the JSON Schemas of files.
//
// Each file is a chapter, and each kind of object in it a section with a table of its keys. Sections come in the order in
// which a reader meets them. A schema that many places share is told once, and linked to: an object is a section, a
// scalar with a title a row among the words at the end.
//
// Beside the keywords of JSON Schema it knows "x-default", which says in words what a default is that is no value.
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

// Markdown returns the reference. The schemas may refer to each other. A key that nothing describes, a reference that leads
// nowhere and two sections of one name are errors.
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

// A section is an object with keys, or a choice among such objects, that waits to be written.
type section struct {
	schema
	title string
	key   string // of a choice: the key that leads here, which is always there
}

// A writer writes the reference.
type writer struct {
	documents map[string]*jsontree.Node // by $id
	out       strings.Builder
	toc       strings.Builder
	anchors   map[*jsontree.Node]string // of sections that are written or wait
	taken     map[string]bool           // anchors
	waiting   []section
	words     []schema // scalars with a title that were met
	problems  []string
}

func (w *writer) problem(format string, args ...any) {
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// chapter writes all that a file's schema leads to, and no chapter before has told.
func (w *writer) chapter(title string, root schema) {
	w.waiting = nil
	if items := root.node.Member("items"); items != nil { // a list: what is told is its elements
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
		// What a section leads to follows it. The members of a choice stay together.
		siblings := 0
		for siblings < len(later) && next.key != "" && later[siblings].key != "" {
			siblings++
		}
		w.waiting = slices.Concat(later[:siblings], w.waiting, later[siblings:])
	}
}

// enqueue has a section written, once, and returns its anchor. The first one of a chapter is the chapter.
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

// kinds writes the table of a choice: which key makes an object what.
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

// mark is the target of links to a key. One whose value has a section of its own by that name needs none.
func (w *writer) mark(title, key string) string {
	a := Slug(title + ": " + key)
	if w.taken[a] {
		return ""
	}
	w.taken[a] = true
	return fmt.Sprintf(`<a id="%s"></a>`, a)
}

// wordList writes the scalars that have names.
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
