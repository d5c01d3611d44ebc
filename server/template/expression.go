package template

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An expression has a value: a string, a bool, an int64, or a list ([]any).
type expression interface {
	eval(s *scope) (any, error)
	visit(use func(name string), bound *names)
}

type (
	constant  struct{ value any }
	variable  struct{ name string }
	list      []expression
	negation  struct{ of expression }
	operation struct {
		operator    string
		left, right expression
	}
	conditional struct{ condition, yes, no expression }
	filtered    struct {
		value  expression
		filter string
		args   []expression
	}
	defined struct {
		of  expression
		not bool
	}
)

func (e constant) eval(*scope) (any, error)   { return e.value, nil }
func (e constant) visit(func(string), *names) {}

func (e variable) eval(s *scope) (any, error) {
	value, ok := s.find(e.name)
	if !ok {
		return nil, fmt.Errorf("undefined variable %s", e.name)
	}
	return value, nil
}

func (e variable) visit(use func(string), bound *names) {
	if !bound.has(e.name) {
		use(e.name)
	}
}

func (e list) eval(s *scope) (any, error) {
	values := make([]any, len(e))
	for i, item := range e {
		var err error
		if values[i], err = item.eval(s); err != nil {
			return nil, err
		}
		if _, nested := values[i].([]any); nested {
			return nil, errors.New("a list cannot hold lists")
		}
	}
	return values, nil
}

func (e list) visit(use func(string), bound *names) {
	for _, item := range e {
		item.visit(use, bound)
	}
}

func (e negation) eval(s *scope) (any, error) {
	value, err := e.of.eval(s)
	return !truth(value), err
}

func (e negation) visit(use func(string), bound *names) { e.of.visit(use, bound) }

func (e operation) eval(s *scope) (any, error) {
	left, err := e.left.eval(s)
	if err != nil {
		return nil, err
	}
	if e.operator == "and" && !truth(left) || e.operator == "or" && truth(left) {
		return left, nil
	}
	right, err := e.right.eval(s)
	if err != nil {
		return nil, err
	}
	if err := s.look(left, right); err != nil {
		return nil, err
	}
	switch e.operator {
	case "and", "or":
		return right, nil
	case "~":
		return bounded(show(left) + show(right))
	case "==":
		return equal(left, right), nil
	case "!=":
		return !equal(left, right), nil
	case "in":
		return contains(right, left)
	case "not in":
		found, err := contains(right, left)
		return !found, err
	}
	return ordered(e.operator, left, right)
}

func (e operation) visit(use func(string), bound *names) {
	e.left.visit(use, bound)
	e.right.visit(use, bound)
}

func (e conditional) eval(s *scope) (any, error) {
	value, err := e.condition.eval(s)
	if err != nil {
		return nil, err
	}
	if truth(value) {
		return e.yes.eval(s)
	}
	return e.no.eval(s)
}

func (e conditional) visit(use func(string), bound *names) {
	e.condition.visit(use, bound)
	e.yes.visit(use, bound)
	e.no.visit(use, bound)
}

func (e filtered) eval(s *scope) (any, error) {
	args := make([]any, len(e.args))
	for i, arg := range e.args {
		var err error
		if args[i], err = arg.eval(s); err != nil {
			return nil, err
		}
	}
	if v, ok := e.value.(variable); ok && e.filter == "default" {
		if value, found := s.find(v.name); found {
			return value, nil
		}
		return args[0], nil
	}
	value, err := e.value.eval(s)
	if err != nil || e.filter == "default" {
		return value, err
	}
	if err := s.look(append(args, value)...); err != nil {
		return nil, err
	}
	return filters[e.filter].apply(value, args)
}

func (e filtered) visit(use func(string), bound *names) {
	e.value.visit(use, bound)
	for _, arg := range e.args {
		arg.visit(use, bound)
	}
}

func (e defined) eval(s *scope) (any, error) {
	if v, ok := e.of.(variable); ok {
		_, found := s.find(v.name)
		return found != e.not, nil
	}
	_, err := e.of.eval(s) // what has a value is defined
	return !e.not, err
}

func (e defined) visit(use func(string), bound *names) { e.of.visit(use, bound) }

// size is how much there is to look at.
func size(value any) int {
	switch v := value.(type) {
	case string:
		return len(v)
	case []any:
		n := len(v)
		for _, item := range v {
			n += size(item)
		}
		return n
	}
	return 1
}

// bounded refuses a text that is too large.
func bounded(text string) (any, error) {
	if len(text) > maxBytes {
		return nil, errors.New("the text becomes too large")
	}
	return text, nil
}

// truth says whether a condition holds: nothing empty does, no zero, and not false.
func truth(value any) bool {
	switch v := value.(type) {
	case string:
		return v != ""
	case bool:
		return v
	case int64:
		return v != 0
	case []any:
		return len(v) > 0
	}
	return false
}

// show is how a value is written.
func show(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case []any:
		texts := make([]string, len(v))
		for i, item := range v {
			texts[i] = show(item)
			if s, ok := item.(string); ok {
				texts[i] = `"` + s + `"`
			}
		}
		return "[" + strings.Join(texts, ", ") + "]"
	}
	return ""
}

func equal(a, b any) bool {
	if x, ok := a.([]any); ok {
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, equal)
	}
	if _, ok := b.([]any); ok {
		return false
	}
	return a == b
}

var errCompare = errors.New("these values cannot be compared")

func contains(in, value any) (bool, error) {
	switch in := in.(type) {
	case string:
		if s, ok := value.(string); ok {
			return strings.Contains(in, s), nil
		}
	case []any:
		return slices.ContainsFunc(in, func(item any) bool { return equal(item, value) }), nil
	}
	return false, errCompare
}

func ordered(operator string, a, b any) (bool, error) {
	order := 0
	if x, ok := a.(string); ok {
		y, ok := b.(string)
		if !ok {
			return false, errCompare
		}
		order = strings.Compare(x, y)
	} else {
		x, okX := a.(int64)
		y, okY := b.(int64)
		if !okX || !okY {
			return false, errCompare
		}
		switch {
		case x < y:
			order = -1
		case x > y:
			order = 1
		}
	}
	switch operator {
	case "<":
		return order < 0, nil
	case "<=":
		return order <= 0, nil
	case ">":
		return order > 0, nil
	}
	return order >= 0, nil
}
