package yamldoc

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A sieve holds files back that may have a mistake, and lets those pass that have none for certain.
//
// The library for JSON Schema says what is wrong with a file, and takes several milliseconds to get ready for it. A
// sieve only says that nothing is. It understands those keywords that schemas of ours use, and what it does not
// understand it never lets pass, so that its mistakes cost time and nothing else.
type sieve struct {
	documents map[string]*jsontree.Node // by $id
	rules     map[*jsontree.Node]*rule
}

// newSieve returns a sieve of the first schema, which may refer to the others.
func newSieve(texts [][]byte) *rule {
	s := sieve{map[string]*jsontree.Node{}, map[*jsontree.Node]*rule{}}
	var first *jsontree.Node
	for _, text := range texts {
		doc, _, err := jsontree.Parse(text)
		if err != nil {
			panic("yamldoc: schema: " + err.Error())
		}
		id := doc.Member("$id")
		if id == nil {
			panic("yamldoc: schema: it has no $id")
		}
		s.documents[id.Text] = doc
		if first == nil {
			first = doc
		}
	}
	return s.rule(first, first.Member("$id").Text)
}

// A rule is a schema, as far as the sieve understands it.
type rule struct {
	never bool // there is something that it does not understand, or nothing may pass

	kinds        []Kind // any, if nil
	integer      bool   // a number must be one
	words        []string
	pattern      *regexp.Regexp
	min, max     *int64
	minLength    int
	minItems     int
	minEntries   int
	required     []string
	properties   map[string]*rule
	others       *rule // of the properties that are not named
	names        *rule
	items        *rule
	all          []*rule
	any          []*rule
	when         []string // the keys that must be there for then to hold, and else otherwise
	then, orElse *rule
}

// rule returns the rule of a schema that stands in the document base.
func (s *sieve) rule(n *jsontree.Node, base string) *rule {
	if r, ok := s.rules[n]; ok {
		return r
	}
	r := &rule{never: n.Kind != jsontree.Object && n.Text != "true"}
	s.rules[n] = r // before its parts, which may lead back to it
	for i, keyword := range n.Names {
		if !s.read(r, keyword, n.Items[i], base) {
			r.never = true
		}
	}
	return r
}

// read adds a keyword to a rule. It reports whether it has understood it.
func (s *sieve) read(r *rule, keyword string, v *jsontree.Node, base string) bool {
	ok := true
	switch keyword {
	case "$schema", "$id", "$defs", "title", "description", "default", "x-default", "x-fix":
	case "$ref":
		r.all = append(r.all, s.refer(v.Text, base))
	case "type":
		return r.readType(v)
	case "enum":
		r.words, ok = texts(v)
	case "const":
		r.words, ok = []string{v.Text}, v.Kind == jsontree.String
	case "pattern":
		var err error
		r.pattern, err = regexp.Compile(v.Text)
		ok = err == nil
	case "minimum":
		r.min, ok = integer(v)
	case "maximum":
		r.max, ok = integer(v)
	case "minLength":
		r.minLength, ok = length(v)
	case "minItems":
		r.minItems, ok = length(v)
	case "minProperties":
		r.minEntries, ok = length(v)
	case "required":
		r.required, ok = texts(v)
	case "properties":
		r.properties = make(map[string]*rule, len(v.Names))
		for i, name := range v.Names {
			r.properties[name] = s.rule(v.Items[i], base)
		}
	case "additionalProperties":
		r.others = s.rule(v, base)
	case "propertyNames":
		r.names = s.rule(v, base)
	case "items":
		r.items = s.rule(v, base)
	case "allOf":
		r.all = append(r.all, s.list(v, base)...)
	case "anyOf":
		r.any = s.list(v, base)
	case "if":
		r.when, ok = texts(v.Member("required"))
		ok = ok && len(v.Names) == 1
	case "then":
		r.then = s.rule(v, base)
	case "else":
		r.orElse = s.rule(v, base)
	default:
		return false
	}
	return ok
}

