// Package record is what an MCP server for scenarios has written down: what its client has sent, a line of JSON for each
// message.
package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Suffix is what the names of records end in.
const Suffix = ".mcp"

// A Message is what a client has sent.
type Message struct {
	At     time.Time `json:"at"`
	Method string    `json:"method,omitempty"` // of a request or a notification; "" for an answer
	// Body is the parameters, or the result or error that answers what the server has asked.
	Body json.RawMessage `json:"body,omitempty"`
}

// none is what stands for parameters that are left out. "params … MAY be omitted" (JSON-RPC 2.0 §4.2), and MCP asks for
// an object: to leave it out, or to send one without members, says the same.
var none = json.RawMessage("{}")

// Parameters returns the body, and {} for a request or a notification without parameters.
func (m *Message) Parameters() json.RawMessage {
	if m.Method != "" && len(m.Body) == 0 {
		return none
	}
	return m.Body
}

// Write writes a message, all of its line at once: nobody reads half of one while the server lives.
func Write(w io.Writer, m Message) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false) // what came stays as it is
	if err := enc.Encode(m); err != nil {
		return err
	}
	_, err := w.Write(line.Bytes())
	return err
}

// Read reads a record of so many bytes at most. A last line without an end, of a server that was killed, is passed over.
func Read(r io.Reader, most int64) ([]Message, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("it has more than %d bytes", most)
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
