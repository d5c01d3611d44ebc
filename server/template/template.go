// Package template renders the texts of recipes: a part of the Jinja language, as docs/decisions.md bounds it (GA 11.2,
// decisions G19 and G20).
//
// A text is parsed into a tree of pieces. Rendering it walks the tree with the values of variables, all of which must be
// defined. What a text can cost is bounded: the depth of includes, the steps, and the size of what comes out.
package template

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Template is a text that was parsed.
type Template struct {
	pieces  []piece
	extends expression // nil if it stands alone
}

// A piece is a part of a text that is rendered by itself.
type piece interface {
	render(r *renderer, scope *scope) error
	// visit calls a function with each variable that the piece uses, but those that it sets itself.
	visit(use func(name string), bound *names)
}

// names are those that a text has set itself.
type names struct {
	set   map[string]bool
	outer *names
}

func (n *names) has(name string) bool {
	for ; n != nil; n = n.outer {
		if n.set[name] {
			return true
		}
	}
	return false
}

// Variables returns the names of the variables that the text uses, sorted. Those of files that it includes do not count.
func (t *Template) Variables() []string {
	used := map[string]bool{}
	use := func(name string) { used[name] = true }
	visitAll(t.pieces, use, nil)
	if t.extends != nil {
		t.extends.visit(use, nil)
	}
	return slices.Sorted(maps.Keys(used))
}

// visitAll visits pieces in their order, in which they may set variables.
func visitAll(pieces []piece, use func(string), outer *names, set ...string) {
	bound := &names{set: map[string]bool{}, outer: outer}
	for _, name := range set {
		bound.set[name] = true
	}
	for _, p := range pieces {
		p.visit(use, bound)
		if s, ok := p.(*assignment); ok {
			bound.set[s.name] = true
		}
	}
}

// Bounds of one rendering.
const (
	maxIncludes = 100
	maxNesting  = 200
	maxSteps    = 100_000
	maxBytes    = 10 << 20
	maxLooks    = 10_000_000 // at the characters and items of values
)

// Render returns the text with the values of its variables. Load reads a file that it names.
func (t *Template) Render(variables map[string]string, load func(name string) (string, error)) (string, error) {
	r := &renderer{load: load, blocks: map[string]*block{}}
	s := &scope{values: map[string]any{}, looks: new(int)}
	for name, value := range variables {
		s.values[name] = value
	}
	if err := r.template(t, s); err != nil {
		return "", err
	}
	return r.out.String(), nil
}

// A renderer writes one text.
type renderer struct {
	load     func(name string) (string, error)
	out      strings.Builder
	blocks   map[string]*block // those of the youngest descendant
	includes int
	steps    int
	nesting  int
}

// template renders a text. One that extends another one only gives it its blocks.
func (r *renderer) template(t *Template, s *scope) error {
	if t.extends == nil {
		return r.pieces(t.pieces, s)
	}
	for _, p := range t.pieces {
		switch p := p.(type) {
		case *block:
			if r.blocks[p.name] == nil {
				r.blocks[p.name] = p
			}
		case *assignment:
			if err := p.render(r, s); err != nil {
				return err
			}
		}
	}
	return r.include(t.extends, s)
}

// include renders the text of a file in place.
func (r *renderer) include(name expression, s *scope) error {
	value, err := name.eval(s)
	if err != nil {
		return err
	}
	if r.includes++; r.includes > maxIncludes {
		return errors.New("the template includes too many files")
	}
	path := show(value)
	text, err := r.load(path)
	if err != nil {
		return fmt.Errorf("template %q: %w", path, err)
	}
	t, err := Parse(text)
	if err != nil {
		return fmt.Errorf("template %q: %w", path, err)
	}
	return r.template(t, s)
}

func (r *renderer) pieces(pieces []piece, s *scope) error {
	if r.nesting++; r.nesting > maxNesting {
		return errors.New("the template is nested too deeply")
	}
	defer func() { r.nesting-- }()
	for _, p := range pieces {
		if r.steps++; r.steps > maxSteps {
			return errors.New("the template takes too many steps")
		}
		if err := p.render(r, s); err != nil {
			return err
		}
		if r.out.Len() > maxBytes {
			return errors.New("the text becomes too large")
		}
	}
	return nil
}

// A scope has the variables that are seen at one place.
type scope struct {
	values map[string]any
	outer  *scope
	looks  *int // of the whole rendering
}

// look counts what an expression looks at.
func (s *scope) look(values ...any) error {
	for _, value := range values {
		*s.looks += size(value)
	}
	if *s.looks > maxLooks {
		return errors.New("the expressions take too long")
	}
	return nil
}

func (s *scope) find(name string) (any, bool) {
	for ; s != nil; s = s.outer {
		if value, ok := s.values[name]; ok {
			return value, true
		}
	}
	return nil, false
}

func (s *scope) inner() *scope { return &scope{values: map[string]any{}, outer: s, looks: s.looks} }
