package yamldoc

import (
	"fmt"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A compiler turns JSON Schemas into rules. It supports only the keywords that this project's schemas use.
type compiler struct {
	documents map[string]*jsontree.Node // by $id
	rules     map[*jsontree.Node]*rule
	required  map[string]bool
}

// compiled is a schema that is ready for use.
type compiled struct {
	root     *rule
	required map[string]bool // the keys that some object requires
}

// compile compiles the first schema, which may refer to the others.
func compile(texts [][]byte) *compiled {
	c := compiler{map[string]*jsontree.Node{}, map[*jsontree.Node]*rule{}, map[string]bool{}}
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
		c.documents[id.Text] = doc
		c.noteRequired(doc)
		if first == nil {
			first = doc
		}
	}
	return &compiled{c.rule(first, first.Member("$id").Text), c.required}
}

func (c *compiler) noteRequired(schema *jsontree.Node) {
	if names, ok := texts(schema.Member("required")); ok {
		for _, name := range names {
			c.required[name] = true
		}
	}
	for _, item := range schema.Items {
		c.noteRequired(item)
	}
}

// A rule is a compiled schema.
type rule struct {
	never bool // no value passes

	fix         string // x-fix: the schema's own fix
	description string

	types        []string // nil: any type
	kinds        []Kind   // the kinds of the types
	integer      bool     // numbers must be integers
	words        []string // the allowed values; nil: any
	wordKind     Kind     // the kind of the words
	isConst      bool     // the only word comes from const
	pattern      *regexp.Regexp
	min, max     *big.Rat
	minLength    int
	minItems     int
	minEntries   int
	required     []string
	properties   map[string]*rule
	others       *rule // of the properties that are not named
	names        *rule
	items        *rule
	ref          *rule
	all          []*rule
	any          []*rule
	when         []string // if all these keys are present, then applies, otherwise orElse
	then, orElse *rule
}

// rule returns the rule for a schema in the document base.
func (c *compiler) rule(n *jsontree.Node, base string) *rule {
	if r, ok := c.rules[n]; ok {
		return r
	}
	r := &rule{never: n.Kind != jsontree.Object && n.Text != "true"}
	c.rules[n] = r // before its subschemas, which may refer back to it
	for i, keyword := range n.Names {
		if !c.read(r, keyword, n.Items[i], base) {
			panic(fmt.Sprintf("yamldoc: schema %s: the keyword %s is not understood: %s", base, keyword, n.Items[i]))
		}
	}
	return r
}

// read adds a keyword to a rule. It returns false for an unsupported keyword.
func (c *compiler) read(r *rule, keyword string, v *jsontree.Node, base string) bool {
	ok := true
	switch keyword {
	case "$schema", "$id", "$defs", "title", "default", "x-default":
	case "description":
		r.description = v.Text
	case "x-fix":
		r.fix = v.Text
	case "$ref":
		r.ref = c.refer(v.Text, base)
	case "type":
		return r.readType(v)
	case "enum":
		return r.readWords(v.Items)
	case "const":
		r.isConst = true
		return r.readWords([]*jsontree.Node{v})
	case "pattern":
		var err error
		r.pattern, err = regexp.Compile(v.Text)
		ok = err == nil
	case "minimum":
		r.min, ok = bound(v)
	case "maximum":
		r.max, ok = bound(v)
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
			r.properties[name] = c.rule(v.Items[i], base)
		}
	case "additionalProperties":
		r.others = c.rule(v, base)
	case "propertyNames":
		r.names = c.rule(v, base)
	case "items":
		r.items = c.rule(v, base)
	case "allOf":
		r.all = append(r.all, c.list(v, base)...)
	case "anyOf":
		r.any = c.list(v, base)
	case "if":
		r.when, ok = texts(v.Member("required"))
		ok = ok && len(v.Names) == 1
	case "then":
		r.then = c.rule(v, base)
	case "else":
		r.orElse = c.rule(v, base)
	default:
		return false
	}
	return ok
}

func (c *compiler) list(v *jsontree.Node, base string) []*rule {
	out := make([]*rule, len(v.Items))
	for i, item := range v.Items {
		out[i] = c.rule(item, base)
	}
	return out
}

// refer returns the rule for a reference.
func (c *compiler) refer(ref, base string) *rule {
	id, pointer, _ := strings.Cut(ref, "#")
	if id == "" {
		id = base
	} else if !strings.Contains(id, ":") {
		id, _ = url.JoinPath(base, "..", id)
	}
	n := c.documents[id]
	for _, step := range strings.Split(pointer, "/")[1:] {
		if n != nil {
			n = n.Member(jsontree.UnescapeName(step))
		}
	}
	if n == nil {
		panic("yamldoc: schema " + base + ": there is no " + ref)
	}
	return c.rule(n, id)
}

// kindOf maps the types of JSON Schema to kinds of nodes.
var kindOf = map[string]Kind{
	"null": Null, "boolean": Bool, "number": Number, "integer": Number, "string": String, "array": List, "object": Map,
}

// typeOrder is the order of types in messages.
var typeOrder = []string{"null", "boolean", "number", "integer", "string", "array", "object"}

func (r *rule) readType(v *jsontree.Node) bool {
	names := []*jsontree.Node{v}
	if v.Kind == jsontree.Array {
		names = v.Items
	}
	for _, name := range names {
		kind, ok := kindOf[name.Text]
		if !ok {
			return false
		}
		r.types, r.kinds = append(r.types, name.Text), append(r.kinds, kind)
	}
	r.integer = slices.Contains(r.types, "integer") && !slices.Contains(r.types, "number")
	slices.SortFunc(r.types, func(a, b string) int { return slices.Index(typeOrder, a) - slices.Index(typeOrder, b) })
	return true
}

// readWords reads the allowed values, which must have the same type.
func (r *rule) readWords(values []*jsontree.Node) bool {
	kinds := map[jsontree.Kind]Kind{jsontree.String: String, jsontree.Number: Number, jsontree.Boolean: Bool}
	for _, v := range values {
		kind, ok := kinds[v.Kind]
		if !ok || v.Kind != values[0].Kind {
			return false
		}
		r.wordKind, r.words = kind, append(r.words, v.Text)
	}
	return len(values) > 0
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

func bound(v *jsontree.Node) (*big.Rat, bool) { return new(big.Rat).SetString(v.Text) }

func length(v *jsontree.Node) (int, bool) {
	n, err := strconv.Atoi(v.Text)
	return n, err == nil
}
