package contract

import (
	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// CheckRequest checks a request that is about to be sent against the document. Undeclared query parameters and fields
// are not violations, because servers must accept them.
func (d *Document) CheckRequest(method, target string, header transcript.Header, body []byte) []Violation {
	op, values := d.Find(method, target)
	c := check{doc: d}
	c.request(Violation{}, op, values, transcript.Request{
		Method: method, Target: target, Header: header, Body: transcript.Body{Bytes: body, Size: int64(len(body))},
	})
	return c.out
}

func (c *check) request(at Violation, op *Operation, values []string, r transcript.Request) {
	at.Side = Request
	if op != nil {
		c.parameters(at, op, values, r)
		c.requestBody(at, op, r)
	} else if !c.doc.Accepts(r.Method, r.Target) {
		c.violation(at, "target", spec.UndocumentedOperation, "#/paths",
			"the document has no operation for %s %s", problem.Quote(r.Method), problem.Quote(spec.TargetPath(r.Target)))
	}
}

func (c *check) parameters(at Violation, op *Operation, values []string, r transcript.Request) {
	var inQuery, inCookie []spec.Pair
	for _, p := range op.Params {
		var s spec.Sent
		switch p.In {
		case "path":
			// The server's base path may have parameters too; they come first.
			if i := len(values) - op.PathParams + p.Index; p.Index >= 0 && i >= 0 && i < len(values) {
				s = spec.Sent{Values: values[i : i+1], Decode: spec.Unescape}
			}
		case "query":
			if inQuery == nil {
				inQuery = spec.ParsePairs(spec.Query(r.Target), "&")
			}
			s = p.AmongPairs(inQuery)
		case "header":
			s = p.InHeader(r.Header)
		case "cookie":
			if inCookie == nil {
				line, _ := r.Header.Get("Cookie")
				inCookie = spec.ParsePairs(line, ";")
			}
			s = p.AmongPairs(inCookie)
		}
		c.parameter(at, p, s)
	}
}

func (c *check) parameter(at Violation, p *spec.Parameter, s spec.Sent) {
	place := p.In + " " + p.Name
	switch {
	case s.None():
		if p.Required && !p.Spread() {
			c.violation(at, place, spec.MissingParameter, p.Ref, "the %s parameter %q is required and missing", p.In, p.Name)
		}
	case p.Repeated(s):
		c.violation(at, place, spec.RepeatedParameter, p.Ref,
			"the %s parameter %q is sent %d times; it has one value", p.In, p.Name, len(s.Values))
	case p.AllowEmpty && len(s.Values) == 1 && s.Values[0] == "":
	default:
		c.inText(at, p, s, place, spec.ParameterValue)
	}
}

// inText checks the value of a parameter or a header. All its violations have the same kind, because a value that is
// written as text has no definite type.
func (c *check) inText(at Violation, p *spec.Parameter, s spec.Sent, place string, kind Kind) {
	var found []schema.Finding
	switch {
	case p.Encoding == spec.JSON:
		found = c.judge(p.Schema, spec.JSON, at.Side, []byte(s.Decode(s.Values[0])))
	case p.Schema != nil && p.Encoding == spec.PlainText:
		found = c.doc.newJudge(at.Side).Judge(p.Value(s), p.Schema)
	}
	first := len(c.out)
	c.violations(at, place, p.Ref, found)
	for i := range c.out[first:] {
		c.out[first+i].Kind = kind
	}
}

func (c *check) requestBody(at Violation, op *Operation, r transcript.Request) {
	contentType, typed := r.Header.Get("Content-Type")
	switch {
	case op.Body == nil:
		if r.Body.Size > 0 {
			c.violation(at, "body", spec.UndocumentedBody, op.Ref, "a body of %d bytes is sent; %s declares none", r.Body.Size, op)
		}
		return
	case r.Body.Size == 0 && !typed:
		if op.Body.Required {
			c.violation(at, "body", spec.MissingBody, op.Body.Ref, "%s requires a body and none is sent", op)
		}
		return
	}
	m := spec.FindMedia(op.Body.Media, contentType)
	if m == nil {
		c.violation(at, "header Content-Type", spec.UndocumentedMediaType, op.Body.Ref,
			"%s; %s takes %s", contentTypeText(contentType, typed), op, spec.MediaNames(op.Body.Media))
		return
	}
	if r.Body.Whole() && !r.Body.Undecoded(r.Header) {
		c.content(at, m, contentType, op.Body.Ref, r.Body.Bytes)
	}
}

// content checks a whole body by its content type.
func (c *check) content(at Violation, m *spec.Media, contentType, ref string, body []byte) {
	how := spec.ParseMediaType(contentType).Encoding()
	if how == spec.JSON && len(body) == 0 {
		c.violation(at, "body", spec.MissingBody, ref, "the content type is %s and the body is empty", problem.Quote(contentType))
		return
	}
	c.violations(at, "body", m.Ref, c.judge(m.Schema, how, at.Side, body))
}

func contentTypeText(contentType string, typed bool) string {
	if !typed {
		return "there is a body and no content type"
	}
	return "the content type is " + problem.Quote(contentType)
}
