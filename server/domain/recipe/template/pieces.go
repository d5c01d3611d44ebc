package template

import "errors"

// literal is text that is rendered unchanged.
type literal string

func (p literal) render(r *renderer, _ *scope) error {
	return r.write(string(p))
}

func (literal) visit(func(string), *names) {}

// output is the value of an expression.
type output struct{ value expression }

func (p output) render(r *renderer, s *scope) error {
	value, err := s.value(p.value)
	if err == nil {
		err = r.work.look(size(value))
	}
	if err != nil {
		return err
	}
	return r.write(show(value))
}

func (p output) visit(use func(string), bound *names) { p.value.visit(use, bound) }

// choice is an if tag with its branches. The condition of else is nil.
type choice []branch

type branch struct {
	condition expression
	pieces    []piece
}

func (p choice) render(r *renderer, s *scope) error {
	for _, b := range p {
		if b.condition != nil {
			value, err := s.value(b.condition)
			if err != nil {
				return err
			}
			if !truth(value) {
				continue
			}
		}
		return r.pieces(b.pieces, s)
	}
	return nil
}

func (p choice) visit(use func(string), bound *names) {
	for _, b := range p {
		if b.condition != nil {
			b.condition.visit(use, bound)
		}
		visitAll(b.pieces, use, bound)
	}
}

// loop is a for tag.
type loop struct {
	name   string
	list   expression
	pieces []piece
}

func (p *loop) render(r *renderer, s *scope) error {
	value, err := s.value(p.list)
	if err != nil {
		return err
	}
	list, ok := value.([]any)
	if !ok {
		return errors.New("for: not a list")
	}
	for _, item := range list {
		if err := r.work.piece(1); err != nil { // counts even if the loop is empty
			return err
		}
		inner := s.inner()
		inner.values[p.name] = item
		if err := r.pieces(p.pieces, inner); err != nil {
			return err
		}
	}
	return nil
}

func (p *loop) visit(use func(string), bound *names) {
	p.list.visit(use, bound)
	visitAll(p.pieces, use, bound, p.name)
}

// assignment is a set tag.
type assignment struct {
	name  string
	value expression
}

func (p *assignment) render(_ *renderer, s *scope) error {
	value, err := s.value(p.value)
	if err == nil {
		s.values[p.name] = value
	}
	return err
}

func (p *assignment) visit(use func(string), bound *names) { p.value.visit(use, bound) }

// inclusion is an include tag.
type inclusion struct{ name expression }

func (p inclusion) render(r *renderer, s *scope) error { return r.include(p.name, s) }

func (p inclusion) visit(use func(string), bound *names) { p.name.visit(use, bound) }

// block is a part that an extending template can replace.
type block struct {
	name   string
	pieces []piece
}

func (p *block) render(r *renderer, s *scope) error {
	if replaced := r.blocks[p.name]; replaced != nil {
		return r.pieces(replaced.pieces, s.inner())
	}
	return r.pieces(p.pieces, s.inner())
}

func (p *block) visit(use func(string), bound *names) { visitAll(p.pieces, use, bound) }
