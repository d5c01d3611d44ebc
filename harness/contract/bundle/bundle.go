// Package bundle joins an OpenAPI document in several files into one text, and knows the place of each of its lines.
//
// A reference to a schema, response, parameter, example, request body, header, security scheme, link or callback of
// another file becomes a reference to a component of the whole. A reference to anything else, such as a path item, is
// replaced by what it refers to. References of the other file are relative to that file (RFC 3986 §5.2; OpenAPI 3.1.1,
// 4.6).
package bundle

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A Bundle is a document as one text in JSON.
type Bundle struct {
	Text   []byte
	Places []problem.Place // for each line of the text
}

// Limits of a document. They are far beyond what people write.
const (
	maxFiles = 1000
	maxBytes = 64 << 20
	maxNodes = 2_000_000 // of the whole
)

var otherFile = regexp.MustCompile(`\$ref["']?[ \t]*:[ \t]*["']?[^#"'\s]`)

// Needed reports whether a document may refer to other files.
func Needed(data []byte) bool { return otherFile.Match(data) }

// Read joins a document with the files that it refers to. open reads a file by its path, which is relative in the same way
// as that of the document.
func Read(file string, data []byte, open func(file string) ([]byte, error)) (*Bundle, problem.Problems) {
	b := &bundler{open: open, files: map[string]*source{}, names: map[target]string{}, used: map[string]bool{}, added: map[string]*yamldoc.Node{}, places: map[*yamldoc.Node]problem.Place{}, inlined: map[target]bool{}}
	b.root = b.parse(path.Clean(file), data)
	if b.root == nil {
		return nil, b.problems
	}
	for section, all := range b.root.node.Get("components").Entries() {
		for name := range all.Entries() {
			b.used[section.Text+"/"+name.Text] = true
		}
	}
	whole := b.copy(b.root.node, "", scope{b.root, 0})
	if len(b.problems) > 0 {
		return nil, b.problems.Sort()
	}
	b.addComponents(whole)
	w := &writer{places: b.places}
	w.value(whole, 0)
	return &Bundle{w.text, w.lines}, nil
}

// A source is one file of a document.
type source struct {
	file string
	node *yamldoc.Node
}

// A target is what a reference leads to. section is the kind of component that it becomes.
type target struct{ file, pointer, section string }

// A scope is the file of the nodes that are being copied, and the line of the root document that leads to it.
type scope struct {
	*source
	rootLine int
}

type bundler struct {
	open     func(file string) ([]byte, error)
	root     *source
	files    map[string]*source
	bytes    int
	nodes    int
	names    map[target]string
	used     map[string]bool          // "schemas/Name"
	added    map[string]*yamldoc.Node // the new components, by section
	order    []string                 // of the sections
	inlined  map[target]bool          // what is being copied in place of references
	places   map[*yamldoc.Node]problem.Place
	problems problem.Problems
}

func (b *bundler) problem(in scope, n *yamldoc.Node, what, fix string) {
	b.problems = append(b.problems, problem.Problem{File: in.file, Line: n.Line, Column: n.Column, What: what, Fix: fix})
}

// parse reads a file. It returns nil if the file has mistakes.
func (b *bundler) parse(file string, data []byte) *source {
	doc := yamldoc.Read("", data)
	mistakes := slices.Concat(doc.Mistakes, doc.Unusual)
	for _, p := range mistakes {
		p.File = file
		b.problems = append(b.problems, p)
	}
	if doc.Root == nil || len(mistakes) > 0 {
		if len(mistakes) == 0 {
			b.problems = append(b.problems, problem.Problem{File: file, What: "the file is empty"})
		}
		b.files[file] = nil
		return nil
	}
	s := &source{file, doc.Root}
	b.files[file] = s
	return s
}

