package sequences

import (
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// clientTools knows which tools each client has, and writes steps about them.
type clientTools struct {
	values  *values
	out     *writer
	tools   map[string]int // by client: the least number of tools that it has
	pending map[string]string
	ours    []string // clients that only valid requests are about
}

// register registers tools for a client.
func (c *clientTools) register(client string) string {
	list := &node{Kind: jsontree.Array}
	for range 1 + c.values.Intn(2) {
		list.Items = append(list.Items, object("id", c.values.pick(tools), "description", c.values.someText(), "parameters", c.values.freeObject()))
	}
	list.Items = append(list.Items, object("id", "add", "description", "Adds", "parameters", object()))
	c.tools[client] = 1
	return c.out.step("POST", "/client-tools/register", object("clientID", "${{ "+client+" }}", "tools", list))
}

// listen opens the stream of a client's pending requests, unless it is open.
func (c *clientTools) listen(client string) string {
	if c.pending[client] != "" {
		return ""
	}
	c.pending[client] = c.out.name("pending")
	return "- open: " + c.pending[client] + "\n  sse: \"GET /client-tools/pending/${{ " + client + " }}\"\n"
}

// execute calls a tool of a listening client, and continues in one of several ways.
func (c *clientTools) execute() {
	client := c.values.pick(c.ours)
	call, request, in := c.out.name("call"), c.out.name("request"), "${{ "+client+" }}"
	steps := []string{c.register(client), c.listen(client)}
	ask := object("toolID", "client_"+in+"_add", "callID", c.values.safe(), "sessionID", c.values.someText(), "messageID", "m", "input", c.values.freeObject(), "timeout", parse("20000"))
	if c.values.chance(3) {
		ask.Set("requestID", text(c.values.pick([]string{"r", "__proto__", "é", "\u2028"})))
	}
	how := c.values.Intn(6)
	if how == 0 {
		ask.Set("timeout", parse("100"))
	}
	stream := c.pending[client]
	steps = append(steps, "- start: "+call+"\n  http: POST /client-tools/execute\n"+c.out.body("POST", "/client-tools/execute", ask),
		"- await: "+stream+"\n  match: {event: tool-request}\n  capture: {"+request+": $.requestID}\n")
	result := object("requestID", "${{ "+request+" }}", "result", object("status", "success", "title", c.values.someText(), "output", c.values.someText()))
	switch how {
	case 1:
		result = object("requestID", "${{ "+request+" }}", "result", object("status", "error", "error", c.values.someText()))
	case 2:
		result.Items[1].Set("metadata", c.values.freeObject())
	case 3: // the tool is unregistered while its caller waits
		steps = append(steps, c.out.step("DELETE", "/client-tools/unregister", object("clientID", in)), gone(client))
		c.tools[client] = 0
	case 4: // the client leaves while the caller waits
		steps = append(steps, c.leave(client)...)
	case 5:
		steps = append(steps, c.out.step("POST", "/client-tools/result", c.values.twist(object("requestID", "none", "result", object("status", "success", "title", "", "output", "")))))
	}
	answer := c.out.step("POST", "/client-tools/result", result)
	if how == 0 {
		steps = append(steps, "- join: "+call+"\n", answer)
	} else {
		steps = append(steps, answer, "- join: "+call+"\n")
	}
	if c.values.chance(2) {
		steps = append(steps, answer)
	}
	c.out.add(strings.Join(steps, ""))
}

// leave closes the stream of a client, and waits until the server has noticed.
func (c *clientTools) leave(client string) []string {
	stream := c.pending[client]
	delete(c.pending, client)
	c.tools[client] = 0
	return []string{"- close: " + stream + "\n", gone(client)}
}

// gone waits for the event that a client has no tools left.
func gone(client string) string {
	return "- await: bus\n  match: {event: client-tool.unregistered, json: {$.properties.clientID: \"${{ " + client + " }}\"}}\n"
}

// tool does something with the tools of a client.
func (c *clientTools) tool() {
	client := c.values.pick(c.ours)
	switch in := "${{ " + client + " }}"; c.values.Intn(5) {
	case 0:
		c.out.add(c.register(client), c.out.step("GET", "/client-tools/tools/"+in, nil))
	case 1:
		if c.pending[client] != "" && c.tools[client] > 0 {
			c.out.add(c.leave(client)...)
			return
		}
		c.out.add(c.register(client), c.listen(client))
	case 2: // unknown, or no longer there
		c.out.add(c.out.step("POST", "/client-tools/execute", object("toolID", "client_"+in+"_"+c.values.pick([]string{"none", "toString", "é\u0301"}), "timeout", parse("100"))))
	default:
		c.execute()
	}
}
