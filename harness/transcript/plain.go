package transcript

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Nearly all of a run file are bodies, and the most of what is left are header fields. Both are read here when they stand
// as RunWriter writes them; encoding/json, which reads everything else, takes several times as long. Tests hold the two
// against each other.

const (
	bodyBegins = `{"body":{"id":"`
	textBegins = `,"text":`
	bodyEnds   = "}}\n"
)

// bodyLine reads a line that has a body in text. It gives up on everything that RunWriter would not write.
func bodyLine(line []byte) (id string, content []byte, ok bool) {
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

// plainField reads a field of two texts that have neither escapes nor anything but ASCII.
func plainField(data []byte) (Field, bool) {
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
