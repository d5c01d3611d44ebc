package contract

import (
	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

func (c *check) stream(s *transcript.Stream, set *spec.EventStream, at Violation) {
	at.Side = Event
	for i := range s.Events {
		at.Event = i
		c.event(&s.Events[i], set, at)
	}
}

func (c *check) event(ev *transcript.Event, set *spec.EventStream, at Violation) {
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
	name := set.NameOf(ev)
	declared := set.Events[name]
	switch {
	case declared == nil:
		fix := ""
		if near, ok := problem.Nearest(name, set.Names); ok {
			fix = "; did it mean " + problem.Quote(near) + "?"
		}
		c.violation(at, "event name", spec.UndocumentedEvent, set.Ref,
			"the event %s is not among %s%s", problem.Quote(name), schema.QuoteAll(set.Names), fix)
	case ev.Undispatched:
		c.violation(at, "event data", spec.EventData, declared.Ref,
			"the event %s has no data field, so that a client is never told of it (WHATWG HTML 9.2.6)", problem.Quote(name))
	default:
		c.violations(at, "event data", declared.Ref, c.judge(declared.Schema, declared.Encoding, Event, []byte(ev.Data)))
	}
}
