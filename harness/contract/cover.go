package contract

import (
	"fmt"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// NewCoverage returns the table of the document, with nothing reached.
func (d *Document) NewCoverage() *Coverage {
	c := &Coverage{doc: d}
	for _, op := range d.ops {
		o := OperationCoverage{ID: op.ID, Method: op.Method, Path: op.Path}
		for _, r := range op.responses {
			s := StatusCoverage{Status: r.code}
			for _, m := range r.media {
				s.Media = append(s.Media, MediaCoverage{Type: m.name, Stream: declaredEvents(m)})
			}
			o.Statuses = append(o.Statuses, s)
		}
		c.Operations = append(c.Operations, o)
	}
	return c
}

func declaredEvents(m *media) *StreamCoverage {
	if !m.typ.isStream() {
		return nil
	}
	s := &StreamCoverage{Described: m.events != nil}
	if m.events != nil {
		for _, name := range m.events.names {
			s.Events = append(s.Events, EventCoverage{Name: name})
		}
	}
	return s
}

// Add counts what a transcript reached. An exchange that broke does not count, nor does HEAD or OPTIONS as reaching what
// another method declares. Only a coverage from NewCoverage has a document to count by; one that was read from a report
// is for Merge.
func (c *Coverage) Add(t *transcript.Transcript) {
	if c.doc == nil {
		panic("contract: Add to a Coverage that NewCoverage did not make")
	}
	for i := range t.Steps {
		for _, ex := range t.Steps[i].Exchanges {
			c.addExchange(ex)
		}
	}
	for _, s := range t.Streams {
		if ex, _ := opening(t, s); ex != nil && ex.Response != nil {
			c.addStream(ex, s)
		}
	}
}

func (c *Coverage) addExchange(ex *transcript.Exchange) {
	r := ex.Response
	// A stream that the scenario closed has not broken; one that broke has been reached all the same.
	if r == nil || ex.Failure != nil && ex.Stream == "" {
		return
	}
	method := ex.Request.Method
	op, ok := c.doc.Operation(method, ex.Request.Target)
	switch {
	case !ok && method == "OPTIONS" && c.doc.routes.knows(path(ex.Request.Target)), ok && op.Method != method:
		return
	case !ok:
		c.undocumented(UndocumentedOperation, method+" "+path(ex.Request.Target), 1)
		return
	}
	o := c.operation(op)
	o.Reached++
	declared := op.response(r.Status)
	if declared == nil {
		c.undocumented(UndocumentedStatus, fmt.Sprintf("%s: %d", op, r.Status), 1)
		return
	}
	s := o.status(declared.code)
	s.Reached++
	contentType, typed := r.Header.Get("Content-Type")
	if m := find(declared.media, contentType); m != nil {
		s.media(m.name).Reached++
	} else if typed && len(declared.media) > 0 {
		c.undocumented(UndocumentedMediaType, fmt.Sprintf("%s: %s", op, contentType), 1)
	}
}

func (c *Coverage) addStream(ex *transcript.Exchange, s *transcript.Stream) {
	op, _ := c.doc.Operation(ex.Request.Method, ex.Request.Target)
	m := op.stream(ex.Response)
	if m == nil || m.events == nil {
		return
	}
	into := c.operation(op).status(op.response(ex.Response.Status).code).media(m.name).Stream
	for i := range s.Events {
		ev := &s.Events[i]
		if ev.Comment || ev.Undispatched {
			continue
		}
		name := m.events.nameOf(ev)
		if m.events.events[name] == nil {
			c.undocumented(UndocumentedEvent, fmt.Sprintf("%s: %s", op, name), 1)
			continue
		}
		into.event(name).Reached++
	}
}

func (c *Coverage) operation(op *Operation) *OperationCoverage {
	return row(&c.Operations, func(r *OperationCoverage) bool { return r.Method == op.Method && r.Path == op.Path })
}