// load returns a file that a reference names. It returns nil if that is not possible, and reports it once.
func (b *bundler) load(file string, in scope, ref *yamldoc.Node) *source {
	if s, ok := b.files[file]; ok {
		return s
	}
	if len(b.files) >= maxFiles {
		b.problem(in, ref, fmt.Sprintf("the document has more than %d files", maxFiles), "join them with a bundler: npx @redocly/cli bundle openapi.yaml -o whole.yaml")
		b.files[file] = nil
		return nil
	}
	data, err := b.open(file)
	if b.bytes += len(data); err == nil && b.bytes > maxBytes {
		err = fmt.Errorf("the files of the document have more than %d bytes", maxBytes)
	}
	if err != nil {
		b.problem(in, ref, "$ref points to "+problem.Quote(ref.Text)+": "+err.Error(), "write the path of a file, relative to "+path.Base(in.file))
		b.files[file] = nil
		return nil
	}
	return b.parse(file, data)
}

// sections are the kinds of components.
var sections = []string{"schemas", "responses", "parameters", "examples", "requestBodies", "headers", "securitySchemes", "links", "callbacks"}

// copy returns a copy of a node in which references to other files are replaced. kind says what the node is: one of the
// sections, "paths" for a path item, "x-events" for this extension or x-messages, "events" for one event, "map of" or
// "list of" these, "verbatim" for a value of the API, or "".
func (b *bundler) copy(n *yamldoc.Node, kind string, in scope) *yamldoc.Node {
	if b.nodes++; b.nodes == maxNodes {
		b.problem(in, n, fmt.Sprintf("the document has more than %d values when its files are joined", maxNodes), "refer to components, which are joined once")
	}
	if b.nodes >= maxNodes {
		return n
	}
	if ref := n.Get("$ref"); ref != nil && ref.Kind == yamldoc.String && kind != "verbatim" {
		return b.refer(n, ref, kind, in)
	}
	out := b.like(n, in)
	for i, item := range n.Items {
		if n.Kind == yamldoc.Map {
			out.Keys = append(out.Keys, b.like(n.Keys[i], in))
			out.Items = append(out.Items, b.copy(item, memberKind(kind, n.Keys[i].Text, item), in))
		} else {
			out.Items = append(out.Items, b.copy(item, elementKind(kind), in))
		}
	}
	if kind == "discriminator" {
		b.mapping(out.Get("mapping"), in)
	}
	return out
}

// like returns a copy of a node without its items.
func (b *bundler) like(n *yamldoc.Node, in scope) *yamldoc.Node {
	out := &yamldoc.Node{Kind: n.Kind, Text: n.Text, Line: n.Line, Column: n.Column}
	rootLine := in.rootLine
	if in.source == b.root {
		rootLine = n.Line
	}
	b.places[out] = problem.Place{File: in.file, Line: n.Line, Column: n.Column, RootLine: rootLine}
	return out
}

func elementKind(kind string) string {
	if of, ok := strings.CutPrefix(kind, "list of "); ok || kind == "verbatim" {
		return of
	}
	return ""
}

// memberKind returns what a member of an object is.
func memberKind(kind, key string, value *yamldoc.Node) string {
	if of, ok := strings.CutPrefix(kind, "map of "); ok {
		return of
	}
	if kind == "callbacks" {
		return "paths"
	}
	if kind == "x-events" {
		return "map of events" // by names of the API
	}
	if kind == "verbatim" || strings.HasPrefix(key, "x-") {
		if kind != "verbatim" && (key == "x-events" || key == "x-messages") {
			return "x-events"
		}
		return "verbatim"
	}
	switch key {
	case "example", "default", "enum", "const", "value":
		return "verbatim"
	case "examples":
		if value.Kind != yamldoc.Map {
			return "verbatim"
		}
		return "map of examples"
	case "schema", "items", "not", "additionalProperties", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "itemSchema":
		return "schemas"
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return "list of schemas"
	case "properties", "patternProperties", "dependentSchemas", "$defs", "schemas":
		return "map of schemas"
	case "parameters":
		if value.Kind == yamldoc.List {
			return "list of parameters"
		}
		return "map of parameters"
	case "requestBody":
		return "requestBodies"
	case "paths", "webhooks", "pathItems":
		return "map of paths"
	case "responses", "requestBodies", "headers", "securitySchemes", "links", "callbacks":
		return "map of " + key
	case "discriminator":
		return key
	default:
		return ""
	}
}

