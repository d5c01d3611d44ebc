package contract

import (
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// CheckMessage checks a message that is about to be sent on a socket or to a program. operation is that of the stream:
// "GET /path" or [spec.Program]. The event has the Item and the Data, is Sent, and has the Name that the stream's own
// namer returns for it (see [spec.Document.EventNamer]). As in requests, undeclared fields are not violations.
func (d *Document) CheckMessage(operation string, ev *transcript.Event) []Violation {
	op, ok := d.Named(operation)
	if !ok || op.Messages == nil {
		return nil
	}
	c := check{doc: d}
	c.event(ev, ev.Name, op.Messages, Violation{Side: Request})
	return c.out
}

func (c *check) stream(s *transcript.Stream, set *spec.EventStream, at Violation) {
	name := set.Namer()
	for i := range s.Events {
		ev := &s.Events[i]
		at.Event, at.Side = i, Event
		if ev.Sent {
			at.Side = Request
		}
		called := name(ev) // also for what is not checked, because later names depend on it
		if !ev.Sent || !ev.Malformed && !c.responsesOnly {
			c.event(ev, called, set, at)
		}
	}
}

// event checks an event with this name. at says whose it is.
func (c *check) event(ev *transcript.Event, name string, set *spec.EventStream, at Violation) {
	switch {
	case ev.Comment:
		if !set.Comments {
			c.violation(at, "event", spec.UndocumentedComment, set.Ref,
				"the comment %s stands here; the document does not say that the stream has comments", problem.Quote(ev.Data))
		}
		return
	case ev.Undispatched && ev.Type == "":
		return // a bare id, retry or blank line, which no client sees as an event
	}
	declared, allowed := set.Find(ev, name)
	switch {
	case declared == nil && allowed:
	case declared == nil:
		c.undocumentedEvent(name, set, ev, at)
	case ev.Undispatched:
		c.violation(at, "event data", spec.EventData, declared.Ref,
			"the event %s has no data field, so that a client is never told of it (WHATWG HTML 9.2.6)", problem.Quote(name))
	case ev.Item == transcript.ItemText && declared.Encoding != spec.JSON && !utf8.ValidString(ev.Data):
		c.violation(at, "event data", spec.TextInvalidUTF8, declared.Ref,
			"the text message %s contains bytes that are not UTF-8 (RFC 6455 §8.1)", problem.Quote(name))
	default:
		c.violations(at, "event data", declared.Ref, c.judge(declared.Schema, declared.Encoding, at.Side, []byte(ev.Data)))
	}
}

func (c *check) undocumentedEvent(name string, set *spec.EventStream, ev *transcript.Event, at Violation) {
	names := set.Side(ev).Names
	if len(names) == 0 && set.Noun == "message" {
		who := "server"
		if ev.Sent {
			who = "client"
		}
		c.violation(at, "event name", spec.UndocumentedEvent, set.Ref,
			"the message %s stands here; the document has no messages of the %s", problem.Quote(name), who)
		return
	}
	fix := ""
	if near, ok := problem.Nearest(name, names); ok {
		fix = "; did it mean " + problem.Quote(near) + "?"
	}
	c.violation(at, "event name", spec.UndocumentedEvent, set.Ref,
		"the %s %s is not among %s%s", set.Noun, problem.Quote(name), schema.QuoteAll(names), fix)
}
