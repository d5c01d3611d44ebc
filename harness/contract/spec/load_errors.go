package spec

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

var (
	yamlLine = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)
	noise    = strings.NewReplacer("error converting YAML to JSON: ", "", "error unmarshaling JSON: while decoding JSON: ", "",
		"yaml: unmarshal errors:", "", "json: ", "")
)

// explainLoad turns the first error of the loader into problems, and adds the references that it did not reach.
func explainLoad(data []byte, src *source, err error) (ps problem.Problems) {
	if ps := yamldoc.Syntax("", data); ps != nil {
		return ps // the loader's message names another line
	}
	if _, text, ok := strings.Cut(err.Error(), "yaml error: "); ok {
		for line := range strings.Lines(noise.Replace(text)) {
			line = strings.TrimSpace(line)
			if m := yamlLine.FindStringSubmatch(line); m != nil {
				n, _ := strconv.Atoi(m[1])
				ps = append(ps, src.explainLine(n, m[2]))
			} else if line != "" {
				ps = append(ps, problem.Problem{What: strings.TrimPrefix(line, "yaml: ")})
			}
		}
		return ps
	}
	if ps = unresolved(data, src); ps != nil {
		return ps
	}
	p := problem.Problem{What: err.Error()}
	if m := quotedRef.FindStringSubmatch(p.What); m != nil {
		p.Line, p.Column = src.firstUse(m[1])
	}
	return problem.Problems{p}
}

var keyTwice = regexp.MustCompile(`^mapping key "(.*)" already defined at line (\d+)$`)

// explainLine adds the column to a message about a line if it is about a duplicate key.
func (s *source) explainLine(line int, text string) problem.Problem {
	p := problem.Problem{Line: line, What: text}
	m := keyTwice.FindStringSubmatch(text)
	if m == nil || line > len(s.lines()) {
		return p
	}
	p.What, p.Fix = fmt.Sprintf("duplicate key %q, first in line %s", m[1], m[2]), "remove one of them"
	l := s.lines()[line-1]
	if at := strings.LastIndex(l.text, m[1]); at >= 0 && strings.Count(l.text, m[1]) <= 2 {
		if m[2] != strconv.Itoa(line) { // the first key of the line, unless the other one is on the same line
			at = strings.Index(l.text, m[1])
		}
		p.Column = l.indent + utf8.RuneCountInString(l.text[:at]) + 1
	}
	return p
}

var quotedRef = regexp.MustCompile(`"([^"]*#/[^"]*)"`)

// explainInvalid turns the errors of the validation into problems. A mistake in a component is found again at each
// place that refers to it, but reported once.
func explainInvalid(err error) (ps problem.Problems) {
	seen := map[problem.Problem]bool{}
	list, ok := err.(openapi3.MultiError)
	if !ok {
		list = openapi3.MultiError{err}
	}
	for _, err := range list {
		p, leaf := origin(err)
		p.What = strings.TrimPrefix(err.Error(), "invalid ")
		once := p
		if p.Line > 0 {
			once.What = leaf.Error()
		}
		if !seen[once] {
			seen[once] = true
			ps = append(ps, p)
		}
	}
	return ps
}

// origin returns the place of a validation error, and the innermost error. Many types have a field Origin, but they
// share no interface.
func origin(err error) (at problem.Problem, leaf error) {
	for ; err != nil; err = errors.Unwrap(err) {
		leaf = err
		v := reflect.Indirect(reflect.ValueOf(err))
		if v.Kind() != reflect.Struct {
			continue
		}
		if f := v.FieldByName("Origin"); f.IsValid() && f.CanInterface() {
			if o, ok := f.Interface().(*openapi3.Origin); ok && o != nil && o.Key != nil {
				at.Line, at.Column = o.Key.Line, o.Key.Column
			}
		}
	}
	return at, leaf
}
