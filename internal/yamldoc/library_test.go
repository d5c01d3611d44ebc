package yamldoc

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/lockstep-dev/lockstep/internal/problem"
)

// These tests check files with the library for JSON Schema too, as the reference for this package.

// A library checks files with the JSON Schema library.
type library struct {
	compiled  *jsonschema.Schema
	documents map[string]any // by $id, to find the other keywords of a schema that failed
	required  map[string]bool
}

func newLibrary(texts [][]byte) *library {
	l := &library{documents: map[string]any{}, required: map[string]bool{}}
	c := jsonschema.NewCompiler()
	var first string
	for i, text := range texts {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			panic("yamldoc: schema: " + err.Error())
		}
		id, _ := doc.(map[string]any)["$id"].(string)
		if err := c.AddResource(id, doc); err != nil {
			panic("yamldoc: schema: " + err.Error())
		}
		l.documents[id] = doc
		l.noteRequired(doc)
		if i == 0 {
			first = id
		}
	}
	compiled, err := c.Compile(first)
	if err != nil {
		panic("yamldoc: schema: " + err.Error())
	}
	l.compiled = compiled
	return l
}

// noteRequired collects the keys that some object requires.
func (l *library) noteRequired(schema any) {
	switch v := schema.(type) {
	case map[string]any:
		names, _ := v["required"].([]any)
		for _, name := range names {
			if text, ok := name.(string); ok {
				l.required[text] = true
			}
		}
		for _, item := range v {
			l.noteRequired(item)
		}
	case []any:
		for _, item := range v {
			l.noteRequired(item)
		}
	}
}

// problems returns every place where a file violates the schema.
func (l *library) problems(root *Node) problem.Problems {
	err := l.compiled.Validate(root.Value())
	if err == nil {
		return nil
	}
	c := libraryChecker{library: l, file: "f", root: root}
	c.walk(err.(*jsonschema.ValidationError)) // Validate returns no other type
	return c.problems.Sort()
}

type libraryChecker struct {
	library  *library
	file     string
	root     *Node
	problems problem.Problems
}

// walk reports the leaves of an error, because causes say more than their parents. A schema with a fix of its own is
// reported as a whole.
func (c *libraryChecker) walk(e *jsonschema.ValidationError) {
	if fix, ok := c.subschema(e)["x-fix"].(string); ok && isChoice(e.ErrorKind) {
		name, n := c.locate(e.InstanceLocation)
		for _, key := range libraryWanted(e) {
			if librarySlip(n, key, c.subschema(e)) {
				return
			}
		}
		c.add(n, name+" is not allowed here", c.choiceFix(e, n, fix))
		return
	}
	if k, ok := e.ErrorKind.(*kind.PropertyNames); ok {
		c.name(e, k.Property)
		return
	}
	if len(e.Causes) > 0 {
		for _, cause := range e.Causes {
			c.walk(cause)
		}
		return
	}
	c.leaf(e)
}

// name reports a key with a forbidden name. The causes of such an error have no place, because they are about the
// name alone. The innermost one has the fix.
func (c *libraryChecker) name(e *jsonschema.ValidationError, key string) {
	at := c.key(c.root, key, len(e.InstanceLocation))
	for len(e.Causes) > 0 {
		e = e.Causes[0]
	}
	c.add(at, fmt.Sprintf("key %q is not a valid name", key), libraryFix(c.subschema(e), "give it another name"))
}

// key finds a key at a given depth. Only the depth is known, because the library overwrites the slice with the
// location of such an error.
func (c *libraryChecker) key(n *Node, key string, depth int) *Node {
	if depth == 0 {
		k, _ := n.Entry(key)
		return k
	}
	for _, item := range n.Items {
		if k := c.key(item, key, depth-1); k != nil {
			return k
		}
	}
	if n == c.root {
		return n
	}
	return nil
}

func isChoice(k jsonschema.ErrorKind) bool {
	switch k.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return true
	}
	return false
}

// libraryWanted returns the keys of which a choice requires one.
func libraryWanted(choice *jsonschema.ValidationError) []string {
	var keys []string
	for _, cause := range choice.Causes {
		if r, ok := cause.ErrorKind.(*kind.Required); ok {
			keys = append(keys, r.Missing...)
		}
	}
	return keys
}

// librarySlip reports whether the file has a similar, unknown key in place of a missing one. That one is reported as
// an unknown key, so the missing key is not reported too.
func librarySlip(n *Node, key string, sub map[string]any) bool {
	if open, ok := sub["additionalProperties"].(bool); !ok || open {
		return false
	}
	known := propertiesOf(sub)
	return slices.ContainsFunc(n.Keys, func(k *Node) bool {
		near, ok := problem.Nearest(k.Text, known)
		return ok && near == key && !slices.Contains(known, k.Text)
	})
}

// choiceFix returns the fix for a choice: the nearest of the required keys if one is misspelt, or else the schema's
// own fix.
func (c *libraryChecker) choiceFix(e *jsonschema.ValidationError, n *Node, fix string) string {
	if n.Kind == Map {
		for _, k := range n.Keys {
			if near, ok := problem.Nearest(k.Text, libraryWanted(e)); ok {
				return fmt.Sprintf("did you mean %q where you wrote %q?", near, k.Text)
			}
		}
	}
	return fix
}

