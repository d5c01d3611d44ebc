package spec

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A Parameter is a Parameter Object, or a Header Object, which has the same members without name and place.
type Parameter struct {
	Ref        string
	Name       string
	In         string // path, query, header, cookie
	Required   bool
	AllowEmpty bool // of a query parameter
	Schema     *schema.Schema
	Encoding   Encoding // JSON when it is declared by content rather than schema
	style      string
	explode    bool
	Index      int // of a path parameter: its index in the template
}

// A Pair is a name and a value. The name is decoded, and the value is not, because separators count only before
// decoding.
type Pair struct{ name, value string }

// ParsePairs reads a query or, with the separator ";", a cookie.
func ParsePairs(s, separator string) (pairs []Pair) {
	for part := range strings.SplitSeq(s, separator) {
		if part = strings.TrimSpace(part); part != "" {
			name, value, _ := strings.Cut(part, "=")
			pairs = append(pairs, Pair{unescapeQuery(name), value})
		}
	}
	return pairs
}

func Query(target string) string {
	_, query, _ := strings.Cut(target, "?")
	query, _, _ = strings.Cut(query, "#")
	return query
}

// unescapeQuery is Unescape, but a plus also means a space (WHATWG URL, application/x-www-form-urlencoded).
func unescapeQuery(s string) string { return Unescape(strings.ReplaceAll(s, "+", " ")) }

// A Sent is what a request or a response has under a parameter's name.
type Sent struct {
	Values []string // not decoded yet
	fields []Pair   // of an object that is spread over several names
	Decode func(string) string
}

func verbatim(s string) string { return s }

// AmongPairs collects what is sent for a query parameter or a cookie.
func (p *Parameter) AmongPairs(pairs []Pair) Sent {
	s := Sent{Decode: unescapeQuery}
	if p.In == "cookie" {
		s.Decode = Unescape
	}
	for _, q := range pairs {
		switch key, ok := strings.CutPrefix(q.name, p.Name+"["); {
		case q.name == p.Name:
			s.Values = append(s.Values, q.value)
		case p.style == "deepObject" && ok && strings.HasSuffix(key, "]"):
			s.fields = append(s.fields, Pair{strings.TrimSuffix(key, "]"), q.value})
		case p.Spread() && p.Schema.Property(q.name) != nil:
			s.fields = append(s.fields, q)
		}
	}
	return s
}

// Spread reports whether each field of the object is its own parameter, so that the object's name does not occur.
func (p *Parameter) Spread() bool {
	return p.explode && p.style == "form" && p.Encoding != JSON && p.shape() == jsontree.Object
}

// InHeader collects the values of a header. Several fields of a name form one list, except for Set-Cookie (RFC 9110
// §5.3).
func (p *Parameter) InHeader(h transcript.Header) Sent {
	s := Sent{Decode: verbatim}
	values := h.Values(p.Name)
	if len(values) > 1 && !strings.EqualFold(p.Name, "Set-Cookie") {
		values = []string{strings.Join(values, ", ")}
	}
	s.Values = values
	return s
}

func (s Sent) None() bool { return s.Values == nil && s.fields == nil }

// Repeated reports whether a parameter with a single value was sent several times.
func (p *Parameter) Repeated(s Sent) bool {
	return len(s.Values) > 1 && (p.shape() != jsontree.Array || !p.explode)
}

// shape is Array or Object when the parameter is written as a list, and something else when it is a single value.
func (p *Parameter) shape() jsontree.Kind {
	switch {
	case p.Encoding == JSON || p.Schema == nil:
		return jsontree.String
	case p.Schema.Only(jsontree.Array):
		return jsontree.Array
	case p.Schema.Only(jsontree.Object):
		return jsontree.Object
	}
	return jsontree.String
}

// Value combines what was sent into a value (OpenAPI 3.0.3 §4.7.12.2, Style Values).
func (p *Parameter) Value(s Sent) *jsontree.Node {
	switch p.shape() {
	case jsontree.Array:
		n := &jsontree.Node{Kind: jsontree.Array}
		for _, text := range p.elements(s.Values) {
			n.Items = append(n.Items, p.Schema.Element().Read(s.Decode(text)))
		}
		return n
	case jsontree.Object:
		n := &jsontree.Node{Kind: jsontree.Object}
		for _, f := range append(s.fields, p.inner(s.Values)...) {
			name := s.Decode(f.name)
			n.Names = append(n.Names, name)
			n.Items = append(n.Items, p.Schema.Property(name).Read(s.Decode(f.value)))
		}
		return n
	}
	prefix, _ := p.marks(s.Values[0])
	return p.Schema.Read(s.Decode(strings.TrimPrefix(s.Values[0], prefix)))
}

// marks returns the prefix of a value and the separator of its parts.
func (p *Parameter) marks(value string) (prefix, separator string) {
	several := p.style == "matrix" && p.explode
	switch {
	case several && p.shape() == jsontree.Object:
		return ";", ";"
	case several:
		return ";" + p.Name + "=", ";" + p.Name + "="
	case p.style == "matrix":
		return ";" + p.Name + "=", ","
	case p.style == "label" && (p.explode || !strings.Contains(value, ",")):
		return ".", "." // the table has it without explode too; RFC 6570 §3.2.5 has a comma
	case p.style == "label":
		return ".", ","
	case p.style == "spaceDelimited" && strings.Contains(value, "%20"):
		return "", "%20"
	case p.style == "spaceDelimited":
		return "", "+"
	case p.style == "pipeDelimited" && strings.Contains(value, "|"):
		return "", "|"
	case p.style == "pipeDelimited":
		return "", "%7C"
	}
	return "", ","
}

// elements splits the values of a list.
func (p *Parameter) elements(values []string) (out []string) {
	if p.explode && (p.In == "query" || p.In == "cookie") {
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
func (p *Parameter) inner(values []string) (fields []Pair) {
	parts := p.elements(values)
	if p.explode {
		for _, part := range parts {
			name, value, _ := strings.Cut(part, "=")
			fields = append(fields, Pair{name, value})
		}
		return fields
	}
	for i := 0; i+1 < len(parts); i += 2 {
		fields = append(fields, Pair{parts[i], parts[i+1]})
	}
	return fields
}
