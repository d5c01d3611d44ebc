package yamldoc

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lockstep-dev/lockstep/internal/problem"
)

// A Schema is a JSON Schema (draft 2020-12) that files are checked against. A subschema may have its own fix for
// error messages under "x-fix".
type Schema struct{ compiled func() *compiled }

// MustSchema returns a schema that is part of the program. It may refer to the others. If the schema is invalid, or
// has a keyword that this package does not support, the first check panics.
func MustSchema(data []byte, others ...[]byte) *Schema {
	texts := append([][]byte{data}, others...)
	return &Schema{sync.OnceValue(func() *compiled { return compile(texts) })}
}

// Check returns every place where the file violates the schema.
func (s *Schema) Check(file string, root *Node) problem.Problems {
	of := s.compiled()
	if of.root.passes(root) {
		return nil
	}
	c := checker{file: file, required: of.required}
	c.check(of.root, value{root, "the file", "the list", ""})
	return c.problems.Sort()
}

// A value is a node and its name in messages: "status", or item 3 of "steps".
type value struct {
	*Node
	name string
	list string // the list's name in the names of its items
	key  string // its key in a map; "" for other values
}

func (v value) member(key string, n *Node) value {
	name := strconv.Quote(key)
	return value{n, name, name, key}
}

func (v value) item(i int) value {
	return value{v.Items[i], fmt.Sprintf("item %d of %s", i+1, v.list), v.list, ""}
}

// A checker collects the mistakes of a file.
type checker struct {
	file     string
	required map[string]bool
	problems problem.Problems
}

func (c *checker) add(n *Node, what, fix string) {
	c.problems = append(c.problems, problem.Problem{File: c.file, Line: n.Line, Column: n.Column, What: what, Fix: fix})
}

// check reports where a value breaks a rule. A value of the wrong type, or that is not an allowed one, is reported
// once.
func (c *checker) check(r *rule, v value) {
	switch {
	case r.passes(v.Node):
		return
	case !r.hasKind(v.Node):
		c.add(v.Node, fmt.Sprintf("%s is %s", v.name, v.Kind), r.fixOr("make it "+kinds(r.types)))
		return
	case !r.hasWord(v.Node) && r.isConst:
		c.add(v.Node, fmt.Sprintf("%s is %s", v.name, shown(v.Node)), r.fixOr("make it "+r.words[0]))
		return
	case !r.hasWord(v.Node):
		c.add(v.Node, fmt.Sprintf("%s is %s", v.name, shown(v.Node)), r.fixOr(problem.OneOf(v.Text, r.words)))
		return
	}
	if r.ref != nil {
		c.check(r.ref, v)
	}
	c.own(r, v)
	for _, one := range r.all {
		c.check(one, v)
	}
	if r.any != nil && !r.passesAny(v.Node) {
		c.choice(r, v)
	}
	if branch := r.branch(v.Node); branch != nil {
		c.check(branch, v)
	}
}

// own checks a value against the keywords for its kind, and then the values in it.
func (c *checker) own(r *rule, v value) {
	switch v.Kind {
	case Map:
		c.checkMap(r, v)
	case List:
		if len(v.Items) < r.minItems {
			c.short(r, v, r.minItems)
		}
		for i := range v.Items {
			if r.items != nil {
				c.check(r.items, v.item(i))
			}
		}
	case String:
		if !r.longEnough(v.Text) {
			c.short(r, v, r.minLength)
		}
		if r.pattern != nil && !r.pattern.MatchString(v.Text) {
			c.add(v.Node, fmt.Sprintf("%s is %s", v.name, shown(v.Node)), r.fixOr("write it so that it matches "+r.pattern.String()))
		}
	case Number:
		if bound := r.beyond(v.Text); bound != nil {
			limit := "at most"
			if n, ok := new(big.Rat).SetString(v.Text); ok && n.Cmp(bound) < 0 {
				limit = "at least"
			}
			c.add(v.Node, fmt.Sprintf("%s is %s", v.name, v.Text), r.fixOr(fmt.Sprintf("write a number of %s %s", limit, bound.RatString())))
		}
	}
}

func (c *checker) checkMap(r *rule, v value) {
	if len(v.Items) < r.minEntries {
		c.short(r, v, r.minEntries)
	}
	for _, key := range r.missing(v.Node) {
		if !r.isMisspelt(v.Node, key) {
			fix := "add it: " + r.about(key)
			if len(r.any) == 0 { // otherwise the schema's fix is about its alternatives
				fix = r.fixOr(fix)
			}
			c.add(v.Node, fmt.Sprintf("%s has no %q", v.name, key), fix)
		}
	}
	for i, k := range v.Keys {
		if of := r.of(k.Text); of != nil && !of.never {
			c.check(of, v.member(k.Text, v.Items[i]))
		}
	}
	for _, k := range v.Keys {
		if of := r.of(k.Text); of != nil && of.never {
			c.add(k, fmt.Sprintf("unknown key %q", k.Text), problem.OneOf(k.Text, r.propertyNames()))
		}
		if r.names != nil && !r.names.passes(k) {
			c.add(k, fmt.Sprintf("key %q is not a valid name", k.Text), r.names.broken(k).fixOr("give it another name"))
		}
	}
}

// short reports a text, list or map that is too short. It suggests leaving it out only where it is optional.
func (c *checker) short(r *rule, v value, want int) {
	fix := "fill it in"
	if want > 1 {
		fix = fmt.Sprintf("put at least %d in it", want)
	}
	if !c.required[v.key] {
		fix += ", or leave it out"
	}
	c.add(v.Node, v.name+" is too short", r.fixOr(fix))
}

// choice reports a value that matches no alternative: in the words of the schema, or else the mistakes by each
// alternative.
func (c *checker) choice(r *rule, v value) {
	if r.fix == "" {
		for _, one := range r.any {
			c.check(one, v)
		}
		return
	}
	var wanted []string // the keys of which one is required and missing
	for _, one := range r.any {
		if rest := *one; len(one.missing(v.Node)) > 0 {
			if rest.required = nil; rest.passes(v.Node) {
				wanted = append(wanted, one.missing(v.Node)...)
			}
		}
	}
	if slices.ContainsFunc(wanted, func(key string) bool { return r.isMisspelt(v.Node, key) }) {
		return // that key is reported as unknown
	}
	fix := r.fix
	for _, k := range v.Keys {
		if near, ok := problem.Nearest(k.Text, wanted); ok {
			fix = fmt.Sprintf("did you mean %q where you wrote %q?", near, k.Text)
			break
		}
	}
	c.add(v.Node, v.name+" is not allowed here", fix)
}

func shown(n *Node) string {
	switch n.Kind {
	case String:
		return strconv.Quote(n.Text)
	case Bool, Number:
		return n.Text
	default:
		return n.Kind.String()
	}
}

func kinds(want []string) string {
	words := make([]string, len(want))
	for i, w := range want {
		words[i] = map[string]string{
			"string": "a string", "number": "a number", "integer": "a whole number", "boolean": "true or false",
			"array": "a list", "object": "a map", "null": "empty",
		}[w]
	}
	return strings.Join(words, " or ")
}

func lowerFirst(s string) string {
	if len(s) < 2 || strings.ToUpper(s[:2]) == s[:2] { // an acronym keeps its case
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
