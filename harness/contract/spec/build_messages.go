package spec

import (
	"fmt"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// messagesKeyword is the extension of an operation that describes the messages of its socket. At the root of the
// document, it describes those of a program.
const messagesKeyword = "x-messages"

// controlItems are what a socket or a program may have beside messages.
var controlItems = []transcript.Item{
	transcript.ItemClose, transcript.ItemExit, transcript.ItemPing, transcript.ItemPong, transcript.ItemBytes,
	transcript.ItemStderr, transcript.ItemSignal, transcript.ItemEOF,
}

// unnamed are the names of messages without a discriminator, and of what else can be described.
var unnamed = []string{
	string(transcript.ItemText), string(transcript.ItemBinary), string(transcript.ItemLine), string(transcript.ItemClose), string(transcript.ItemExit),
}

// socketMessages reads x-messages of an operation.
func (x extension) socketMessages(op *Operation, extensions map[string]any) *EventStream {
	_, ok := extensions[messagesKeyword]
	switch at := op.Ref + "/" + messagesKeyword; {
	case !ok && op.IsSocket():
		x.undescribed("the messages of this socket", extensions, op.Ref, messagesKeyword)
		return nil
	case !ok:
		return nil
	case op.Method != "GET":
		x.b.Problem(at, fmt.Sprintf("%s is not allowed for %s; only a GET opens a socket", messagesKeyword, op.Method), "")
		return nil
	case op.Response(101) == nil:
		x.b.Problem(at, messagesKeyword+" needs the response 101, which opens the socket", "add under responses: '101': {description: Switching Protocols}")
		return nil
	}
	return x.messages(extensions, op.Ref)
}

// programMessages returns the operation of a program, or nil. alone is set when the document has no other operation.
func (x extension) programMessages(alone bool) *Operation {
	if _, ok := x.b.doc.Extensions[messagesKeyword]; ok {
		return &Operation{Path: Program, Ref: "#/" + messagesKeyword, Messages: x.messages(x.b.doc.Extensions, "#")}
	}
	if key := misspelt(x.b.doc.Extensions, messagesKeyword); key != "" {
		report := x.b.Note // it may mean something else
		if alone {
			report = x.b.Problem
		}
		report("#/"+key, fmt.Sprintf("unknown key %q", key), fmt.Sprintf("did you mean %q?", messagesKeyword))
	}
	return nil
}

// misplacedMessages reports x-messages where it has no effect.
func (x extension) misplacedMessages(extensions map[string]any, ref string) {
	if _, ok := extensions[messagesKeyword]; ok {
		x.b.Problem(ref+"/"+messagesKeyword, messagesKeyword+" has no effect here",
			"move it into the operation that opens the socket, beside responses; that of a program, to the root of the document")
	}
}

// messages reads x-messages of an object.
func (x extension) messages(extensions map[string]any, ref string) *EventStream {
	ref += "/" + messagesKeyword
	set := &EventStream{Ref: ref, Noun: "message"}
	top, ok := extensions[messagesKeyword].(map[string]any)
	if !ok {
		x.b.Problem(ref, messagesKeyword+" is not an object", "write the keys name, received and sent")
		return set
	}
	x.unknownKeys(top, ref, messagesKeyword, "name", "received", "sent")
	if raw, ok := top["name"]; ok {
		text, _ := raw.(string)
		set.jsonRPC = text == "jsonrpc"
		if set.name, ok = ParsePointer(text); !ok && !set.jsonRPC {
			x.b.Problem(ref+"/name", fmt.Sprintf("name is %v", raw),
				`write jsonrpc, or a JSON Pointer to a string or a number in the message: "/type"`)
		}
	}
	_, received := top["received"]
	_, sent := top["sent"]
	if received {
		set.Received = x.eventSet(set.Noun, top, ref, "received")
	}
	if sent {
		set.Sent = x.eventSet(set.Noun, top, ref, "sent")
	}
	if !received && !sent {
		x.b.Problem(ref, messagesKeyword+" has no messages", "list them by name: those that the client gets under received, its own under sent")
	}
	x.checkNames(set, top["name"] == nil)
	return set
}

// checkNames reports messages that cannot occur, because nothing in a message names them. It tells messages apart that
// both sides may send.
func (x extension) checkNames(set *EventStream, unknown bool) {
	for _, side := range []*EventSet{&set.Received, &set.Sent} {
		for _, name := range side.Names {
			e := side.Events[name]
			if e != nil && unknown && !slices.Contains(unnamed, name) {
				x.b.Problem(e.Ref, fmt.Sprintf("no message has the name %q, because %s has no name", name, messagesKeyword),
					`write where messages have it, such as name: /type; without that, they are text, binary or line`)
			}
		}
	}
	for _, name := range set.Received.Names {
		if received, sent := set.Received.Events[name], set.Sent.Events[name]; received != nil && sent != nil {
			received.Label, sent.Label = "received "+name, "sent "+name
		}
	}
}
