package spec

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// An EventStream is what x-events says about one text/event-stream.
type EventStream struct {
	Ref      string
	name     []string // JSON Pointer tokens of an event's name in its data; nil means the event field
	Comments bool
	Events   map[string]*Event
	Names    []string // names of the events, in the order of the document
}

// An Event is one kind of event of a stream.
type Event struct {
	Ref      string
	Schema   *schema.Schema
	Encoding Encoding
}

// NameOf returns the name of an event. The set may be nil.
func (set *EventStream) NameOf(ev *transcript.Event) string {
	if ev.Comment {
		return ""
	}
	if set != nil && set.name != nil {
		if n, _, err := jsontree.Parse([]byte(ev.Data)); err == nil {
			if name := ValueAt(n, set.name); name != nil && name.Kind == jsontree.String {
				return name.Text
			}
		}
	}
	if ev.Type != "" {
		return ev.Type
	}
	return "message"
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
