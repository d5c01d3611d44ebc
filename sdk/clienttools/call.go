package clienttools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// A Call is one call of a tool.
type Call struct {
	RequestID, SessionID, MessageID, ID string // the last three are empty if the caller gave none
	Tool                                string // the tool's ID in the client
	Input                               json.RawMessage

	link *link
}

type callKey struct{}

// CallOf returns the call that a tool's context belongs to, or nil.
func CallOf(ctx context.Context) *Call {
	call, _ := ctx.Value(callKey{}).(*Call)
	return call
}

// Progress says how far a call is.
type Progress struct {
	Progress float64 `json:"progress"`         // ≥ 0
	Total    float64 `json:"total,omitzero"`   // 0 if unknown
	Message  string  `json:"message,omitzero"` // for people
}

// Progress tells the server how far the call is, which restarts the server's timeout of the call (CT 14.2).
func (c *Call) Progress(ctx context.Context, p Progress) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if socket := c.link.open(); socket != nil {
		// Not ctx: its end during a write would end the socket.
		return write(c.link.ctx, socket, message{Type: "progress", RequestID: c.RequestID, Progress: &p})
	}
	return c.link.c.exchange(ctx, http.MethodPost, "/client-tools/progress", struct {
		RequestID string `json:"requestID"`
		*Progress
	}{c.RequestID, &p}, nil)
}

// CallTool calls a tool of the server in the session of this call, and returns its content: a JSON array of items such
// as {"type":"text","text":"…"}. The user may be asked first, so only ctx bounds the wait (CT 14.3). A failure of the tool
// is a ToolError. An input of nil is left out.
func (c *Call) CallTool(ctx context.Context, tool string, input any) (json.RawMessage, error) {
	response, err := c.link.c.do(ctx, http.MethodPost, "/client-tools/call", struct {
		RequestID string `json:"requestID"`
		Tool      string `json:"tool"`
		Input     any    `json:"input,omitzero"`
	}{c.RequestID, tool, input})
	if err != nil {
		return nil, err
	}
	var outcome struct {
		Status, Error string
		Content       json.RawMessage
	}
	if err := decode(response, &outcome); err != nil {
		return nil, fmt.Errorf("call of %s: %w", tool, err)
	}
	if outcome.Status != "success" {
		return nil, &ToolError{tool, outcome.Error}
	}
	return outcome.Content, nil
}

// A ToolError is the failure of a tool of the server.
type ToolError struct{ Tool, Message string }

func (e *ToolError) Error() string { return e.Message }

func (l *link) parse(data []byte) (_ *Call, ok bool) {
	m := members(data)
	request, hasRequest := text(m["requestID"])
	tool, hasTool := text(m["tool"])
	if !hasRequest || !hasTool {
		return nil, false
	}
	call := &Call{RequestID: request, Tool: strings.TrimPrefix(tool, l.c.prefix()), Input: m["input"], link: l}
	call.SessionID, _ = text(m["sessionID"])
	call.MessageID, _ = text(m["messageID"])
	call.ID, _ = text(m["callID"])
	if call.Input == nil {
		call.Input = json.RawMessage("{}")
	}
	return call, true
}

// answer runs a call and submits its result (CT 11.4). The timeout only informs the handler.
func (l *link) answer(call *Call) {
	body, err := l.outcome(call)
	if err != nil {
		body, _ = marshal(failure{"error", err.Error()})
	}
	if l.ctx.Err() != nil { // S61
		return
	}
	if socket := l.open(); socket != nil {
		err = write(l.ctx, socket, message{Type: "result", RequestID: call.RequestID, Result: body})
	} else {
		err = l.c.exchange(l.ctx, http.MethodPost, "/client-tools/result", struct {
			RequestID string          `json:"requestID"`
			Result    json.RawMessage `json:"result"`
		}{call.RequestID, body}, nil)
	}
	if err != nil && l.ctx.Err() == nil {
		l.c.report(err)
	}
}

type failure struct {
	Status string `json:"status"`
	Error  string `json:"error"`
}

func (l *link) outcome(call *Call) ([]byte, error) {
	tool, ok := l.c.tool(call.Tool)
	if !ok {
		return nil, errors.New("Unknown tool: " + call.Tool)
	}
	ctx, cancel := context.WithTimeout(context.WithValue(l.ctx, callKey{}, call), l.c.options.Timeout)
	defer cancel()
	result, err := tool.Handle(ctx, call)
	if err != nil {
		return nil, err
	}
	if result == nil {
		return nil, ErrInvalidResult
	}
	body, err := marshal(struct {
		Status string `json:"status"`
		*Result
	}{"success", result})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidResult, err)
	}
	return body, nil
}
