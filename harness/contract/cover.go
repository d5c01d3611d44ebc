package contract

import (
	"slices"
	"strconv"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// NewCoverage returns the table of the document, with nothing reached.
func (d *Document) NewCoverage() *Coverage {
	c := &Coverage{doc: d, codes: map[*response][][]string{}}
	for _, op := range d.ops {
		o := OperationCoverage{ID: op.ID, Method: op.Method, Path: op.Path, Line: d.src.line(op.ref)}
		if op.body != nil {
			for _, m := range op.body.media {
				o.Requests = append(o.Requests, MediaCoverage{Type: m.name})
			}
		}
		for _, r := range op.responses {
			s := StatusCoverage{Status: r.code, Line: d.src.line(op.ref + "/responses/" + r.code)}
			for _, h := range r.headers {
				s.Headers = append(s.Headers, HeaderCoverage{Name: h.name})
			}
			s.Codes, c.codes[r] = r.codes()
			for _, m := range r.media {
				s.Media = append(s.Media, MediaCoverage{Type: m.name, Stream: d.declaredEvents(m)})
			}
			o.Statuses = append(o.Statuses, s)
		}
		c.Operations = append(c.Operations, o)
	}
	for _, r := range d.surface().rows {
		for _, list := range r.lists() {
			*list = slices.Clone(*list)
		}
		c.Schemas = append(c.Schemas, r)
	}
	c.sighting = newSighting(d, c.Schemas)
	return c
}

func (d *Document) declaredEvents(m *media) *StreamCoverage {
	if !m.typ.isStream() {
		return nil
	}
	s := &StreamCoverage{Described: m.events != nil}
	if m.events != nil {
		for _, name := range m.events.names {
			s.Events = append(s.Events, EventCoverage{Name: name, Line: d.src.line(m.events.ref + "/events/" + escapePointer(name))})
		}
	}
	return s
}

// Add counts what a transcript reached. An exchange that broke does not count, nor does HEAD or OPTIONS as reaching what
// another method declares. Only a coverage from NewCoverage has a document to count by; one that was read from a report
// is for Merge.
func (c *Coverage) Add(t *transcript.Transcript) { c.AddShaped(t, nil) }

// AddShaped is Add; of what is not documented it takes the shape.
func (c *Coverage) AddShaped(t *transcript.Transcript, shape Shape) {
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
		if ex, _ := opening(t, s); ex != nil && ex.Response != nil {
			a.addStream(ex, s)
		}
	}
}

func (a addition) addExchange(ex *transcript.Exchange, uncompared bool) {
	r := ex.Response
	// A stream that the scenario closed has not broken; one that broke has been reached all the same.
	if r == nil || ex.Failure != nil && ex.Stream == "" {
		return
	}
	method := ex.Request.Method
	op, ok := a.doc.Operation(method, ex.Request.Target)
	switch {
	case !ok && method == "OPTIONS" && a.doc.routes.knows(path(ex.Request.Target)), ok && op.Method != method:
		return
	case !ok:
		a.unknown(ex)
		return
	}
	o := a.operation(op)
	o.Reached++
	a.addRequest(o, op, &ex.Request)
	declared := op.response(r.Status)
	if declared == nil {
		a.beyond(UndocumentedStatus, op, strconv.Itoa(r.Status))
		return
	}
	s := o.status(declared.code)
	s.Reached++
	a.addHeaders(s, declared, r.Header)
	contentType, typed := r.Header.Get("Content-Type")
	if m := find(declared.media, contentType); m != nil {
		into := s.media(m.name)
		into.Reached++
		if uncompared {
			into.Uncompared++
		}
		a.addBody(s, declared, m, ex)
	} else if typed && len(declared.media) > 0 {
		a.beyond(UndocumentedMediaType, op, contentType)
	}
}

// addRequest counts the body of a request. One that breaks the document on purpose reaches nothing that is declared.
func (c *Coverage) addRequest(o *OperationCoverage, op *Operation, r *transcript.Request) {
	if op.body == nil || r.Malformed || r.Body.Size == 0 {
		return
	}
	contentType, _ := r.Header.Get("Content-Type")
	m := find(op.body.media, contentType)
	if m == nil {
		return
	}
	row(&o.Requests, func(x *MediaCoverage) bool { return x.Type == m.name }).Reached++
	if r.Body.Whole() && !r.Body.Undecoded(r.Header) {
		c.sighting.content(m.schema, parseMediaType(contentType).content(), InRequests, r.Body.Bytes)
	}
}

func (c *Coverage) addHeaders(into *StatusCoverage, declared *response, header transcript.Header) {
	for i, h := range declared.headers {
		s := h.inHeader(header)
		if s.none() {
			continue
		}
		into.Headers[i].Reached++
		c.sighting.field(h, s)
	}
}

// addBody marks what is in the body of an answer, if all of it came.
func (c *Coverage) addBody(into *StatusCoverage, declared *response, m *media, ex *transcript.Exchange) {
	r := ex.Response
	if m.typ.isStream() || ex.Stream != "" || ex.Failure != nil || r.Body.Size != int64(len(r.Body.Bytes)) || r.Body.Size == 0 || r.Body.Undecoded(r.Header) {
		return
	}
	contentType, _ := r.Header.Get("Content-Type")
	how := parseMediaType(contentType).content()
	c.sighting.content(m.schema, how, InAnswers, r.Body.Bytes)
	if how == jsonText {
		seeCodes(into.Codes, c.codes[declared], r.Body.Bytes)
	}
}

func (a addition) addStream(ex *transcript.Exchange, s *transcript.Stream) {
	op, _ := a.doc.Operation(ex.Request.Method, ex.Request.Target)
	m := op.stream(ex.Response)
	if m == nil || m.events == nil {
		return
	}
	into := a.operation(op).status(op.response(ex.Response.Status).code).media(m.name).Stream
	for i := range s.Events {
		ev := &s.Events[i]
		if ev.Comment || ev.Undispatched {
			continue
		}
		name := m.events.nameOf(ev)
		if m.events.events[name] == nil {
			a.beyond(UndocumentedEvent, op, name)
			continue
		}
		into.event(name).Reached++
		e := m.events.events[name]
		a.sighting.content(e.schema, e.how, InAnswers, []byte(ev.Data))
	}
}

func (c *Coverage) operation(op *Operation) *OperationCoverage {
	return row(&c.Operations, func(r *OperationCoverage) bool { return r.Method == op.Method && r.Path == op.Path })
}
