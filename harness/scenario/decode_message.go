package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A messageDecoder decodes requests, and what is expected of responses and events.
type messageDecoder struct{ *valueDecoder }

// request decodes the request of a step. key is the key with its method and path.
func (d *messageDecoder) request(n *yamldoc.Node, key string) Request {
	line := n.Get(key)
	method, path, _ := strings.Cut(line.Text, " ")
	r := Request{
		Method: method,
		Path:   d.templateText(line, strings.TrimLeft(path, " ")),
		Query:  d.parameters(n.Get("query")),
		Line:   line.Line, Column: line.Column,
	}
	r.Header, r.Without = d.headers(n.Get("headers"))
	if m := n.Get("malformed"); m != nil {
		r.Malformed = d.value(m)
	}
	js, raw := n.Get("json"), n.Get("raw")
	switch {
	case js != nil && raw != nil:
		k, _ := n.Entry("raw")
		d.problem(k, "a step has both json and raw", "send one body: remove json or raw")
	case js != nil:
		r.Body.JSON = d.value(js)
	case raw != nil:
		r.Body = d.raw(raw)
	}
	if size := n.Get("size"); size != nil {
		d.size(size, &r.Body)
	}
	return r
}

// size decodes the size of a body.
func (d *messageDecoder) size(n *yamldoc.Node, b *Body) {
	b.Size = d.value(n)
	if bytes, err := strconv.ParseInt(n.Text, 10, 64); n.Kind == yamldoc.Number && (err != nil || bytes < 1 || bytes > MaxSize) {
		d.problem(n, fmt.Sprintf("the size %s is out of range", n.Text), fmt.Sprintf("write a number of bytes in digits, at most %d", MaxSize))
	}
	fillers := 0
	names := b.JSON.Names()
	if b.Raw != nil {
		names = b.Raw.Names()
	}
	for _, name := range names {
		if name == Filler {
			fillers++
		}
	}
	if fillers != 1 {
		d.problem(n, fmt.Sprintf("the body has ${{ %s }} %d times, but must have it once", Filler, fillers), "put ${{ fill }} once into json, or into the text of raw: it fills the body up to the size")
	}
}

func (d *messageDecoder) raw(n *yamldoc.Node) Body {
	b := Body{Type: n.Get("type").Str(), Chunked: n.Get("chunked").Str() == "true"}
	if text := n.Get("text"); text != nil {
		b.Raw = d.optional(text)
		return b
	}
	b.Bytes = decodeBase64(d.valueDecoder, n.Get("base64"))
	return b
}

func (d *messageDecoder) parameters(n *yamldoc.Node) []Parameter {
	var out []Parameter
	for k, v := range n.Entries() {
		values := []*yamldoc.Node{v}
		if v.Kind == yamldoc.List {
			values = v.Items
		}
		for _, v := range values {
			out = append(out, Parameter{k.Text, d.template(v)})
		}
	}
	return out
}

// headers decodes the header fields of a request, and the names of those that it must not have.
func (d *messageDecoder) headers(n *yamldoc.Node) (fields []Parameter, without []string) {
	for k, v := range n.Entries() {
		if v.Kind == yamldoc.Null {
			without = append(without, k.Text)
		}
	}
	for _, p := range d.parameters(n) {
		if !slices.Contains(without, p.Name) {
			fields = append(fields, p)
		}
	}
	return fields, without
}

func (d *messageDecoder) captures(n *yamldoc.Node) []Capture {
	var out []Capture
	for k, v := range n.Entries() {
		c := Capture{Name: k.Text}
		if v.Kind == yamldoc.String {
			c.Path = d.path(v)
		} else {
			c.Header = v.Get("header").Text
		}
		out = append(out, c)
	}
	return out
}

func (d *messageDecoder) expect(n *yamldoc.Node) *Expect {
	if n == nil {
		return nil
	}
	e := &Expect{Status: d.number(n.Get("status")), Body: d.optional(n.Get("body")), JSON: d.json(n)}
	for k, v := range n.Get("headers").Entries() {
		demand := HeaderDemand{Name: k.Text}
		if v.Kind != yamldoc.Null {
			demand.Value = d.optional(v)
		}
		e.Header = append(e.Header, demand)
	}
	for k, v := range n.Get("count").Entries() {
		if e.Count == nil {
			e.Count = map[int]int{}
		}
		e.Count[d.number(k)] = d.number(v)
	}
	for _, item := range n.Get("one_of").Elements() {
		e.OneOf = append(e.OneOf, *d.expect(item))
	}
	return e
}

func (d *messageDecoder) pattern(n *yamldoc.Node) *Pattern {
	if n == nil {
		return nil
	}
	p := &Pattern{Event: d.optional(n.Get("event")), Data: d.optional(n.Get("data")), JSON: d.json(n)}
	if event := n.Get("event"); event != nil {
		p.Line, p.Column = event.Line, event.Column
	}
	return p
}

// json decodes the keys json, matches and absent of an expectation or a pattern. It returns nil when there are none.
func (d *messageDecoder) json(n *yamldoc.Node) *JSON {
	doc, matches, absent := n.Get("json"), n.Get("matches"), n.Get("absent")
	if doc == nil && matches == nil && absent == nil {
		return nil
	}
	j := &JSON{}
	if doc != nil && byPath(doc) {
		for k, v := range doc.Entries() {
			j.At = append(j.At, PathValue{d.path(k), d.value(v)})
		}
	} else if doc != nil {
		j.Whole = d.value(doc)
	}
	for k, v := range matches.Entries() {
		j.Matches = append(j.Matches, PathMatch{d.path(k), d.regexp(v)})
	}
	for _, item := range absent.Elements() {
		j.Absent = append(j.Absent, d.path(item))
	}
	return j
}
