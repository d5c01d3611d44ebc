package scaffold

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A request is a step of a generated scenario.
type request struct {
	method  string
	path    string // as in a scenario, with expressions
	target  string // as it could be sent, for the contract
	query   jsontree.Node
	joined  []string // query parameters whose commas must stay as they are, so they are written into the path
	headers jsontree.Node
	json    *jsontree.Node
	raw     string
	rawType string // "" without raw
	stream  bool
	socket  *contract.Operation // that opens a socket; nil for others
	capture [][2]string         // names and JSONPaths
}

// request makes a request for an operation that obeys the document. captured has the names of captured values for path
// parameters, by their index; the other parameters are sampled. If there is no such request, missing says why.
func (g *generator) request(op *contract.Operation, captured map[int]string) (r *request, missing string) {
	for _, t := range tastes {
		made, why := g.build(op, captured, t)
		if why == "" {
			why = g.objections(made)
		}
		if why == "" {
			return made, ""
		}
		if missing == "" {
			r, missing = made, why
		}
	}
	return r, missing
}

// objections says why a request breaks the document.
func (g *generator) objections(r *request) string {
	target := r.target
	if len(r.query.Names) > 0 {
		values := url.Values{}
		for i, name := range r.query.Names {
			for _, v := range each(r.query.Items[i]) {
				values.Add(wire(name), wire(v.Text))
			}
		}
		separator := "?"
		if len(r.joined) > 0 {
			separator = "&"
		}
		target += separator + values.Encode()
	}
	var header transcript.Header
	for i, name := range r.headers.Names {
		header = append(header, transcript.Field{Name: name, Value: wire(r.headers.Items[i].Text)})
	}
	var body []byte
	switch {
	case r.json != nil:
		body = []byte(wire(r.json.String()))
		if !header.Has("Content-Type") {
			header = append(header, transcript.Field{Name: "Content-Type", Value: "application/json"})
		}
	case r.rawType != "":
		body = []byte(wire(r.raw))
		header = append(header, transcript.Field{Name: "Content-Type", Value: r.rawType})
	}
	var out []string
	for _, v := range g.doc.CheckRequest(r.method, target, header, body) {
		out = append(out, v.Place+": "+v.Text)
	}
	return strings.Join(out, "; ")
}

// each returns the elements of a list, or the value itself.
func each(n *jsontree.Node) []*jsontree.Node {
	if n.Kind == jsontree.Array {
		return n.Items
	}
	return []*jsontree.Node{n}
}

// wire returns a text of a scenario as it could be sent.
func wire(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, unique, someUnique), "$${{", "${{")
}

// build makes a request with one taste, or says why it cannot.
func (g *generator) build(op *contract.Operation, captured map[int]string, t taste) (*request, string) {
	item := g.paths.item(op.Path)
	in := item.GetOperation(op.Method)
	r := &request{method: op.Method, stream: op.Streams() && op.Method == "GET"}
	if op.IsSocket() {
		r.socket = op
	}
	r.query.Kind, r.headers.Kind = jsontree.Object, jsontree.Object
	base := g.paths.base(op.Path, op.Method)
	r.path, r.target = base, base
	index := 0
	params := parameters(item, in)
	for _, part := range parts(op.Path) {
		if part.name == "" {
			r.path, r.target = r.path+part.text, r.target+part.text
			continue
		}
		p := params["path "+part.name]
		value := "1"
		if p != nil {
			value = plain(t.parameter(p), ",")
		}
		if value == "" {
			return r, fmt.Sprintf("no value for the path parameter %q", part.name)
		}
		r.target += url.PathEscape(wire(value))
		if name, ok := captured[index]; ok {
			r.path += "${{ " + name + " }}"
		} else {
			r.path += escapeAround(value, url.PathEscape)
		}
		index++
	}
	for _, key := range slices.Sorted(maps.Keys(params)) {
		if p := params[key]; p.In != "path" {
			if why := r.parameter(p, t); why != "" {
				return r, why
			}
		}
	}
	if in.RequestBody != nil && in.RequestBody.Value != nil {
		return r, r.body(in.RequestBody.Value, t)
	}
	return r, ""
}

// parameters returns the parameters of an operation, and those of its path that it does not replace, by place and name.
func parameters(item *openapi3.PathItem, op *openapi3.Operation) map[string]*openapi3.Parameter {
	out := map[string]*openapi3.Parameter{}
	for _, list := range []openapi3.Parameters{item.Parameters, op.Parameters} {
		for _, ref := range list {
			if ref.Value != nil {
				out[ref.Value.In+" "+ref.Value.Name] = ref.Value
			}
		}
	}
	return out
}

// A part of a path template is a text or a parameter.
type part struct{ text, name string }

func parts(template string) (out []part) {
	for template != "" {
		before, rest, ok := strings.Cut(template, "{")
		out = append(out, part{text: before})
		if !ok {
			break
		}
		name, after, _ := strings.Cut(rest, "}")
		out, template = append(out, part{name: name}), after
	}
	return out
}

// escapeAround percent-encodes a value, except for the expression in it.
func escapeAround(value string, escape func(string) string) string {
	words := strings.Split(value, unique)
	for i, w := range words {
		words[i] = escape(wire(w))
	}
	return strings.Join(words, unique)
}

