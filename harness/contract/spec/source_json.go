package spec

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// readJSON reads JSON as package yamldoc reads YAML, which would take several times as long. It returns nil for
// everything else.
func readJSON(text []byte) *yamldoc.Node {
	return (&jsonReader{text: text, dec: jsontext.NewDecoder(bytes.NewReader(text)), line: 1}).value()
}

type jsonReader struct {
	text  []byte
	dec   *jsontext.Decoder
	at    int // everything before it has been searched for line breaks
	line  int
	start int // offset of the line
}

var kinds = map[jsontext.Kind]yamldoc.Kind{
	'n': yamldoc.Null, 't': yamldoc.Bool, 'f': yamldoc.Bool, '0': yamldoc.Number, '"': yamldoc.String, '[': yamldoc.List, '{': yamldoc.Map,
}

func (r *jsonReader) value() *yamldoc.Node {
	kind := r.dec.PeekKind()
	before := int(r.dec.InputOffset())
	token, err := r.dec.ReadToken()
	if err != nil {
		return nil
	}
	n := &yamldoc.Node{Kind: kinds[kind], Text: token.String()}
	begin := before + bytes.IndexFunc(r.text[before:], func(c rune) bool { return !strings.ContainsRune(" \t\r\n:,", c) })
	for ; r.at < begin; r.at++ {
		if r.text[r.at] == '\n' {
			r.line, r.start = r.line+1, r.at+1
		}
	}
	n.Line, n.Column = r.line, 1+utf8.RuneCount(r.text[r.start:begin])
	if kind != '{' && kind != '[' {
		return n
	}
	for end := r.dec.PeekKind(); end != '}' && end != ']'; end = r.dec.PeekKind() {
		item := r.value()
		if item != nil && kind == '{' {
			n.Keys = append(n.Keys, item)
			item = r.value()
		}
		if item == nil {
			return nil
		}
		n.Items = append(n.Items, item)
	}
	_, _ = r.dec.ReadToken()
	return n
}
