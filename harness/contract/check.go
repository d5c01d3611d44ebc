package contract

import (
	"fmt"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Check holds every exchange and event of a transcript against the document: exchanges in the order of the steps, then
// the events of each stream. A request that the scenario calls malformed is not checked, only what came back.
func (d *Document) Check(t *transcript.Transcript) []Violation {
	var out []Violation
	for i := range t.Steps {
		step := &t.Steps[i]
		for k, ex := range step.Exchanges {
			out = d.exchange(out, Violation{Step: step.ID, Exchange: k}, ex)
		}
	}
	for _, s := range t.Streams {
		ex, index := opening(t, s)
		if ex == nil || ex.Response == nil {
			continue
		}
		op, _ := d.Operation(ex.Request.Method, ex.Request.Target)
		if m := op.stream(ex.Response); m != nil && m.events != nil {
			out = d.stream(out, s, m.events, Violation{Step: s.Step, Exchange: index, Stream: s.Name})
		}
	}
	for i := range t.Steps {
		for _, ex := range t.Steps[i].Exchanges {
			if len(ex.Request.Captured) > 0 {
				out = d.captured(out, t, &ex.Request)
			}
		}
	}
	return out
}

// CheckAnswers is Check without the requests, which were held against the document before they were sent, but for the values
// in them that servers have made, and with documents that the rest of a judgement reads as well.
func (d *Document) CheckAnswers(docs *jsontree.Documents, t *transcript.Transcript) []Violation {
	answers := *d
	answers.answersOnly, answers.docs, answers.room = true, docs, newRoom()
	return answers.Check(t)
}

// opening finds the exchange that carries a stream.
func opening(t *transcript.Transcript, s *transcript.Stream) (*transcript.Exchange, int) {
	for i := range t.Steps {
		if t.Steps[i].ID != s.Step {
			continue
		}
		for k, ex := range t.Steps[i].Exchanges {
			if ex.Stream == s.Name {
				return ex, k
			}
		}
	}
	return nil, 0
}

// stream returns the declaration of the event stream that a response carries, or nil.
func (op *Operation) stream(r *transcript.Response) *media {
	if op == nil {
		return nil
	}
	declared := op.response(r.Status)
	if declared == nil {
		return nil
	}
	contentType, _ := r.Header.Get("Content-Type")
	if m := find(declared.media, contentType); m != nil && m.typ.isStream() {
		return m
	}
	return nil
}

func (d *Document) exchange(out []Violation, at Violation, ex *transcript.Exchange) []Violation {
	op, values := d.routes.find(ex.Request.Method, path(ex.Request.Target))
	if !ex.Request.Malformed && !d.answersOnly {
		out = d.request(out, at, op, values, ex.Request)
	}
	if op != nil && ex.Response != nil {
		out = d.response(out, at, op, ex)
	}
	return out
}

// captured checks the values of a request that the server itself has made. What is wrong with one is reported where the server
// sent it, once, and not where something is wrong with it already.
func (d *Document) captured(out []Violation, t *transcript.Transcript, r *transcript.Request) []Violation {
	op, values := d.routes.find(r.Method, path(r.Target))
	for _, v := range d.request(nil, Violation{}, op, values, *r) {
		i := slices.IndexFunc(r.Captured, func(c transcript.Captured) bool { return c.Place == v.Place })
		if i < 0 {
			continue
		}
		c := &r.Captured[i]
		known := slices.ContainsFunc(out, func(o Violation) bool {
			return o.Step == c.Step && o.Exchange == c.Exchange && o.Stream == c.Stream && o.Event == c.Event && o.Place == c.From
		})
		if known || c.Stream != "" && !t.HasEvent(c.Stream, c.Event) {
			continue
		}
		v.Step, v.Exchange, v.Stream, v.Event, v.Side = c.Step, c.Exchange, c.Stream, c.Event, Response
		if c.Stream != "" {
			v.Side = Event
		}
		v.Text += fmt.Sprintf("; %s sends it again, as %s", op, v.Place)
		v.Place = c.From
		out = append(out, v)
	}
	return out
}

func (d *Document) response(out []Violation, at Violation, op *Operation, ex *transcript.Exchange) []Violation {
	at.Side = Response
	r := ex.Response
	declared := op.response(r.Status)
	if declared == nil {
		return append(out, d.violation(at, "status", UndocumentedStatus, op.ref+"/responses",
			"the status is %d; %s declares %s", r.Status, op, op.codes()))
	}
	for _, h := range declared.headers {
		out = d.header(out, at, h, r.Header)
	}
	return d.responseBody(out, at, op, declared, ex)
}

func (d *Document) header(out []Violation, at Violation, h *parameter, header transcript.Header) []Violation {
	s := h.inHeader(header)
	place := "header " + h.name
	if s.none() {
		if h.required {
			out = append(out, d.violation(at, place, MissingHeader, h.ref, "the header %s is required and missing", h.name))
		}
		return out
	}
	return d.inText(out, at, h, s, place, HeaderValue)
}

func (d *Document) responseBody(out []Violation, at Violation, op *Operation, declared *response, ex *transcript.Exchange) []Violation {
	r := ex.Response
	contentType, typed := r.Header.Get("Content-Type")
	hasBody := r.Body.Size > 0 || ex.Stream != ""
	complete := ex.Failure == nil && r.Body.Size == int64(len(r.Body.Bytes))
	switch {
	case len(declared.media) == 0:
		if hasBody {
			out = append(out, d.violation(at, "body", UndocumentedBody, declared.ref,
				"the response has a body; %s declares none for %s", op, declared.code))
		}
		return out
	case bodiless(ex):
		if !typed {
			return out
		}
	case !hasBody && !typed:
		if complete && !declared.empty {
			out = append(out, d.violation(at, "body", MissingBody, declared.ref,
				"the response has no body; %s declares %s for %s", op, mediaNames(declared.media), declared.code))
		}
		return out
	}
	m := find(declared.media, contentType)
	if m == nil {
		return append(out, d.violation(at, "header Content-Type", UndocumentedMediaType, declared.ref,
			"%s; %s declares %s for %s", contentTypeText(contentType, typed), op, mediaNames(declared.media), declared.code))
	}
	if m.typ.isStream() || ex.Stream != "" || !complete || bodiless(ex) || r.Body.Undecoded(r.Header) {
		return out
	}
	return d.content(out, at, m, contentType, m.ref, r.Body.Bytes)
}

// bodiless says that HTTP allows the response no content, whatever it would have been (RFC 9110 §6.4.1).
func bodiless(ex *transcript.Exchange) bool {
	status := ex.Response.Status
	return ex.Request.Method == "HEAD" || status == 204 || status == 304 || status < 200
}