func (s *sieve) list(v *jsontree.Node, base string) []*rule {
	out := make([]*rule, len(v.Items))
	for i, item := range v.Items {
		out[i] = s.rule(item, base)
	}
	return out
}

// refer returns the rule that a reference leads to.
func (s *sieve) refer(ref, base string) *rule {
	id, pointer, _ := strings.Cut(ref, "#")
	if id == "" {
		id = base
	} else if !strings.Contains(id, ":") {
		id = base[:strings.LastIndexByte(base, '/')+1] + id
	}
	n := s.documents[id]
	for _, step := range strings.Split(pointer, "/")[1:] {
		if n != nil {
			n = n.Member(step)
		}
	}
	if n == nil {
		return &rule{never: true}
	}
	return s.rule(n, id)
}

func (r *rule) readType(v *jsontree.Node) bool {
	names := []*jsontree.Node{v}
	if v.Kind == jsontree.Array {
		names = v.Items
	}
	for _, name := range names {
		kind, ok := map[string]Kind{
			"null": Null, "boolean": Bool, "number": Number, "integer": Number, "string": String, "array": List, "object": Map,
		}[name.Text]
		if !ok {
			return false
		}
		r.kinds = append(r.kinds, kind)
		r.integer = r.integer || name.Text == "integer"
	}
	return true
}

func texts(v *jsontree.Node) (out []string, ok bool) {
	if v == nil || v.Kind != jsontree.Array {
		return nil, false
	}
	for _, item := range v.Items {
		if item.Kind != jsontree.String {
			return nil, false
		}
		out = append(out, item.Text)
	}
	return out, true
}

func integer(v *jsontree.Node) (*int64, bool) {
	n, err := strconv.ParseInt(v.Text, 10, 64)
	return &n, err == nil
}

func length(v *jsontree.Node) (int, bool) {
	n, err := strconv.Atoi(v.Text)
	return n, err == nil
}

// passes reports whether a value obeys the rule for certain.
func (r *rule) passes(n *Node) bool {
	branch := r.then
	if n.Kind == Map && !n.has(r.when) {
		branch = r.orElse
	}
	switch {
	case r.never,
		r.kinds != nil && !slices.Contains(r.kinds, n.Kind),
		r.words != nil && (n.Kind != String || !slices.Contains(r.words, n.Text)),
		slices.ContainsFunc(r.all, func(r *rule) bool { return !r.passes(n) }),
		r.any != nil && !slices.ContainsFunc(r.any, func(r *rule) bool { return r.passes(n) }),
		r.when != nil && !branch.lets(n):
		return false
	}
	switch n.Kind {
	case Number:
		return r.passesNumber(n.Text)
	case String:
		return utf8.RuneCountInString(n.Text) >= r.minLength && (r.pattern == nil || r.pattern.MatchString(n.Text))
	case List:
		return len(n.Items) >= r.minItems && !slices.ContainsFunc(n.Items, func(item *Node) bool { return !r.items.lets(item) })
	case Map:
		return r.passesMap(n)
	default:
		return true
	}
}

// lets is passes of a rule that may be missing.
func (r *rule) lets(n *Node) bool { return r == nil || r.passes(n) }

// passesNumber understands integers as people write them; those that JSON Schema takes for one, such as 1e2, it leaves
// to the library.
func (r *rule) passesNumber(text string) bool {
	if !r.integer && r.min == nil && r.max == nil {
		return true
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && (r.min == nil || n >= *r.min) && (r.max == nil || n <= *r.max)
}

func (r *rule) passesMap(n *Node) bool {
	if len(n.Items) < r.minEntries || !n.has(r.required) {
		return false
	}
	for i, k := range n.Keys {
		of, named := r.properties[k.Text]
		if !named {
			of = r.others
		}
		if !r.names.lets(k) || !of.lets(n.Items[i]) {
			return false
		}
	}
	return true
}

// has reports whether a map has all of these keys.
func (n *Node) has(keys []string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool { return n.Get(key) == nil })
}
