package contract

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Check checks every exchange and event of a transcript against the document: exchanges in the order of the steps, then
// the events of each stream. For a request that the scenario marks as malformed, only the response is checked; a message
// that is marked is not.
func (d *Document) Check(t *transcript.Transcript) []Violation {
	c := check{doc: d}
	return c.transcript(t)
}

// CheckResponses is Check without requests and sent messages, because they were checked before. It checks only those
// values of requests that a server generated. docs are the parsed contents that the rest of a judgement uses as well.
func (d *Document) CheckResponses(docs *jsontree.Documents, t *transcript.Transcript) []Violation {
	c := check{doc: d, responsesOnly: true, docs: docs, stacks: schema.NewStacks()}
	return c.transcript(t)
}

// A check collects the violations of one transcript or one request.
type check struct {
	doc           *Document
	responsesOnly bool
	docs          *jsontree.Documents // nil means that each content is parsed each time
	stacks        *schema.Stacks      // nil means that each judge has its own
	out           []Violation
}

func (c *check) transcript(t *transcript.Transcript) []Violation {
	if c.doc.absent {
		return nil
	}
	for i := range t.Steps {
		step := &t.Steps[i]
		for k, ex := range step.Exchanges {
			c.exchange(Violation{Step: step.ID, Exchange: k}, ex)
		}
	}
	for _, s := range t.Streams {
		if in, ok := c.doc.Stream(t, s); ok && in.Events != nil {
			c.stream(s, in.Events, Violation{Step: s.Step, Exchange: in.Exchange, Stream: s.Name})
		}
	}
	for i := range t.Steps {
		for _, ex := range t.Steps[i].Exchanges {
			if len(ex.Request.Captured) > 0 {
				c.captured(t, &ex.Request)
			}
		}
	}
	return c.out
}

// violations adds the findings about a value. A finding without a schema is about the place ref of the document.
func (c *check) violations(at Violation, part, ref string, found []schema.Finding) {
	for _, f := range found {
		at.Place, at.Kind, at.Text, at.Schema = part+f.Pointer, f.Kind, f.Text, cmp.Or(f.Ref, ref)
		at.Line = c.doc.Line(at.Schema)
		c.out = append(c.out, at)
	}
}

// violation adds a violation that is not about a value.
func (c *check) violation(at Violation, place string, kind Kind, ref, text string, args ...any) {
	at.Place, at.Kind, at.Text, at.Schema, at.Line = place, kind, fmt.Sprintf(text, args...), ref, c.doc.Line(ref)
	c.out = append(c.out, at)
}

func (c *check) exchange(at Violation, ex *transcript.Exchange) {
	op, values := c.doc.Find(ex.Request.Method, ex.Request.Target)
	if !ex.Request.Malformed && !c.responsesOnly {
		c.request(at, op, values, ex.Request)
	}
	if op != nil && ex.Response != nil {
		c.response(at, op, ex)
	}
}

// captured checks the values of a request that the server itself generated. A violation is reported where the server
// sent the value, once, unless that place has a violation already.
func (c *check) captured(t *transcript.Transcript, r *transcript.Request) {
	op, values := c.doc.Find(r.Method, r.Target)
	again := check{doc: c.doc, docs: c.docs, stacks: c.stacks}
	again.request(Violation{}, op, values, *r)
	for _, v := range again.out {
		i := slices.IndexFunc(r.Captured, func(from transcript.Captured) bool { return from.Place == v.Place })
		if i < 0 {
			continue
		}
		from := &r.Captured[i]
		known := slices.ContainsFunc(c.out, func(o Violation) bool {
			return o.Step == from.Step && o.Exchange == from.Exchange && o.Stream == from.Stream && o.Event == from.Event && o.Place == from.From
		})
		if known || from.Stream != "" && !t.HasEvent(from.Stream, from.Event) {
			continue
		}
		v.Step, v.Exchange, v.Stream, v.Event, v.Side = from.Step, from.Exchange, from.Stream, from.Event, Response
		if from.Stream != "" {
			v.Side = Event
		}
		v.Text += fmt.Sprintf("; %s sends it again, as %s", op, v.Place)
		v.Place = from.From
		c.out = append(c.out, v)
	}
}

func (c *check) response(at Violation, op *Operation, ex *transcript.Exchange) {
	at.Side = Response
	r := ex.Response
	declared := op.Response(r.Status)
	switch {
	case declared == nil && len(op.Responses) == 0:
		return // the document says nothing about responses
	case declared == nil:
		c.violation(at, "status", spec.UndocumentedStatus, op.Ref+"/responses", "the status is %d; %s declares %s", r.Status, op, op.Codes())
		return
	}
	for _, h := range declared.Headers {
		c.header(at, h, r.Header)
	}
	c.responseBody(at, op, declared, ex)
}

func (c *check) header(at Violation, h *spec.Parameter, header transcript.Header) {
	s := h.InHeader(header)
	place := "header " + h.Name
	if !s.None() {
		c.inText(at, h, s, place, spec.HeaderValue)
	} else if h.Required {
		c.violation(at, place, spec.MissingHeader, h.Ref, "the header %s is required and missing", h.Name)
	}
}

func (c *check) responseBody(at Violation, op *Operation, declared *spec.Response, ex *transcript.Exchange) {
	r := ex.Response
	contentType, typed := r.Header.Get("Content-Type")
	hasBody := r.Body.Size > 0 || ex.Stream != "" && r.Status != 101 // what follows a 101 is no body
	complete := ex.Failure == nil && r.Body.Size == int64(len(r.Body.Bytes))
	switch {
	case len(declared.Media) == 0:
		if hasBody {
			c.violation(at, "body", spec.UndocumentedBody, declared.Ref, "the response has a body; %s declares none for %s", op, declared.Code)
		}
		return
	case bodiless(ex):
		if !typed {
			return
		}
	case !hasBody && !typed:
		if complete && !declared.Empty {
			c.violation(at, "body", spec.MissingBody, declared.Ref,
				"the response has no body; %s declares %s for %s", op, spec.MediaNames(declared.Media), declared.Code)
		}
		return
	}
	m := spec.FindMedia(declared.Media, contentType)
	if m == nil {
		c.violation(at, "header Content-Type", spec.UndocumentedMediaType, declared.Ref,
			"%s; %s declares %s for %s", contentTypeText(contentType, typed), op, spec.MediaNames(declared.Media), declared.Code)
		return
	}
	if m.Type.IsStream() || ex.Stream != "" || !complete || bodiless(ex) || r.Body.Undecoded(r.Header) {
		return
	}
	c.content(at, m, contentType, m.Ref, r.Body.Bytes)
}

// bodiless reports whether HTTP forbids the response to have content (RFC 9110 §6.4.1).
func bodiless(ex *transcript.Exchange) bool {
	status := ex.Response.Status
	return ex.Request.Method == "HEAD" || status == 204 || status == 304 || status < 200
}
