package agentsdk

import (
	"context"
	"encoding/json"
	"slices"
)

// A wire is a transport whose first failure to write is reported: it ends the connection.
type wire struct {
	Transport
	broken func(error)
}

func (w *wire) Write(ctx context.Context, line []byte) error {
	err := w.Transport.Write(ctx, line)
	if err != nil && ctx.Err() == nil {
		w.broken(err)
	}
	return err
}

// A responder writes the responses to the requests of the CLI.
type responder struct {
	wire    *wire
	inbox   *inbox
	settler settler
	outbox  serial // what the reader answers: it never writes itself
}

// successLine is the line of a success with the JSON of a payload, and errorLine that of an error.
func successLine(id string, payload json.RawMessage) []byte {
	quoted, _ := encode(id)
	return slices.Concat([]byte(`{"type":"control_response","response":{"subtype":"success","request_id":`), quoted, []byte(`,"response":`), payload, []byte("}}"))
}

func errorLine(id, text, code string) []byte {
	body := map[string]any{"subtype": "error", "request_id": id, "error": text}
	if code != "" {
		body["error_code"] = code
	}
	line, _ := encode(map[string]any{"type": "control_response", "response": body}) // it has only strings
	return line
}

func mcpLine(id string, reply json.RawMessage) []byte {
	return successLine(id, slices.Concat(json.RawMessage(`{"mcp_response":`), reply, json.RawMessage("}")))
}

func (r *responder) write(line []byte) error {
	return r.wire.Write(context.Background(), line)
}

// post writes a response from the reader, after those that were posted before.
func (r *responder) post(line []byte) {
	r.outbox.post(func() { _ = r.write(line) })
}

func (r *responder) refuse(id, text, code string) { r.post(errorLine(id, text, code)) }

// respond writes the response of a callback: its payload, or its error.
func (r *responder) respond(in *incoming, payload any, err error, ended func()) {
	var text json.RawMessage
	if err == nil {
		text, err = encode(payload)
	}
	line := successLine(in.id, text)
	if err != nil {
		line = errorLine(in.id, err.Error(), "")
	}
	_ = r.settler.write(func() error { return r.write(line) }, func() {
		r.inbox.remove(in)
		if ended != nil {
			ended()
		}
	})
}
