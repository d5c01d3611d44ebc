// Package template renders the texts of recipes. It supports the part of the Jinja language that
// docs/behaviour/goose-api.md specifies (GA 11.2, decisions G19 and G20).
//
// A text is parsed into a tree of pieces. Rendering walks the tree with the values of the variables, all of which
// must be defined. A [Work] limits the cost, and stops when its context ends.
package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Template is a parsed text.
type Template struct {
	pieces  []piece
	extends expression // nil if it extends no other template
}

// A piece is a part of a template that renders separately.
type piece interface {
	render(r *renderer, scope *scope) error
	// visit calls a function with each variable that the piece uses, except those that the template sets itself.
	visit(use func(name string), bound *names)
}

// names are the variables that a template has set itself.
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

// Variables returns the names of the variables that the text uses, sorted. It does not look into included files.
func (t *Template) Variables() []string {
	used := map[string]bool{}
	use := func(name string) { used[name] = true }
	visitAll(t.pieces, use, nil)
	if t.extends != nil {
		t.extends.visit(use, nil)
	}
	return slices.Sorted(maps.Keys(used))
}

// visitAll visits pieces in order, because each may set variables for the next.
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

// Render renders the template with the values of its variables. load reads the files that it names.
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

// A renderer renders one text.
type renderer struct {
	work    *Work
	load    func(name string) (string, error)
	out     strings.Builder
	blocks  map[string]*block // those of the most derived template
	nesting int
}

// template renders a template. One that extends another only adds its blocks, and then renders the other one.
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

// A scope has the variables that are visible at one place.
type scope struct {
	values map[string]any
	outer  *scope
	work   *Work
}

// value returns the value of an expression. It counts as one look.
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
