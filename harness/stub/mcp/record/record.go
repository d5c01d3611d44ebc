// Package record defines the file in which an MCP server for scenarios records the messages of its client. Each message
// is a line of JSON.
package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Suffix is the file name suffix of records.
const Suffix = ".mcp"

// A Message is a message that the client has sent.
type Message struct {
	At     time.Time `json:"at"`
	Method string    `json:"method,omitempty"` // method of a request or a notification; "" for a response
	// Body has the parameters. In a response to a request of the server, it has the result or the error.
	Body json.RawMessage `json:"body,omitempty"`
}

// none replaces omitted parameters. "params … MAY be omitted" (JSON-RPC 2.0 §4.2), and MCP parameters are an object, so
// omitted parameters mean the same as an empty object.
var none = json.RawMessage("{}")

// Parameters returns the body, or {} for a request or a notification without parameters.
func (m *Message) Parameters() json.RawMessage {
	if m.Method != "" && len(m.Body) == 0 {
		return none
	}
	return m.Body
}

// Write writes the line of a message in one call, so that a reader sees whole lines while the server runs.
func Write(w io.Writer, m Message) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false) // keep what was received
	if err := enc.Encode(m); err != nil {
		return err
	}
	_, err := w.Write(line.Bytes())
	return err
}

// Read reads a record up to a limit of bytes. It ignores an incomplete last line, which a killed server leaves behind.
func Read(r io.Reader, limit int64) ([]Message, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("it has more than %d bytes", limit)
	}
	var out []Message
	for n := 1; ; n++ {
		line, rest, ended := bytes.Cut(data, []byte("\n"))
		if !ended {
			return out, nil
		}
		var m Message
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out, data = append(out, m), rest
	}
}
