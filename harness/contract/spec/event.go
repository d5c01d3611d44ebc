package spec

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Program is the operation of a program's standard input and output. That of a socket is "GET /path".
const Program = string(transcript.WireProgram)

// An EventStream is what the document says about the events of one stream: x-events of a text/event-stream, or
// x-messages of a socket or a program.
type EventStream struct {
	Ref      string
	Noun     string // what texts call one of them: "event" or "message"
	Comments bool
	Received EventSet // what the server sends
	Sent     EventSet // what the client sends; empty for x-events

	name    []string // JSON Pointer tokens of an event's name in its data; nil means the event field, or the item
	jsonRPC bool     // events are named as JSON-RPC 2.0 tells them apart
}

// An EventSet has the events that one side may send.
type EventSet struct {
	Ref    string
	Events map[string]*Event
	Names  []string // in the order of the document
}

// An Event is one kind of event of a stream.
type Event struct {
	Ref string
	// Label is its name, after "received" or "sent" if both sides may send an event of that name.
	Label    string
	Schema   *schema.Schema
	Encoding Encoding
}

// Find returns the declaration of an event with that name, or nil. allowed is set for an event that needs none: control
// frames, and what else is not a message. Of these, only a received close and exit can be described.
func (set *EventStream) Find(ev *transcript.Event, name string) (e *Event, allowed bool) {
	if !isMessage(ev) && (ev.Sent || ev.Item != transcript.ItemClose && ev.Item != transcript.ItemExit) {
		return nil, true
	}
	return set.Side(ev).Events[name], !isMessage(ev)
}

// Side returns the events of the side that has sent an event.
func (set *EventStream) Side(ev *transcript.Event) *EventSet {
	if ev.Sent {
		return &set.Sent
	}
	return &set.Received
}

// All returns the events of both sides, in the order of the document.
func (set *EventStream) All() (all []*Event) {
	for _, side := range []*EventSet{&set.Received, &set.Sent} {
		for _, name := range side.Names {
			all = append(all, side.Events[name])
		}
	}
	return all
}

// isMessage reports whether an event has content of the application, and so a name in the contract.
func isMessage(ev *transcript.Event) bool {
	switch ev.Item {
	case "", transcript.ItemText, transcript.ItemBinary, transcript.ItemLine:
		return true
	}
	return false
}

// ValueAt returns the value at a place, or nil.
func ValueAt(n *jsontree.Node, tokens []string) *jsontree.Node {
	for _, token := range tokens {
		if n == nil || n.Kind != jsontree.Object {
			return nil // a name in an array would be ambiguous
		}
		n = n.Member(token)
	}
	return n
}

// ParsePointer returns the tokens of a JSON Pointer that is not empty.
func ParsePointer(s string) (tokens []string, ok bool) {
	rest, ok := strings.CutPrefix(s, "/")
	if !ok || strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(rest), "~") {
		return nil, false
	}
	for token := range strings.SplitSeq(rest, "/") {
		tokens = append(tokens, jsontree.UnescapeName(token))
	}
	return tokens, true
}
