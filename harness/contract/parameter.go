package contract

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A parameter is a Parameter Object, or a Header Object, which is the same without its name and place.
type parameter struct {
	ref        string
	name       string
	in         string // path, query, header, cookie
	required   bool
	allowEmpty bool // of a query parameter
	schema     *schema
	how        content // jsonText when it is declared by content rather than schema
	style      string
	explode    bool
	index      int // of a path parameter: which one of the template
}

// A pair is a name and a value, the name decoded and the value not: separators count only before decoding.
type pair struct{ name, value string }

// parsePairs reads a query or, with ";", a cookie.
func parsePairs(s, separator string) (pairs []pair) {
	for part := range strings.SplitSeq(s, separator) {
		if part = strings.TrimSpace(part); part != "" {
			name, value, _ := strings.Cut(part, "=")
			pairs = append(pairs, pair{unescapeQuery(name), value})
		}
	}
	return pairs
}

func query(target string) string {
	_, query, _ := strings.Cut(target, "?")
	query, _, _ = strings.Cut(query, "#")
	return query
}

// unescapeQuery is unescape where a plus is a blank too (WHATWG URL, application/x-www-form-urlencoded).
func unescapeQuery(s string) string { return unescape(strings.ReplaceAll(s, "+", " ")) }

// A sent is what a request or a response has under a parameter's name.
type sent struct {
	values []string // not yet decoded
	fields []pair   // of an object that is spread over several names
	decode func(string) string
}

func verbatim(s string) string { return s }

// among collects what is sent for a query parameter or a cookie.
func (p *parameter) among(pairs []pair) sent {
	s := sent{decode: unescapeQuery}
	if p.in == "cookie" {
		s.decode = unescape
	}
	for _, q := range pairs {
		switch key, ok := strings.CutPrefix(q.name, p.name+"["); {
		case q.name == p.name:
			s.values = append(s.values, q.value)
		case p.style == "deepObject" && ok && strings.HasSuffix(key, "]"):
			s.fields = append(s.fields, pair{strings.TrimSuffix(key, "]"), q.value})
		case p.spread() && p.schema.property(q.name) != nil:
			s.fields = append(s.fields, q)
		}
	}
	return s
}

// spread says that each field of the object is a parameter of its own, so that the object's name does not occur.
func (p *parameter) spread() bool {
	return p.explode && p.style == "form" && p.how != jsonText && p.shape() == jsontree.Object
}

// inHeader collects the values of a header. Several fields of a name are one list, but for Set-Cookie (RFC 9110 §5.3).
func (p *parameter) inHeader(h transcript.Header) sent {
	s := sent{decode: verbatim}
	values := h.Values(p.name)
	if len(values) > 1 && !strings.EqualFold(p.name, "Set-Cookie") {
		values = []string{strings.Join(values, ", ")}
	}
	s.values = values
	return s
}

func (s sent) none() bool { return s.values == nil && s.fields == nil }

// repeated says that a parameter that has one value has several.
func (p *parameter) repeated(s sent) bool {
	return len(s.values) > 1 && (p.shape() != jsontree.Array || !p.explode)
}

// shape is Array or Object when the parameter is written as a list, and something else when it is one value.
func (p *parameter) shape() jsontree.Kind {
	switch {
	case p.how == jsonText || p.schema == nil:
		return jsontree.String
	case p.schema.wants == bit(jsontree.Array) || p.schema.wants == bit(jsontree.Array)|bit(jsontree.Null):
		return jsontree.Array
	case p.schema.wants == bit(jsontree.Object) || p.schema.wants == bit(jsontree.Object)|bit(jsontree.Null):
		return jsontree.Object
	}
	return jsontree.String
}

// value puts together what was sent (OpenAPI 3.0.3 §4.7.12.2, Style Values).
func (p *parameter) value(s sent) *jsontree.Node {
	switch p.shape() {
	case jsontree.Array:
		n := &jsontree.Node{Kind: jsontree.Array}
		for _, text := range p.elements(s.values) {
			n.Items = append(n.Items, p.schema.element().read(s.decode(text)))
		}
		return n
	case jsontree.Object:
		n := &jsontree.Node{Kind: jsontree.Object}
		for _, f := range append(s.fields, p.inner(s.values)...) {
			name := s.decode(f.name)
			n.Names = append(n.Names, name)
			n.Items = append(n.Items, p.schema.property(name).read(s.decode(f.value)))
		}
		return n
	}
	prefix, _ := p.marks(s.values[0])
	return p.schema.read(s.decode(strings.TrimPrefix(s.values[0], prefix)))
}

// marks returns what stands before a value and between its parts.
func (p *parameter) marks(value string) (prefix, separator string) {
	several := p.style == "matrix" && p.explode
	switch {
	case several && p.shape() == jsontree.Object:
		return ";", ";"
	case several:
		return ";" + p.name + "=", ";" + p.name + "="
	case p.style == "matrix":
		return ";" + p.name + "=", ","
	case p.style == "label" && (p.explode || !strings.Contains(value, ",")):
		return ".", "." // without explode too, says the table; with a comma, says RFC 6570 §3.2.5
	case p.style == "label":
		return ".", ","
	case p.style == "spaceDelimited":
		return "", pick(strings.Contains(value, "%20"), "%20", "+")
	case p.style == "pipeDelimited":
		return "", pick(strings.Contains(value, "|"), "|", "%7C")
	}
	return "", ","
}

// elements splits the values of a list.
func (p *parameter) elements(values []string) (out []string) {
	if p.explode && (p.in == "query" || p.in == "cookie") {
		return values
	}
	for _, v := range values {
		prefix, separator := p.marks(v)
		for part := range strings.SplitSeq(strings.TrimPrefix(v, prefix), separator) {
			out = append(out, strings.TrimSpace(part))
		}
	}
	return out
}

// inner reads an object that is written as one value: "a,1,b,2" or, exploded, "a=1,b=2".
func (p *parameter) inner(values []string) (fields []pair) {
	parts := p.elements(values)
	if p.explode {
		for _, part := range parts {
			name, value, _ := strings.Cut(part, "=")
			fields = append(fields, pair{name, value})
		}
		return fields
	}
	for i := 0; i+1 < len(parts); i += 2 {
		fields = append(fields, pair{parts[i], parts[i+1]})
	}
	return fields
}

// element and property find what a schema says about the elements and fields of a value; nil reads as text.
func (s *schema) element() *schema {
	for _, p := range s.parts {
		if p.items != nil {
			return p.items
		}
	}
	return nil
}

func (s *schema) property(name string) *schema {
	for _, p := range s.parts {
		if p.properties[name] != nil {
			return p.properties[name]
		}
	}
	return nil
}
