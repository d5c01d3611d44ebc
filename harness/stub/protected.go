package stub

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// An authorization server also protects an MCP server over streamable HTTP, so that a client has a reason to sign in.
// It has one session, whatever the token is, and one tool.

const (
	protectedPath = "/mcp" // the end of its path
	sessionField  = "Mcp-Session-Id"
	sessionID     = "lockstep-session"
)

// protected returns the response of the protected server; nil for another path.
func protected(s *Server, r *transcript.Request) *Answer {
	if !s.kind.IsProtected(r) {
		return nil
	}
	if !hasToken(r.Header) {
		metadata := s.url + resourceDocument + path(r)
		return &Answer{Status: 401, Header: transcript.Header{{Name: "WWW-Authenticate", Value: `Bearer resource_metadata="` + metadata + `"`}}, Body: []byte{}}
	}
	if id, _ := r.Header.Get(sessionField); id != sessionID && !isInitialize(r) {
		return &Answer{Status: 404, Body: []byte{}}
	}
	switch r.Method {
	case "POST":
		return answerMCP(r.Body.Bytes)
	case "DELETE":
		return &Answer{Status: 200, Body: []byte{}}
	}
	return &Answer{Status: 405, Header: transcript.Header{{Name: "Allow", Value: "POST, DELETE"}}, Body: []byte{}}
}

// hasToken reports whether a request has an access token that the server may have issued.
func hasToken(h transcript.Header) bool {
	field, _ := h.Get("Authorization")
	number, known := strings.CutPrefix(field, "Bearer "+accessToken)
	n, err := strconv.Atoi(number)
	return known && err == nil && n > 0
}

// A message is what a client of MCP sends.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"params"`
}

func isInitialize(r *transcript.Request) bool {
	var m message
	return json.Unmarshal(r.Body.Bytes, &m) == nil && m.Method == "initialize"
}

// answerMCP answers a message.
func answerMCP(body []byte) *Answer {
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		return jsonAnswer(400, map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": -32700, "message": err.Error()}})
	}
	if m.ID == nil || m.Method == "" { // a notification or a response
		return &Answer{Status: 202, Body: []byte{}}
	}
	answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	if result := resultOf(&m); result != nil {
		answer["result"] = result
	} else {
		answer["error"] = map[string]any{"code": -32601, "message": "it has no " + m.Method}
	}
	a := jsonAnswer(200, answer)
	if m.Method == "initialize" {
		a.Header = append(a.Header, transcript.Field{Name: sessionField, Value: sessionID})
	}
	return a
}

// resultOf returns the result of a request; nil if the server does not know it.
func resultOf(m *message) any {
	switch {
	case m.Method == "initialize":
		return map[string]any{
			"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": "lockstep", "version": "1"},
		}
	case m.Method == "ping":
		return map[string]any{}
	case m.Method == "tools/list":
		return map[string]any{"tools": []any{map[string]any{
			"name": "echo", "description": "Returns its arguments, as the text that came", "inputSchema": map[string]any{"type": "object"},
		}}}
	case m.Method == "tools/call" && m.Params.Name == "echo":
		text := string(m.Params.Arguments)
		if text == "" {
			text = "{}"
		}
		return map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}
	}
	return nil
}
