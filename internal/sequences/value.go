package sequences

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

type node = jsontree.Node

func text(s string) *node { return jsontree.NewText(s) }

func parse(s string) *node {
	n, _, err := jsontree.Parse([]byte(s))
	if err != nil {
		panic(fmt.Sprintf("sequences: %s: %v", s, err))
	}
	return n
}

func object(pairs ...any) *node {
	out := &node{Kind: jsontree.Object}
	for i := 0; i < len(pairs); i += 2 {
		value, ok := pairs[i+1].(*node)
		if !ok {
			value = text(pairs[i+1].(string))
		}
		out.Names, out.Items = append(out.Names, pairs[i].(string)), append(out.Items, value)
	}
	return out
}

func list(items ...*node) *node { return &node{Kind: jsontree.Array, Items: items} }

// sayable reports whether YAML can express a value. It cannot express duplicate names or lone surrogates.
func sayable(n *node) bool {
	for i, name := range n.Names {
		if slices.Index(n.Names, name) != i || strings.Contains(name, half) {
			return false
		}
	}
	return !strings.Contains(n.Text, half) && !slices.ContainsFunc(n.Items, func(item *node) bool { return !sayable(item) })
}

// half is a lone high surrogate, as jsontree encodes it.
const half = "\xed\xa0\xbd"

// values generates texts, JSON for schemas, and references to what the sequence has.
type values struct {
	*rand.Rand
	schemas openapi3.Schemas
	live    []string // sessions, by the names of their captures
	gone    []string // deleted sessions; a later session may have the same number
	names   []string // extensions that the sequence uses
	depth   int
	whole   bool // texts have no lone surrogate, which a body must not have
	small   bool // no number is so large that a server may round it
}

func (v *values) chance(oneIn int) bool         { return v.Intn(oneIn) == 0 }
func (v *values) pick(of []string) string       { return of[v.Intn(len(of))] }
func (v *values) pickAny(of []any) any          { return of[v.Intn(len(of))] }
func (v *values) pickNode(of ...*node) *node    { return of[v.Intn(len(of))] }
func sorted[V any](m map[string]V) (k []string) { return slices.Sorted(maps.Keys(m)) }

func (v *values) someText() string {
	for v.chance(3) {
		if t := v.pick(odd); !v.whole || !strings.Contains(t, half) {
			return t
		}
	}
	return v.pick(plain)
}

// session picks a session: usually a live one, sometimes one that is deleted or never existed.
func (v *values) session() string {
	switch {
	case len(v.live) > 0 && !v.chance(6):
		return "${{ " + v.pick(v.live) + " }}"
	case len(v.gone) > 0 && !v.chance(4):
		return "${{ " + v.pick(v.gone) + " }}"
	}
	return "${{ unknown }}"
}

// thing returns what an entry of a table stands for: JSON, or a value of the kind after the @.
func (v *values) thing(choice string) *node {
	switch choice {
	case "@session":
		return text(v.session())
	case "@client":
		return text("${{ " + v.pick([]string{"client", "other"}) + " }}")
	case "@tool":
		return text(v.pick(tools))
	case "@extension":
		return text(v.pick(v.names))
	case "@custom":
		return text(v.pick(customs))
	case "@listed":
		return text(v.pick(listed))
	case "@odd":
		return text(v.someText())
	case "@free":
		return v.freeObject()
	case "@metadata":
		return object("userVisible", parse(v.pick([]string{"true", "true", "false"})), "agentVisible", parse(v.pick([]string{"true", "true", "false"})))
	case "@values":
		out := object()
		for _, key := range []string{"a", "b", v.someText()} {
			if !v.chance(4) {
				out.Set(key, text(v.someText()))
			}
		}
		return out
	case "@exported":
		n := v.named("Session")
		if v.chance(3) {
			n = v.twist(n)
		}
		return text(n.String())
	}
	return parse(choice)
}

// named returns a random value of a named schema.
func (v *values) named(schema string) *node {
	return v.value(&openapi3.SchemaRef{Ref: "/" + schema, Value: v.schemas[schema].Value}, "", "")
}

// value returns a random value of a schema, for the named member of an object whose schema is called parent.
func (v *values) value(ref *openapi3.SchemaRef, parent, name string) *node {
	v.depth++
	defer func() { v.depth-- }()
	if choice, ok := members[parent+"."+name]; ok {
		return v.thing(v.pick(choice))
	}
	if choice, ok := members[name]; ok {
		return v.thing(v.pick(choice))
	}
	schema, own := ref.Value, ref.Ref[strings.LastIndexByte(ref.Ref, '/')+1:]
	if schema.Nullable && v.chance(5) {
		return &node{Kind: jsontree.Null}
	}
	if len(schema.AllOf) > 0 {
		return v.value(schema.AllOf[0], parent, name)
	}
	if len(schema.Enum) > 0 {
		return parse(encoded(v.pickAny(schema.Enum)))
	}
	for _, choice := range []openapi3.SchemaRefs{schema.OneOf, schema.AnyOf} {
		if len(choice) > 0 {
			return v.alternative(schema, own, choice, name)
		}
	}
	switch {
	case schema.Type == nil:
		return v.free()
	case schema.Type.Is(openapi3.TypeObject):
		return v.object(schema, own)
	case schema.Type.Is(openapi3.TypeArray):
		out := &node{Kind: jsontree.Array}
		for range v.Intn(3) {
			out.Items = append(out.Items, v.value(schema.Items, own, name))
		}
		return out
	case schema.Type.Is(openapi3.TypeBoolean):
		return parse(v.pick([]string{"true", "false"}))
	case schema.Type.Is(openapi3.TypeInteger), schema.Type.Is(openapi3.TypeNumber):
		return parse(v.pick([]string{"1", "2", "7", "100"}))
	}
	return text(v.someText())
}

