package contract

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// An eventSet is what x-events says about one text/event-stream.
type eventSet struct {
	ref      string
	name     []string // the tokens of the JSON Pointer to an event's name in its data; nil: the event field
	comments bool
	events   map[string]*event
	names    []string // of events, in the order of the document
}

// An event is one kind of event of a stream.
type event struct {
	ref    string
	schema *schema
	how    content
}

// nameOf returns the name of an event. The set may be nil.
func (set *eventSet) nameOf(ev *transcript.Event) string {
	if ev.Comment {
		return ""
	}
	if set != nil && set.name != nil {
		if n, _, err := jsontree.Parse([]byte(ev.Data)); err == nil {
			if name := at(n, set.name); name != nil && name.Kind == jsontree.String {
				return name.Text
			}
		}
	}
	if ev.Type != "" {
		return ev.Type
	}
	return "message"
}

// at returns the value at a place, or nil.
func at(n *jsontree.Node, tokens []string) *jsontree.Node {
	for _, token := range tokens {
		if n == nil || n.Kind != jsontree.Object {
			return nil // a name never stands in an array: which element would it be?
		}
		n = n.Member(token)
	}
	return n
}

// stream checks the events of one stream.
func (d *Document) stream(out []Violation, s *transcript.Stream, set *eventSet, at Violation) []Violation {
	at.Side = Event
	for i := range s.Events {
		at.Event = i
		out = d.event(out, &s.Events[i], set, at)
	}
	return out
}

func (d *Document) event(out []Violation, ev *transcript.Event, set *eventSet, at Violation) []Violation {
	if ev.Comment {
		if !set.comments {
			out = append(out, d.violation(at, "event", UndocumentedComment, set.ref,
				"the comment %s stands here; the document does not say that the stream has comments", quote(ev.Data)))
		}
		return out
	}
	if ev.Undispatched && ev.Type == "" {
		return out // a bare id, retry or blank line: no event to anybody
	}
	name := set.nameOf(ev)
	declared := set.events[name]
	switch {
	case declared == nil:
		fix := ""
		if near, ok := problem.Nearest(name, set.names); ok {
			fix = "; did it mean " + quote(near) + "?"
		}
		return append(out, d.violation(at, "event name", UndocumentedEvent, set.ref,
			"the event %s is not among %s%s", quote(name), quoteAll(set.names), fix))
	case ev.Undispatched:
		return append(out, d.violation(at, "event data", EventData, declared.ref,
			"the event %s has no data field, so that a client is never told of it (WHATWG HTML 9.2.6)", quote(name)))
	}
	found := d.verdict(declared.schema, declared.how, Event, []byte(ev.Data))
	return d.violations(out, at, "event data", declared.ref, found)
}

// parsePointer returns the tokens of a JSON Pointer that is not empty.
func parsePointer(s string) (tokens []string, ok bool) {
	rest, ok := strings.CutPrefix(s, "/")
	if !ok || strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(rest), "~") {
		return nil, false
	}
	for token := range strings.SplitSeq(rest, "/") {
		tokens = append(tokens, unescapePointer(token))
	}
	return tokens, true
}
