package sequences

import (
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// register registers tools for a client.
func (s *story) register(client string) string {
	list := &node{Kind: jsontree.Array}
	for range 1 + s.Intn(2) {
		list.Items = append(list.Items, object("id", s.pick(tools), "description", s.someText(), "parameters", s.freeObject()))
	}
	list.Items = append(list.Items, object("id", "add", "description", "Adds", "parameters", object()))
	s.tools[client] = 1
	return s.step("POST", "/client-tools/register", object("clientID", "${{ "+client+" }}", "tools", list))
}

// listen opens the stream of a client's pending requests, unless it is open.
func (s *story) listen(client string) string {
	if s.pending[client] != "" {
		return ""
	}
	s.pending[client] = s.name("pending")
	return "- open: " + s.pending[client] + "\n  sse: \"GET /client-tools/pending/${{ " + client + " }}\"\n"
}

// execute calls a tool of a listening client, and continues in one of several ways.
func (s *story) execute() {
	client := s.pick(s.ours)
	call, request, in := s.name("call"), s.name("request"), "${{ "+client+" }}"
	steps := []string{s.register(client), s.listen(client)}
	ask := object("toolID", "client_"+in+"_add", "callID", s.safe(), "sessionID", s.someText(), "messageID", "m", "input", s.freeObject(), "timeout", parse("20000"))
	if s.chance(3) {
		ask.Set("requestID", text(s.pick([]string{"r", "__proto__", "é", "\u2028"})))
	}
	how := s.Intn(6)
	if how == 0 {
		ask.Set("timeout", parse("100"))
	}
	stream := s.pending[client]
	steps = append(steps, "- start: "+call+"\n  http: POST /client-tools/execute\n"+s.body("POST", "/client-tools/execute", ask),
		"- await: "+stream+"\n  match: {event: tool-request}\n  capture: {"+request+": $.requestID}\n")
	result := object("requestID", "${{ "+request+" }}", "result", object("status", "success", "title", s.someText(), "output", s.someText()))
	switch how {
	case 1:
		result = object("requestID", "${{ "+request+" }}", "result", object("status", "error", "error", s.someText()))
	case 2:
		result.Items[1].Set("metadata", s.freeObject())
	case 3: // the tool is unregistered while its caller waits
		steps = append(steps, s.step("DELETE", "/client-tools/unregister", object("clientID", in)), gone(client))
		s.tools[client] = 0
	case 4: // the client leaves while the caller waits
		steps = append(steps, s.leave(client)...)
	case 5:
		steps = append(steps, s.step("POST", "/client-tools/result", s.twist(object("requestID", "none", "result", object("status", "success", "title", "", "output", "")))))
	}
	answer := s.step("POST", "/client-tools/result", result)
	if how == 0 {
		steps = append(steps, "- join: "+call+"\n", answer)
	} else {
		steps = append(steps, answer, "- join: "+call+"\n")
	}
	if s.chance(2) {
		steps = append(steps, answer)
	}
	s.add(strings.Join(steps, ""))
}

// leave closes the stream of a client, and waits until the server has noticed.
func (s *story) leave(client string) []string {
	stream := s.pending[client]
	delete(s.pending, client)
	s.tools[client] = 0
	return []string{"- close: " + stream + "\n", gone(client)}
}

// gone waits for the event that a client has no tools left.
func gone(client string) string {
	return "- await: bus\n  match: {event: client-tool.unregistered, json: {$.properties.clientID: \"${{ " + client + " }}\"}}\n"
}

// tool does something with the tools of a client.
func (s *story) tool() {
	client := s.pick(s.ours)
	switch in := "${{ " + client + " }}"; s.Intn(5) {
	case 0:
		s.add(s.register(client), s.step("GET", "/client-tools/tools/"+in, nil))
	case 1:
		if s.pending[client] != "" && s.tools[client] > 0 {
			s.add(s.leave(client)...)
			return
		}
		s.add(s.register(client), s.listen(client))
	case 2: // unknown, or no longer there
		s.add(s.step("POST", "/client-tools/execute", object("toolID", "client_"+in+"_"+s.pick([]string{"none", "toString", "é\u0301"}), "timeout", parse("100"))))
	default:
		s.execute()
	}
}
