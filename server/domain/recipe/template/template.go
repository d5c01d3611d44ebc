// Package template renders the texts of recipes: a part of the Jinja language, as docs/behaviour/goose-api.md bounds it (GA 11.2,
// decisions G19 and G20).
//
// A text is parsed into a tree of pieces. Rendering it walks the tree with the values of variables, all of which must be
// defined. A [Work] bounds what that can cost, and ends it with its context.
package template

import (
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

// Render returns the text with the values of its variables. Load reads a file that it names.
func (t *Template) Render(w *Work, variables map[string]string, load func(name string) (string, error)) (string, error) {
	r := &renderer{work: w, load: load, blocks: map[string]*block{}}
	s := &scope{values: map[string]any{}, work: w}
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
	work    *Work
	load    func(name string) (string, error)
	out     strings.Builder
	blocks  map[string]*block // those of the youngest descendant
	nesting int
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
	value, err := s.value(name)
	if err == nil {
		err = r.work.file()
	}
	if err != nil {
		return err
	}
	path := show(value)
	text, err := r.load(path)
	if err != nil {
		return fmt.Errorf("template %q: %w", path, err)
	}
	t, err := r.work.Parse(text)
	if err != nil {
		return fmt.Errorf("template %q: %w", path, err)
	}
	return r.template(t, s)
}

func (r *renderer) pieces(pieces []piece, s *scope) error {
	if r.nesting++; r.nesting > maxDepth {
		return errTooDeep
	}
	defer func() { r.nesting-- }()
	for _, p := range pieces {
		if err := r.work.piece(1); err != nil {
			return err
		}
		if err := p.render(r, s); err != nil {
			return err
		}
	}
	return nil
}

func (r *renderer) write(text string) error {
	r.out.WriteString(text)
	return r.work.write(len(text))
}

// A scope has the variables that are seen at one place.
type scope struct {
	values map[string]any
	outer  *scope
	work   *Work
}

// value returns the value of an expression, which counts as one look.
func (s *scope) value(e expression) (any, error) {
	if err := s.work.look(1); err != nil {
		return nil, err
	}
	return e.eval(s)
}

func (s *scope) valuesOf(parts []expression) ([]any, error) {
	values := make([]any, len(parts))
	for i, part := range parts {
		var err error
		if values[i], err = s.value(part); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func (s *scope) find(name string) (value any, found bool, err error) {
	for at := s; at != nil && err == nil; at = at.outer {
		if value, found = at.values[name]; found {
			return value, true, nil
		}
		err = s.work.look(1)
	}
	return nil, false, err
}

func (s *scope) inner() *scope { return &scope{values: map[string]any{}, outer: s, work: s.work} }
