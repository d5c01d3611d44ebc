package message

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Stored returns the content of a stored message in the same form as DecodeContents and WriteContents together. Its
// errors are those of DecodeContents.
//
// Nearly all stored content already has that form, because this package wrote it. If a quick scan can confirm that,
// the content is copied, which takes a third of the time. The scan covers texts, and calls of tools with simple
// arguments and results.
func Stored(stored string) (json.RawMessage, error) {
	text := []byte(stored)
	if isWritten(stored) {
		return text, nil
	}
	contents, err := decode.Text(text, DecodeContents)
	if err != nil {
		return nil, err
	}
	w := jsonwire.NewWriter(nil)
	WriteContents(w, contents)
	return json.RawMessage(w.Text()), nil
}

// ReadMetadata returns the metadata of a stored message. If it cannot be read, the message is visible to both
// (GA 17.1).
func ReadMetadata(stored string) Metadata {
	switch stored {
	case `{"userVisible":true,"agentVisible":true}`, "":
		return Visible
	case `{"userVisible":true,"agentVisible":false}`:
		return Metadata{UserVisible: true}
	case `{"userVisible":false,"agentVisible":true}`:
		return Metadata{AgentVisible: true}
	}
	v, err := decode.Parse([]byte(stored))
	if err != nil || v.IsNull() {
		return Visible
	}
	m, err := DecodeMetadata(v)
	if err != nil {
		return Visible
	}
	return m
}

// isWritten reports whether a text is certainly in the exact form that WriteContents writes. It may return false for
// a text in that form.
func isWritten(text string) bool {
	g := quickScan{text, 0}
	return g.list(g.item) && g.at == len(text)
}

// A quickScan reads a text as long as it has the form of WriteContents.
type quickScan struct {
	text string
	at   int
}

// is skips one of the texts that may come next.
func (g *quickScan) is(texts ...string) bool {
	for _, text := range texts {
		if strings.HasPrefix(g.text[g.at:], text) {
			g.at += len(text)
			return true
		}
	}
	return false
}

func (g *quickScan) list(element func() bool) bool {
	if !g.is("[") {
		return false
	}
	if g.is("]") {
		return true
	}
	for {
		if !element() {
			return false
		}
		if !g.is(",") {
			return g.is("]")
		}
	}
}

func (g *quickScan) item() bool {
	switch {
	case g.is(`{"type":"text","text":`):
		return g.str() && g.is("}")
	case g.is(`{"type":"toolRequest","id":`):
		return g.str() && g.is(`,"toolCall":`) && g.result(g.call) && g.is("}")
	case g.is(`{"type":"toolResponse","id":`):
		return g.str() && g.is(`,"toolResult":`) && g.result(g.answer) && g.is("}")
	}
	return false
}

func (g *quickScan) result(value func() bool) bool {
	if g.is(`{"status":"error","error":`) {
		return g.str() && g.is("}")
	}
	return g.is(`{"status":"success","value":`) && value() && g.is("}")
}

func (g *quickScan) call() bool {
	if !g.is(`{"name":`) || !g.str() {
		return false
	}
	return g.is("}") || g.is(`,"arguments":`) && g.peek() == '{' && g.value(0) && g.is("}")
}

func (g *quickScan) answer() bool {
	return g.list(func() bool { return g.is(`{"type":"text","text":`) && g.str() && g.is("}") })
}

func (g *quickScan) peek() byte {
	if g.at == len(g.text) {
		return 0
	}
	return g.text[g.at]
}

// str skips a string with the shortest escapes. It returns false for escapes with four digits.
func (g *quickScan) str() bool {
	if g.peek() != '"' {
		return false
	}
	start, plain := g.at, true
	for at := start + 1; at < len(g.text); at++ {
		switch c := g.text[at]; {
		case c == '"':
			g.at = at + 1
			return plain || utf8.ValidString(g.text[start:at])
		case c == '\\':
			if at++; at == len(g.text) || strings.IndexByte(`"\bfnrt`, g.text[at]) < 0 {
				return false
			}
		case c < ' ':
			return false
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
	return false
}

// These bounds limit values that are copied without being decoded.
const (
	quickDepth   = 20
	quickMembers = 20
)

// value skips any value without blanks and without duplicate names.
func (g *quickScan) value(depth int) bool {
	switch c := g.peek(); {
	case depth > quickDepth:
		return false
	case c == '"':
		return g.str()
	case c == '[':
		return g.list(func() bool { return g.value(depth + 1) })
	case c == '{':
		return g.object(depth)
	case c == '-' || '0' <= c && c <= '9':
		return g.number()
	}
	return g.is("true", "false", "null")
}

func (g *quickScan) object(depth int) bool {
	g.at++
	if g.is("}") {
		return true
	}
	var seen [quickMembers]string
	for n := range seen {
		start := g.at
		if !g.str() {
			return false
		}
		seen[n] = g.text[start:g.at]
		for _, other := range seen[:n] {
			if other == seen[n] {
				return false
			}
		}
		if !g.is(":") || !g.value(depth+1) {
			return false
		}
		if !g.is(",") {
			return g.is("}")
		}
	}
	return false
}

// number skips a number (RFC 8259).
func (g *quickScan) number() bool {
	g.is("-")
	if !g.is("0") && !g.digits() {
		return false
	}
	if g.is(".") && !g.digits() {
		return false
	}
	if g.is("e", "E") {
		g.is("+", "-")
		return g.digits()
	}
	return true
}

func (g *quickScan) digits() bool {
	start := g.at
	for g.at < len(g.text) && '0' <= g.text[g.at] && g.text[g.at] <= '9' {
		g.at++
	}
	return g.at > start
}
