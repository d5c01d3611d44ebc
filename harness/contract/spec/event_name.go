package spec

import (
	"strings"
	"sync"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// EventNamer returns a function that names the events of one stream of an operation. It must get all of them, in their
// order, because a JSON-RPC response is named by its request. It may be called concurrently.
//
// By x-events, the name is the event field, or the string at a place in the data. Without a name there, it is the event
// field, or else "message", as in a browser (WHATWG HTML 9.2.6). A comment has no name. By x-messages, the name of a
// message is the string or the number at a place in it, or that of JSON-RPC. Without a name there, and for what is not
// a message, the name is the Item. The document need not have the operation.
func (d *Document) EventNamer(operation string) func(*transcript.Event) string {
	var events, messages *EventStream
	if op := d.named[operation]; op != nil {
		events, messages = op.eventStream, op.Messages
	}
	event, message := events.Namer(), messages.Namer()
	return func(ev *transcript.Event) string {
		if ev.Item != "" {
			return message(ev)
		}
		return event(ev)
	}
}

// Namer is [Document.EventNamer] for a stream that is described by the set, which may be nil.
func (set *EventStream) Namer() func(*transcript.Event) string {
	if set == nil {
		set = new(EventStream)
	}
	n := namer{set: set}
	return n.name
}

// A namer names the events of one stream.
type namer struct {
	set *EventStream

	mu      sync.Mutex
	methods [2]map[string]string // by the id of the request; those of received requests, and of sent ones
	size    int                  // of the methods and ids
}

func (n *namer) name(ev *transcript.Event) string {
	if ev.Comment {
		return ""
	}
	if isMessage(ev) && (n.set.name != nil || n.set.jsonRPC) {
		if root, _, err := jsontree.Parse([]byte(ev.Data)); err == nil {
			if name, ok := n.inData(root, ev); ok {
				return name
			}
		}
	}
	switch {
	case ev.Item != "":
		return string(ev.Item)
	case ev.Type != "":
		return ev.Type
	}
	return "message"
}

func (n *namer) inData(root *jsontree.Node, ev *transcript.Event) (name string, ok bool) {
	if n.set.jsonRPC {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.rpc(root, ev.Sent)
	}
	at := ValueAt(root, n.set.name)
	if at != nil && (at.Kind == jsontree.String || at.Kind == jsontree.Number && ev.Item != "") {
		return at.Text, true
	}
	return "", false
}

// rpc names a message of JSON-RPC 2.0: a request and a notification by the method, a response by the method that it
// answers, and whether it is a result or an error.
func (n *namer) rpc(m *jsontree.Node, sent bool) (name string, ok bool) {
	if m.Kind == jsontree.Array {
		for _, one := range m.Items {
			if one.Kind == jsontree.Object {
				n.rpc(one, sent)
			}
		}
		return "batch", true
	}
	member := func(name string) *jsontree.Node { return ValueAt(m, []string{name}) }
	id := member("id")
	if method := member("method"); method != nil && method.Kind == jsontree.String {
		n.remember(id, method.Text, sent)
		return method.Text, true
	}
	switch problem := member("error"); {
	case problem != nil && (problem.Kind != jsontree.Null || member("result") == nil):
		name = "error"
	case member("result") != nil:
		name = "result"
	default:
		return "", false
	}
	if id != nil {
		if method, known := n.methods[sideOf(!sent)][id.String()]; known {
			name = method + " " + name
		}
	}
	return name, true
}

// maxRemembered limits the bytes that are kept of a stream's requests. A response to a later request has no method.
const maxRemembered = 16 << 20

// remember keeps the method of a request for the name of its response. A notification has no id, and a response with
// the id null belongs to no request.
func (n *namer) remember(id *jsontree.Node, method string, sent bool) {
	if id == nil || id.Kind == jsontree.Null {
		return
	}
	const entry = 64 // about what a map needs for it
	key := id.String()
	if n.size += len(key) + len(method) + entry; n.size > maxRemembered {
		return
	}
	side := sideOf(sent)
	if n.methods[side] == nil {
		n.methods[side] = map[string]string{}
	}
	n.methods[side][key] = strings.Clone(method) // the method is a part of the message
}

func sideOf(sent bool) int {
	if sent {
		return 1
	}
	return 0
}
