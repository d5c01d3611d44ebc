package coverage

import (
	"strconv"

	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// New returns the table of a document in which nothing has been reached.
func New(d *spec.Document) *Coverage {
	c := &Coverage{doc: d, codes: map[*spec.Response][][]string{}}
	for _, op := range operations(d) {
		o := Operation{ID: op.ID, Method: op.Method, Path: op.Path, Line: d.Line(op.Ref)}
		if op.Body != nil {
			for _, m := range op.Body.Media {
				o.Requests = append(o.Requests, Media{Type: m.Name})
			}
		}
		for _, r := range op.Responses {
			s := Status{Status: r.Code, Line: d.Line(op.Ref + "/responses/" + r.Code)}
			for _, h := range r.Headers {
				s.Headers = append(s.Headers, Header{Name: h.Name})
			}
			s.Codes, c.codes[r] = codesOf(r)
			for _, m := range r.Media {
				row := Media{Type: m.Name}
				if m.Type.IsStream() {
					row.Stream = declaredEvents(d, m.Events)
				}
				s.Media = append(s.Media, row)
			}
			o.Statuses = append(o.Statuses, s)
		}
		if op.Messages != nil || op.IsSocket() {
			o.Messages = declaredEvents(d, op.Messages)
		}
		c.Operations = append(c.Operations, o)
	}
	declared := newDeclarations(d)
	c.Schemas = declared.rows
	c.marker = newMarker(declared)
	return c
}

// operations returns the operations of a document. A program comes last.
func operations(d *spec.Document) []*spec.Operation {
	ops := d.Operations()
	if program, ok := d.Named(spec.Program); ok {
		ops = append(ops, program)
	}
	return ops
}

// declaredEvents returns the row of a stream. The set is nil if its events are not described.
func declaredEvents(d *spec.Document, set *spec.EventStream) *Stream {
	s := &Stream{Described: set != nil}
	if set != nil {
		for _, e := range set.All() {
			s.Events = append(s.Events, Event{Name: e.Label, Line: d.Line(e.Ref)})
		}
	}
	return s
}

// Add counts what a transcript reached. A broken exchange does not count. HEAD and OPTIONS do not count for what
// another method declares. Only a coverage from New can count.
func (c *Coverage) Add(t *transcript.Transcript) { c.AddNormalized(t, nil) }

// AddNormalized is Add, but applies shape to the names of what is not documented.
func (c *Coverage) AddNormalized(t *transcript.Transcript, shape Normalizer) {
	if c.doc == nil {
		panic("contract: Add to a Coverage that NewCoverage did not make")
	}
	a := addition{c, t.Scenario, shape}
	for i := range t.Steps {
		for _, ex := range t.Steps[i].Exchanges {
			a.addExchange(ex, t.Steps[i].Uncompared)
		}
	}
	for _, s := range t.Streams {
		if at, ok := a.doc.Stream(t, s); ok {
			a.addStream(at, s)
		}
	}
}

func (a addition) addExchange(ex *transcript.Exchange, uncompared bool) {
	r := ex.Response
	// A stream that the scenario closed is not broken, and a stream that broke was still reached.
	if r == nil || ex.Failure != nil && ex.Stream == "" {
		return
	}
	method := ex.Request.Method
	op, ok := a.doc.Operation(method, ex.Request.Target)
	switch {
	case !ok && method == "OPTIONS" && a.doc.PathTemplate(ex.Request.Target) != "", ok && op.Method != method:
		return
	case !ok:
		a.unknownOperation(ex)
		return
	}
	o := a.operation(op)
	o.Reached++
	a.addRequest(o, op, &ex.Request)
	declared := op.Response(r.Status)
	if declared == nil {
		a.undeclared(spec.UndocumentedStatus, op, strconv.Itoa(r.Status))
		return
	}
	s := o.status(declared.Code)
	s.Reached++
	a.addHeaders(s, declared, r.Header)
	contentType, typed := r.Header.Get("Content-Type")
	if m := spec.FindMedia(declared.Media, contentType); m != nil {
		into := s.media(m.Name)
		into.Reached++
		if uncompared {
			into.Uncompared++
		}
		a.addBody(s, declared, m, ex)
	} else if typed && len(declared.Media) > 0 {
		a.undeclared(spec.UndocumentedMediaType, op, contentType)
	}
}

// addRequest counts the body of a request. One that breaks the document on purpose does not count for what is declared.
func (c *Coverage) addRequest(o *Operation, op *spec.Operation, r *transcript.Request) {
	if op.Body == nil || r.Malformed || r.Body.Size == 0 {
		return
	}
	contentType, _ := r.Header.Get("Content-Type")
	m := spec.FindMedia(op.Body.Media, contentType)
	if m == nil {
		return
	}
	row(o.Requests, func(x *Media) bool { return x.Type == m.Name }).Reached++
	if r.Body.Whole() && !r.Body.Undecoded(r.Header) {
		c.marker.content(m.Schema, spec.ParseMediaType(contentType).Encoding(), Requests, r.Body.Bytes)
	}
}

func (c *Coverage) addHeaders(into *Status, declared *spec.Response, header transcript.Header) {
	for i, h := range declared.Headers {
		s := h.InHeader(header)
		if s.None() {
			continue
		}
		into.Headers[i].Reached++
		c.marker.field(h, s)
	}
}

// addBody marks what is in the body of a response, if the body is complete.
func (c *Coverage) addBody(into *Status, declared *spec.Response, m *spec.Media, ex *transcript.Exchange) {
	r := ex.Response
	if m.Type.IsStream() || ex.Stream != "" || ex.Failure != nil || r.Body.Size != int64(len(r.Body.Bytes)) || r.Body.Size == 0 || r.Body.Undecoded(r.Header) {
		return
	}
	contentType, _ := r.Header.Get("Content-Type")
	how := spec.ParseMediaType(contentType).Encoding()
	c.marker.content(m.Schema, how, Responses, r.Body.Bytes)
	if how == spec.JSON {
		markCodes(into.Codes, c.codes[declared], r.Body.Bytes)
	}
}

func (a addition) addStream(at spec.Stream, s *transcript.Stream) {
	o := a.operation(at.Op)
	if s.Wire == transcript.WireProgram {
		o.Reached++ // without any exchange
	}
	if at.Events == nil {
		return
	}
	into := o.Messages
	if at.Media != nil {
		into = o.status(at.Response.Code).media(at.Media.Name).Stream
	}
	name := at.Events.Namer()
	for i := range s.Events {
		ev := &s.Events[i]
		called := name(ev)
		if ev.Comment || ev.Undispatched || ev.Malformed {
			continue
		}
		declared, allowed := at.Events.Find(ev, called)
		if declared == nil {
			if !allowed {
				a.undeclared(spec.UndocumentedEvent, at.Op, called)
			}
			continue
		}
		into.event(declared.Label).Reached++
		in := Responses
		if ev.Sent {
			in = Requests
		}
		a.marker.content(declared.Schema, declared.Encoding, in, []byte(ev.Data))
	}
}

func (c *Coverage) operation(op *spec.Operation) *Operation {
	return row(c.Operations, func(r *Operation) bool { return r.Method == op.Method && r.Path == op.Path })
}