func (c *libraryChecker) leaf(e *jsonschema.ValidationError) {
	name, n := c.locate(e.InstanceLocation)
	sub := c.subschema(e)
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, p := range k.Properties {
			at, _ := n.Entry(p)
			c.add(at, fmt.Sprintf("unknown key %q", p), problem.OneOf(p, propertiesOf(sub)))
		}
	case *kind.Required:
		for _, p := range k.Missing {
			if !librarySlip(n, p, sub) {
				c.add(n, fmt.Sprintf("%s has no %q", name, p), libraryFix(sub, "add it: "+c.about(e, p)))
			}
		}
	case *kind.DependentRequired:
		for _, p := range k.Missing {
			c.add(c.entry(n, k.Prop), fmt.Sprintf("%q needs %q beside it", k.Prop, p), "add it: "+c.about(e, p))
		}
	case *kind.Type:
		c.add(n, fmt.Sprintf("%s is %s", name, n.Kind), libraryFix(sub, "make it "+kinds(k.Want)))
	case *kind.Enum:
		var words []string
		for _, w := range k.Want {
			words = append(words, fmt.Sprint(w))
		}
		c.add(n, fmt.Sprintf("%s is %s", name, shown(n)), libraryFix(sub, problem.OneOf(n.Text, words)))
	case *kind.Const:
		c.add(n, fmt.Sprintf("%s is %s", name, shown(n)), libraryFix(sub, fmt.Sprintf("make it %v", k.Want)))
	case *kind.Minimum:
		c.add(n, name+" is "+n.Text, libraryFix(sub, "write a number of at least "+k.Want.RatString()))
	case *kind.Maximum:
		c.add(n, name+" is "+n.Text, libraryFix(sub, "write a number of at most "+k.Want.RatString()))
	case *kind.Pattern:
		c.add(n, fmt.Sprintf("%s is %s", name, shown(n)), libraryFix(sub, "write it so that it matches "+k.Want))
	case *kind.MinLength:
		c.short(e, n, name, k.Want)
	case *kind.MinItems:
		c.short(e, n, name, k.Want)
	case *kind.MinProperties:
		c.short(e, n, name, k.Want)
	default:
		c.add(n, fmt.Sprintf("%s: %v", name, e.ErrorKind), libraryFix(sub, ""))
	}
}

// short reports a text, list or map that is too short. It suggests leaving it out only where it is optional.
func (c *libraryChecker) short(e *jsonschema.ValidationError, n *Node, name string, want int) {
	fix := "fill it in"
	if want > 1 {
		fix = fmt.Sprintf("put at least %d in it", want)
	}
	if last := len(e.InstanceLocation) - 1; last < 0 || !c.library.required[e.InstanceLocation[last]] {
		fix += ", or leave it out"
	}
	c.add(n, name+" is too short", libraryFix(c.subschema(e), fix))
}

func (c *libraryChecker) add(n *Node, what, fix string) {
	c.problems = append(c.problems, problem.Problem{File: c.file, Line: n.Line, Column: n.Column, What: what, Fix: fix})
}

// locate follows a location into the file. It returns the name of the place, `"status"` or `item 3 of "steps"`, and
// the value there.
func (c *libraryChecker) locate(location []string) (string, *Node) {
	n, name, list := c.root, "the file", "the list"
	for _, step := range location {
		if n.Kind == List {
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(n.Items) {
				break
			}
			n, name = n.Items[i], fmt.Sprintf("item %d of %s", i+1, list)
			continue
		}
		v := n.Get(step)
		if v == nil {
			break
		}
		n, name = v, strconv.Quote(step)
		list = name
	}
	return name, n
}

func (c *libraryChecker) entry(n *Node, key string) *Node {
	if k, _ := n.Entry(key); k != nil {
		return k
	}
	return n
}

// subschema returns the schema whose keyword failed.
func (c *libraryChecker) subschema(e *jsonschema.ValidationError) map[string]any {
	return c.library.resolve(e.SchemaURL, "")
}

// resolve returns the schema that a reference names. The reference may be relative to base.
func (l *library) resolve(ref, base string) map[string]any {
	id, pointer, _ := strings.Cut(ref, "#")
	if id == "" || !strings.Contains(id, ":") {
		dir, _, _ := strings.Cut(base, "#")
		if id == "" {
			id = dir
		} else {
			id, _ = url.JoinPath(dir, "..", id)
		}
	}
	at := l.documents[id]
	for _, step := range strings.Split(pointer, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~", "%24", "$").Replace(step)
		switch v := at.(type) {
		case map[string]any:
			at = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(v) {
				return nil
			}
			at = v[i]
		}
	}
	m, _ := at.(map[string]any)
	return m
}

// about returns the name of a property with its description.
func (c *libraryChecker) about(e *jsonschema.ValidationError, property string) string {
	sub := c.subschema(e)
	props, _ := sub["properties"].(map[string]any)
	p, _ := props[property].(map[string]any)
	if text, ok := p["description"].(string); ok {
		return property + ", " + lowerFirst(strings.TrimSuffix(text, "."))
	}
	if ref, ok := p["$ref"].(string); ok {
		if text, ok := c.library.resolve(ref, e.SchemaURL)["description"].(string); ok {
			return property + ", " + lowerFirst(strings.TrimSuffix(text, "."))
		}
	}
	return property
}

func propertiesOf(sub map[string]any) []string {
	props, _ := sub["properties"].(map[string]any)
	names := make([]string, 0, len(props))
	for name := range props {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func libraryFix(sub map[string]any, otherwise string) string {
	if fix, ok := sub["x-fix"].(string); ok {
		return fix
	}
	return otherwise
}