func encoded(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func (v *values) alternative(schema *openapi3.Schema, own string, refs openapi3.SchemaRefs, name string) *node {
	d := schema.Discriminator
	if d == nil {
		return v.value(refs[v.Intn(len(refs))], own, name)
	}
	tags := alternatives[own]
	if tags == nil {
		tags = sorted(d.Mapping)
	}
	tag := v.pick(tags)
	for _, ref := range refs {
		if ref.Ref == d.Mapping[tag].Ref {
			out := v.value(ref, own, name)
			out.Set(d.PropertyName, text(tag))
			return out
		}
	}
	panic("sequences: no alternative " + tag + " of " + own)
}

func (v *values) object(schema *openapi3.Schema, own string) *node {
	out := object()
	for _, name := range sorted(schema.Properties) {
		if slices.Contains(schema.Required, name) || v.depth < 4 && v.chance(3) || v.chance(8) {
			out.Set(name, v.value(schema.Properties[name], own, name))
		}
	}
	if extra := schema.AdditionalProperties.Schema; extra != nil {
		for range v.Intn(3) {
			out.Set(v.someText(), v.value(extra, own, ""))
		}
	}
	if len(schema.Properties) == 0 && schema.AdditionalProperties.Schema == nil {
		return v.freeObject()
	}
	return out
}

// free returns random JSON.
func (v *values) free() *node {
	switch v.Intn(8) {
	case 0:
		return v.freeObject()
	case 1:
		return list(v.freeLeaf(), v.freeLeaf())
	case 2:
		return parse(strings.Repeat(`[{"d":`, 40) + "0" + strings.Repeat("}]", 40))
	}
	return v.freeLeaf()
}

func (v *values) freeLeaf() *node {
	if v.chance(2) {
		return text(v.someText())
	}
	if !v.small && v.chance(8) {
		return parse("12345678901234567890")
	}
	return parse(v.pick([]string{"0", "7", "1.5", "0.1", "null", "true", "[]", "{}"}))
}

func (v *values) freeObject() *node {
	out := object()
	for range v.Intn(4) {
		out.Set(v.pick([]string{"b", "a", "10", "2", v.someText()}), v.freeLeaf())
	}
	return out
}

// twist changes one place of a body, so that most bodies break the contract.
func (v *values) twist(body *node) *node {
	var places []*node
	var walk func(n *node)
	walk = func(n *node) {
		places = append(places, n)
		for _, item := range n.Items {
			walk(item)
		}
	}
	walk(body)
	at := places[v.Intn(len(places))]
	kind := v.Intn(6)
	if at.Kind == jsontree.Object && len(at.Names) > 0 {
		i := v.Intn(len(at.Names))
		switch kind {
		case 0:
			at.Names, at.Items = slices.Delete(at.Names, i, i+1), slices.Delete(at.Items, i, i+1)
			return body
		case 1:
			at.Names, at.Items = append(at.Names, at.Names[i]), append(at.Items, v.freeLeaf())
			return body
		case 2:
			at.Names[i] = v.pick([]string{strings.ToUpper(at.Names[i]), v.someText()})
			return body
		case 3:
			at.Set(v.someText(), v.free())
			return body
		}
	}
	if at.Kind == jsontree.Number && kind < 4 {
		*at = *parse(v.pick([]string{"1.0", "1e2", "-1", "2147483648", "9223372036854775808", "1.5", "0"}))
		return body
	}
	if at.Kind == jsontree.String && kind < 3 {
		*at = *text(v.pick(odd))
		return body
	}
	*at = *v.pickNode(parse("null"), parse("5"), parse("true"), parse("[]"), parse("{}"), text("x"), v.free())
	return body
}

// recipe returns a random valid recipe: its variables are exactly its parameters.
func (v *values) recipe() *node {
	out := object("title", v.safe(), "description", v.safe(), "instructions", "Do {{ a }}"+v.safe())
	parameters := parse(`[{"key":"a","input_type":"string","requirement":"required","description":"A"}]`)
	if !v.chance(3) {
		second := parse(`{"key":"b","input_type":"string","requirement":"optional","description":"B"}`)
		second.Items[3] = text(v.safe())
		second.Set("default", text(v.safe()))
		parameters.Items = append(parameters.Items, second)
		out.Set("prompt", text("{{ b }}"+v.template()+v.template()))
	}
	out.Set("parameters", parameters)
	if v.chance(3) {
		out.Set("activities", list(text(v.safe())))
		out.Set("settings", parse(`{"goose_provider":"openai","temperature":0.5}`))
	}
	if v.chance(3) {
		out.Set("response", object("json_schema", object("type", "object", "properties", object(v.pick(tools[:4]), object("type", "string")))))
	}
	return out
}

// template returns a random piece of a recipe template.
func (v *values) template() string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(v.pick(templates), "ODD", "\x1a") {
		switch r {
		case 'F':
			b.WriteString(v.pick(filters))
		case '\x1a':
			b.WriteString(`"` + strings.NewReplacer(`"`, "", `\`, "").Replace(v.safe()) + `"`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// safe returns a random text that has no template syntax.
func (v *values) safe() string {
	for {
		if t := v.someText(); !strings.Contains(t, "{") && !strings.Contains(t, half) {
			return t
		}
	}
}
