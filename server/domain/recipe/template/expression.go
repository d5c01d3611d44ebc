package template

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An expression evaluates to a string, a bool, an int64, or a list ([]any). A chain such as a ~ b ~ c is one
// expression with many parts, so that no text makes a tree that is too deep to walk. [scope.value] evaluates
// expressions.
type expression interface {
	eval(s *scope) (any, error)
	visit(use func(name string), bound *names)
}

type (
	constant    struct{ value any }
	variable    struct{ name string }
	list        []expression
	negation    struct{ of expression }
	conditional struct{ condition, yes, no expression }
	// logic is a chain of parts with or, or with and. Its value is that of the first part that decides, or else of the
	// last.
	logic struct {
		parts   []expression
		decides bool // true for or, false for and
	}
	// comparison compares a value with others, one after another: the result of each comparison is the left side of
	// the next.
	comparison struct {
		first expression
		with  []operand
	}
	operand struct {
		operator string // also "is defined" and "is undefined", which have no value
		value    expression
	}
	concatenation []expression
	filtered      struct {
		value expression
		by    []application
	}
	application struct {
		filter string
		args   []expression
	}
)

func (e constant) eval(*scope) (any, error)   { return e.value, nil }
func (e constant) visit(func(string), *names) {}

func (e variable) eval(s *scope) (any, error) {
	value, found, err := s.find(e.name)
	if err == nil && !found {
		err = fmt.Errorf("undefined variable %s", e.name)
	}
	return value, err
}

func (e variable) visit(use func(string), bound *names) {
	if !bound.has(e.name) {
		use(e.name)
	}
}

func (e list) eval(s *scope) (any, error) {
	values, err := s.valuesOf(e)
	for _, value := range values {
		if _, nested := value.([]any); nested {
			return nil, errors.New("a list cannot hold lists")
		}
	}
	return values, err
}

func (e list) visit(use func(string), bound *names) { visitEach(e, use, bound) }

func visitEach(parts []expression, use func(string), bound *names) {
	for _, part := range parts {
		part.visit(use, bound)
	}
}

func (e negation) eval(s *scope) (any, error) {
	value, err := s.value(e.of)
	return !truth(value), err
}

func (e negation) visit(use func(string), bound *names) { e.of.visit(use, bound) }

func (e logic) eval(s *scope) (value any, err error) {
	for _, part := range e.parts {
		if value, err = s.value(part); err != nil || truth(value) == e.decides {
			return value, err
		}
	}
	return value, nil
}

func (e logic) visit(use func(string), bound *names) { visitEach(e.parts, use, bound) }

func (e comparison) eval(s *scope) (any, error) {
	left, rest := any(nil), e.with
	if name, ok := e.first.(variable); ok && rest[0].value == nil { // tests whether the variable is defined
		_, found, err := s.find(name.name)
		if err != nil {
			return nil, err
		}
		left, rest = found == (rest[0].operator == isDefined), rest[1:]
	} else {
		var err error
		if left, err = s.value(e.first); err != nil {
			return nil, err
		}
	}
	for _, next := range rest {
		if next.value == nil { // a result is always defined
			left = next.operator == isDefined
			continue
		}
		right, err := s.value(next.value)
		if err == nil {
			err = s.work.look(size(left) + size(right))
		}
		if err == nil {
			left, err = compare(next.operator, left, right)
		}
		if err != nil {
			return nil, err
		}
	}
	return left, nil
}

func (e comparison) visit(use func(string), bound *names) {
	e.first.visit(use, bound)
	for _, next := range e.with {
		if next.value != nil {
			next.value.visit(use, bound)
		}
	}
}

func (e concatenation) eval(s *scope) (any, error) {
	var b strings.Builder
	for _, part := range e {
		value, err := s.value(part)
		if err == nil {
			err = s.work.look(size(value))
		}
		if err != nil {
			return nil, err
		}
		if b.WriteString(show(value)); b.Len() > maxBytes {
			return nil, errTooLarge
		}
	}
	return b.String(), nil
}

func (e concatenation) visit(use func(string), bound *names) { visitEach(e, use, bound) }

func (e conditional) eval(s *scope) (any, error) {
	value, err := s.value(e.condition)
	if err != nil {
		return nil, err
	}
	if truth(value) {
		return s.value(e.yes)
	}
	return s.value(e.no)
}

func (e conditional) visit(use func(string), bound *names) {
	e.condition.visit(use, bound)
	e.yes.visit(use, bound)
	e.no.visit(use, bound)
}

func (e filtered) eval(s *scope) (value any, err error) {
	rest := e.by
	if name, ok := e.value.(variable); ok && rest[0].filter == "default" {
		var missing any
		if missing, err = s.value(rest[0].args[0]); err != nil {
			return nil, err
		}
		var found bool
		if value, found, err = s.find(name.name); !found {
			value = missing
		}
		rest = rest[1:]
	} else {
		value, err = s.value(e.value)
	}
	for _, next := range rest {
		if err != nil {
			return nil, err
		}
		value, err = next.apply(s, value)
	}
	return value, err
}

func (a application) apply(s *scope, value any) (any, error) {
	args, err := s.valuesOf(a.args)
	if err != nil || a.filter == "default" { // a value is always defined
		return value, err
	}
	looks := size(value)
	for _, arg := range args {
		looks += size(arg)
	}
	if err := s.work.look(looks); err != nil {
		return nil, err
	}
	return filters[a.filter].apply(s.work, value, args)
}

func (e filtered) visit(use func(string), bound *names) {
	e.value.visit(use, bound)
	for _, next := range e.by {
		visitEach(next.args, use, bound)
	}
}

// size returns how many bytes and items a value has.
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

// truth reports whether a condition is true: empty values, zero and false are not.
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

// show returns a value as text.
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
		return strings.Contains(in, show(value)), nil
	case []any:
		return slices.ContainsFunc(in, func(item any) bool { return equal(item, value) }), nil
	}
	return false, errCompare
}

// compare evaluates a comparison.
func compare(operator string, a, b any) (bool, error) {
	switch operator {
	case "==":
		return equal(a, b), nil
	case "!=":
		return !equal(a, b), nil
	case "in":
		return contains(b, a)
	case "not in":
		found, err := contains(b, a)
		return !found, err
	}
	order, err := ordered(a, b)
	switch operator {
	case "<":
		return order < 0, err
	case "<=":
		return order <= 0, err
	case ">":
		return order > 0, err
	}
	return order >= 0, err
}

// ordered returns a negative number if a comes before b, and a positive one if it comes after b.
func ordered(a, b any) (int, error) {
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			return cmp.Compare(a, b), nil
		}
	case int64:
		if b, ok := b.(int64); ok {
			return cmp.Compare(a, b), nil
		}
	}
	return 0, errCompare
}
