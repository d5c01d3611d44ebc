package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A valueDecoder decodes single values of a file, and records the mistakes in it.
type valueDecoder struct {
	file     string
	problems Problems
}

func (d *valueDecoder) problem(n *yamldoc.Node, what, fix string) {
	d.problems = append(d.problems, Problem{File: d.file, Line: n.Line, Column: n.Column, What: what, Fix: fix})
}

// path checks a JSONPath's syntax (RFC 9535) and returns it.
func (d *valueDecoder) path(n *yamldoc.Node) string {
	if _, err := jsonpath.Parse(n.Text); err != nil {
		d.problem(n, fmt.Sprintf("%q is not a valid JSONPath: %v", n.Text, err), "write a path of RFC 9535, such as $.tools[0].id")
	}
	return n.Text
}

// regexp checks the syntax of a regular expression after replacing the expressions ${{ … }} in it by a word.
func (d *valueDecoder) regexp(n *yamldoc.Node) Template {
	t := d.template(n)
	if _, err := regexp.Compile(t.Probe()); err != nil {
		d.problem(n, fmt.Sprintf("%q is not a valid regular expression: %v", n.Text, err), "write one in RE2 syntax")
	}
	return t
}

// moment returns a duration that may be 0.
func (d *valueDecoder) moment(n *yamldoc.Node) time.Duration {
	if v, err := time.ParseDuration(n.Text); err == nil && v == 0 {
		return 0
	}
	return d.duration(n)
}

func (d *valueDecoder) value(n *yamldoc.Node) Value {
	return parseValue(n, func(at *yamldoc.Node, err error) { d.problem(at, err.Error(), templateFix) })
}

func (d *valueDecoder) template(n *yamldoc.Node) Template { return d.templateText(n, n.Text) }

func (d *valueDecoder) templateText(n *yamldoc.Node, text string) Template {
	t, err := parseTemplate(text)
	if err != nil {
		d.problem(n, err.Error(), templateFix)
	}
	return t
}

// optional decodes a template that may be missing.
func (d *valueDecoder) optional(n *yamldoc.Node) *Template {
	if n == nil {
		return nil
	}
	t := d.template(n)
	return &t
}

func (d *valueDecoder) duration(n *yamldoc.Node) time.Duration {
	if n == nil {
		return 0
	}
	v, err := time.ParseDuration(n.Text)
	if err != nil || v <= 0 {
		d.problem(n, fmt.Sprintf("%q is not a duration above 0", n.Text), "write a number with a unit, such as 300ms, 2s or 1m")
	}
	return v
}

// number returns an integer, which the schema has checked before; 0 when it is not given.
func (d *valueDecoder) number(n *yamldoc.Node) int {
	if n == nil {
		return 0
	}
	v, err := strconv.Atoi(n.Text)
	if err != nil { // 2e2 and 200.0 are integers to a schema
		d.problem(n, fmt.Sprintf("%s is not written as a whole number", n.Text), "write it in digits")
	}
	return v
}

func texts(n *yamldoc.Node) []string {
	var out []string
	for _, item := range n.Elements() {
		out = append(out, item.Text)
	}
	return out
}

// byPath reports whether a map under json maps JSONPaths to values, rather than being a document.
func byPath(n *yamldoc.Node) bool {
	if n.Kind != yamldoc.Map || len(n.Keys) == 0 {
		return false
	}
	return !slices.ContainsFunc(n.Keys, func(k *yamldoc.Node) bool { return !strings.HasPrefix(k.Text, "$") || strings.HasPrefix(k.Text, "${{") })
}

const templateFix = "write ${{ name }} with the name of a variable, a capture, a column (row.…), unique, directory or lockstep; write $${{ for a literal ${{"
