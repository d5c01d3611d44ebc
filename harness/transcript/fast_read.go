package transcript

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// A run file consists mostly of bodies and header fields. These functions read them in the form that RunWriter writes.
// encoding/json takes several times as long, and reads all other forms. Tests compare the two.

const (
	bodyBegins = `{"body":{"id":"`
	textBegins = `,"text":`
	bodyEnds   = "}}\n"
)

// fastBody reads the line of a body in text. ok is false for every form that RunWriter does not write.
func fastBody(line []byte) (id string, content []byte, ok bool) {
	rest, begins := bytes.CutPrefix(line, []byte(bodyBegins))
	end := bytes.IndexByte(rest, '"')
	if !begins || end < 0 || !hexadecimal(rest[:end]) {
		return "", nil, false
	}
	text, begins := bytes.CutPrefix(rest[end+1:], []byte(textBegins))
	text, ends := bytes.CutSuffix(text, []byte(bodyEnds))
	if !begins || !ends {
		return "", nil, false
	}
	content, err := jsontext.AppendUnquote(make([]byte, 0, len(text)), text)
	return string(rest[:end]), content, err == nil
}

func hexadecimal(s []byte) bool {
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// fastField reads a field of two ASCII texts without escapes.
func fastField(data []byte) (Field, bool) {
	inner, begins := bytes.CutPrefix(data, []byte(`["`))
	inner, ends := bytes.CutSuffix(inner, []byte(`"]`))
	name, value, both := bytes.Cut(inner, []byte(`","`))
	if !begins || !ends || !both || !plain(name) || !plain(value) {
		return Field{}, false
	}
	return Field{string(name), string(value)}, true
}

func plain(s []byte) bool {
	for _, c := range s {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