// refer returns what a node with a reference becomes.
func (b *bundler) refer(n, ref *yamldoc.Node, kind string, in scope) *yamldoc.Node {
	to, ok := b.resolve(ref, kind, in)
	if !ok || to.file == b.root.file && in.source == b.root && strings.HasPrefix(ref.Text, "#") {
		return b.siblings(n, in, ref.Text) // as it is, or after a mistake
	}
	deeper := in
	if in.source == b.root {
		deeper.rootLine = ref.Line
	}
	if slices.Contains(sections, kind) {
		return b.siblings(n, in, b.component(to, ref, deeper))
	}
	if b.inlined[to] {
		b.problem(in, ref, "$ref points to "+problem.Quote(ref.Text)+", which contains it", "make it a component, which may refer to itself")
		return n
	}
	from, value := b.find(to, ref, deeper)
	if value == nil {
		return n
	}
	b.inlined[to] = true
	out := b.copy(value, kind, scope{from, deeper.rootLine})
	delete(b.inlined, to)
	for i, key := range n.Keys { // a path item may have members beside the reference
		if key.Text != "$ref" && out.Kind == yamldoc.Map && out.Get(key.Text) == nil {
			out.Keys = append(out.Keys, b.like(key, in))
			out.Items = append(out.Items, b.copy(n.Items[i], memberKind(kind, key.Text, n.Items[i]), in))
		}
	}
	return out
}

// siblings copies a node with another reference.
func (b *bundler) siblings(n *yamldoc.Node, in scope, ref string) *yamldoc.Node {
	out := b.like(n, in)
	for i, key := range n.Keys {
		out.Keys = append(out.Keys, b.like(key, in))
		if key.Text == "$ref" {
			value := b.like(n.Items[i], in)
			value.Text = ref
			out.Items = append(out.Items, value)
		} else {
			out.Items = append(out.Items, b.copy(n.Items[i], memberKind("", key.Text, n.Items[i]), in))
		}
	}
	return out
}

// mapping replaces the references of a discriminator, which may also be the names of schemas.
func (b *bundler) mapping(n *yamldoc.Node, in scope) {
	if n == nil {
		return
	}
	for _, value := range n.Items {
		if value.Kind != yamldoc.String || !strings.ContainsAny(value.Text, "/#.") || in.source == b.root && strings.HasPrefix(value.Text, "#") {
			continue
		}
		if to, ok := b.resolve(value, "schemas", in); ok {
			deeper := in
			if in.source == b.root {
				deeper.rootLine = value.Line
			}
			value.Text = b.component(to, value, deeper)
		}
	}
}

// resolve returns what a reference leads to.
func (b *bundler) resolve(ref *yamldoc.Node, kind string, in scope) (to target, ok bool) {
	name, fragment, _ := strings.Cut(ref.Text, "#")
	plain, err := url.PathUnescape(name)
	pointer, fault := url.PathUnescape(fragment)
	fix := "write the path of a file, relative to " + path.Base(in.file) + ", and after # the place in it: ./common.yaml#/components/schemas/Name"
	switch {
	case err != nil || fault != nil:
		b.problem(in, ref, "$ref "+problem.Quote(ref.Text)+" is not a URI reference", fix)
	case strings.Contains(plain, "://"):
		b.problem(in, ref, "$ref points to "+problem.Quote(ref.Text)+", which is not a file: a contract is read from files only", "download it, and write its path")
	case strings.HasPrefix(plain, "/") || strings.ContainsAny(plain, `\:`):
		b.problem(in, ref, "$ref points to "+problem.Quote(ref.Text)+", which is not a relative path", fix)
	case plain == "":
		return target{in.file, pointer, kind}, true
	default:
		return target{path.Join(path.Dir(in.file), plain), pointer, kind}, true
	}
	return to, false
}