// parameter returns a value for a parameter, or nil.
func (t taste) parameter(p *openapi3.Parameter) *jsontree.Node {
	if given := t.example(p.Example, p.Examples); given != nil {
		return given
	}
	for _, m := range p.Content { // there is at most one (OpenAPI 3.0.3 §4.7.12.2)
		if value := (&sampler{taste: t}).value(m.Schema, p.Name); value != nil {
			return jsontree.NewText(value.String())
		}
		return nil
	}
	return (&sampler{taste: t}).value(p.Schema, p.Name)
}

// plain returns the text of a scalar, or those of a list with a separator; "" for anything else.
func plain(n *jsontree.Node, separator string) string {
	if n == nil {
		return ""
	}
	var texts []string
	for _, v := range each(n) {
		if v.Kind == jsontree.Object || v.Kind == jsontree.Array || v.Kind == jsontree.Null {
			return ""
		}
		texts = append(texts, v.Text)
	}
	return strings.Join(texts, separator)
}

// separators are the separators of query lists that are written as one value, as they are sent.
var separators = map[string]string{"spaceDelimited": "%20", "pipeDelimited": "|"}

// join writes a list as one parameter.
func (r *request) join(p *openapi3.Parameter, list *jsontree.Node) {
	separator := cmp.Or(separators[p.Style], ",")
	words := make([]string, len(list.Items))
	for i, item := range list.Items {
		words[i] = escapeAround(item.Text, url.PathEscape)
	}
	lead := "?"
	if len(r.joined) > 0 {
		lead = "&"
	}
	r.joined = append(r.joined, p.Name)
	pair := lead + url.QueryEscape(p.Name) + "=" + strings.Join(words, separator)
	r.path, r.target = r.path+pair, r.target+wire(pair)
}

// parameter adds a parameter to the query, the header or the cookies, if it is required or the document has an example
// of it.
func (r *request) parameter(p *openapi3.Parameter, t taste) string {
	named := t.examples && (p.Example != nil || len(p.Examples) > 0)
	if !p.Required && !named || p.In == "header" && slices.Contains([]string{"accept", "content-type", "authorization"}, strings.ToLower(p.Name)) {
		return ""
	}
	none := fmt.Sprintf("no value for the %s parameter %q", p.In, p.Name)
	value := t.parameter(p)
	if value == nil {
		return none
	}
	scalars := plain(value, ",")
	switch exploded := p.Explode == nil || *p.Explode; {
	case p.In == "query" && value.Kind == jsontree.Object:
		for i, name := range value.Names {
			if p.Style == "deepObject" {
				name = p.Name + "[" + name + "]"
			}
			if plain(value.Items[i], ",") == "" {
				return none
			}
			r.query.Set(name, value.Items[i])
		}
	case scalars == "" && p.Required:
		return none
	case scalars == "":
	case p.In == "query" && value.Kind == jsontree.Array && (!exploded || separators[p.Style] != ""):
		r.join(p, value)
	case p.In == "query":
		r.query.Set(p.Name, value)
	case p.In == "header":
		r.headers.Set(p.Name, jsontree.NewText(scalars))
	case p.In == "cookie":
		pair := p.Name + "=" + scalars
		if before := r.headers.Member("Cookie"); before != nil {
			pair = before.Text + "; " + pair
		}
		r.headers.Set("Cookie", jsontree.NewText(pair))
	case p.Required:
		return none
	}
	return ""
}

// body adds a body: JSON if the document accepts it, otherwise a form or a text.
func (r *request) body(b *openapi3.RequestBody, t taste) string {
	kinds := slices.Sorted(maps.Keys(b.Content))
	sample := func(kind string) *jsontree.Node {
		m := b.Content[kind]
		if given := t.example(m.Example, m.Examples); given != nil {
			return given
		}
		return (&sampler{taste: t}).value(m.Schema, "text")
	}
	for _, kind := range kinds {
		if !isJSON(kind) {
			continue
		}
		if r.json = sample(kind); r.json == nil {
			return "no value for the body, " + kind
		}
		if kind != "application/json" {
			r.headers.Set("Content-Type", text(kind))
		}
		return ""
	}
	for _, kind := range kinds {
		value := sample(kind)
		switch media, _, _ := strings.Cut(kind, ";"); {
		case value == nil:
		case media == "application/x-www-form-urlencoded" && value.Kind == jsontree.Object:
			r.raw, r.rawType = form(value), kind
			return ""
		case strings.HasPrefix(media, "text/") && value.Kind == jsontree.String:
			r.raw, r.rawType = value.Text, kind
			return ""
		}
	}
	if b.Required && len(kinds) > 0 {
		return "the body is " + strings.Join(kinds, " or ") + ": write it with raw"
	}
	return ""
}

func isJSON(kind string) bool {
	media, _, _ := strings.Cut(strings.ToLower(kind), ";")
	return media == "application/json" || strings.HasSuffix(media, "+json")
}

// form writes an object as application/x-www-form-urlencoded.
func form(object *jsontree.Node) string {
	var fields []string
	for i, name := range object.Names {
		for _, v := range each(object.Items[i]) {
			text := v.Text
			if v.Kind == jsontree.Object || v.Kind == jsontree.Array {
				text = v.String()
			}
			fields = append(fields, url.QueryEscape(wire(name))+"="+escapeAround(text, url.QueryEscape))
		}
	}
	return strings.Join(fields, "&")
}
