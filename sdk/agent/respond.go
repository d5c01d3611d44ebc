package agentsdk

import "context"

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

// A body is what a response says.
type body struct {
	Subtype   string `json:"subtype"`
	RequestID string `json:"request_id"`
	Payload   any    `json:"response,omitempty"`
	Error     any    `json:"error,omitempty"` // a text, also an empty one
	ErrorCode string `json:"error_code,omitempty"`
}

func (b body) line() ([]byte, error) {
	return encode(struct {
		Type     string `json:"type"`
		Response body   `json:"response"`
	}{"control_response", b})
}

// errorLine is the line of an error.
func errorLine(id, text, code string) []byte {
	line, _ := body{Subtype: "error", RequestID: id, Error: text, ErrorCode: code}.line() // it has only strings
	return line
}

// successLine is the line of a success, or of an error if its payload has no JSON.
func successLine(id string, payload any) []byte {
	line, err := body{Subtype: "success", RequestID: id, Payload: payload}.line()
	if err != nil {
		return errorLine(id, err.Error(), "")
	}
	return line
}

// mcpLine is the line of a reply of an MCP server.
func mcpLine(id string, reply rpcReply) []byte {
	line, err := body{Subtype: "success", RequestID: id, Payload: reply.wrapped()}.line()
	if err != nil {
		line, _ = body{Subtype: "success", RequestID: id, Payload: rpcError(reply.ID, internalError, err.Error()).wrapped()}.line() // it is valid JSON
	}
	return line
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
	line := successLine(in.id, payload)
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