// find returns the value that a reference leads to, and its file. It returns nil if there is none.
func (b *bundler) find(to target, ref *yamldoc.Node, in scope) (*source, *yamldoc.Node) {
	from := b.load(to.file, in, ref)
	if from == nil {
		return nil, nil
	}
	value := from.node
	if to.pointer != "" && !strings.HasPrefix(to.pointer, "/") {
		value = anchored(from.node, to.pointer)
	} else {
		for _, token := range strings.Split(to.pointer, "/")[1:] {
			_, value = value.Child(jsontree.UnescapeName(token))
		}
	}
	if value == nil {
		b.problem(in, ref, fmt.Sprintf("$ref points to %s, but %s has no such place", problem.Quote(ref.Text), to.file), "write a place that exists")
		return nil, nil
	}
	return from, value
}

// anchored returns the schema with an $anchor (JSON Schema 2020-12 core, 8.2.2).
func anchored(n *yamldoc.Node, name string) *yamldoc.Node {
	if n.Get("$anchor").Str() == name {
		return n
	}
	for _, item := range n.Items {
		if found := anchored(item, name); found != nil {
			return found
		}
	}
	return nil
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// component returns the reference to the component that a value of another file becomes.
func (b *bundler) component(to target, ref *yamldoc.Node, in scope) string {
	if own := strings.Split(to.pointer, "/"); to.file == b.root.file && len(own) == 4 && own[1] == "components" && own[2] == to.section {
		return "#" + to.pointer
	}
	name, ok := b.names[to]
	if !ok {
		name = b.name(to)
		b.names[to] = name
		from, value := b.find(to, ref, in)
		if value == nil {
			return ref.Text
		}
		if b.added[to.section] == nil {
			b.added[to.section] = &yamldoc.Node{Kind: yamldoc.Map}
			b.order = append(b.order, to.section)
		}
		deeper := scope{from, in.rootLine}
		key := b.like(value, deeper)
		key.Kind, key.Text = yamldoc.String, name
		copied := b.copy(value, to.section, deeper)
		all := b.added[to.section]
		all.Keys, all.Items = append(all.Keys, key), append(all.Items, copied)
	}
	return "#/components/" + to.section + "/" + name
}

// name returns a name for a component that no other one has: that of the place, or of the file.
func (b *bundler) name(to target) string {
	name := path.Base(to.pointer)
	if to.pointer == "" {
		name = strings.TrimSuffix(path.Base(to.file), path.Ext(to.file))
	}
	name = strings.Trim(notInNames.ReplaceAllString(jsontree.UnescapeName(name), "-"), "-")
	unused := name
	for n := 2; unused == "" || b.used[to.section+"/"+unused]; n++ {
		unused = name + "-" + strconv.Itoa(n)
	}
	b.used[to.section+"/"+unused] = true
	return unused
}

// addComponents adds the new components to the document.
func (b *bundler) addComponents(whole *yamldoc.Node) {
	member := func(n *yamldoc.Node, name string) *yamldoc.Node {
		if n.Get(name) == nil {
			n.Keys = append(n.Keys, &yamldoc.Node{Kind: yamldoc.String, Text: name})
			n.Items = append(n.Items, &yamldoc.Node{Kind: yamldoc.Map})
		}
		return n.Get(name)
	}
	for _, section := range b.order {
		all := member(member(whole, "components"), section)
		all.Keys, all.Items = append(all.Keys, b.added[section].Keys...), append(all.Items, b.added[section].Items...)
	}
}
