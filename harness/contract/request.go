package contract

import "github.com/lockstep-dev/lockstep/harness/transcript"

// CheckRequest holds a request that is about to be sent against the document. Query parameters that are not declared
// are no violation, nor are fields: servers must bear them.
func (d *Document) CheckRequest(method, target string, header transcript.Header, body []byte) []Violation {
	op, values := d.routes.find(method, path(target))
	return d.request(nil, Violation{Side: Request}, op, values, transcript.Request{
		Method: method, Target: target, Header: header, Body: transcript.Body{Bytes: body, Size: int64(len(body))},
	})
}

// Takes reports whether the document has an operation for a request, or the request is an OPTIONS: a path answers that by
// itself, to a browser's preflight, and documents seldom say so.
func (d *Document) Takes(method, target string) bool {
	if op, _ := d.routes.find(method, path(target)); op != nil {
		return true
	}
	return method == "OPTIONS" && d.routes.knows(path(target))
}

func (d *Document) request(out []Violation, at Violation, op *Operation, values []string, r transcript.Request) []Violation {
	at.Side = Request
	if op == nil {
		if d.Takes(r.Method, r.Target) {
			return out
		}
		return append(out, d.violation(at, "target", UndocumentedOperation, "#/paths",
			"the document has no operation for %s %s", quote(r.Method), quote(path(r.Target))))
	}
	out = d.parameters(out, at, op, values, r)
	return d.requestBody(out, at, op, r)
}

func (d *Document) parameters(out []Violation, at Violation, op *Operation, values []string, r transcript.Request) []Violation {
	var inQuery, inCookie []pair
	for _, p := range op.params {
		var s sent
		switch p.in {
		case "path":
			// The server's base path may have parameters too; they come first.
			if i := len(values) - op.pathParams + p.index; p.index >= 0 && i >= 0 && i < len(values) {
				s = sent{values: values[i : i+1], decode: unescape}
			}
		case "query":
			if inQuery == nil {
				inQuery = parsePairs(query(r.Target), "&")
			}
			s = p.among(inQuery)
		case "header":
			s = p.inHeader(r.Header)
		case "cookie":
			if inCookie == nil {
				line, _ := r.Header.Get("Cookie")
				inCookie = parsePairs(line, ";")
			}
			s = p.among(inCookie)
		}
		out = d.parameter(out, at, p, s)
	}
	return out
}

func (d *Document) parameter(out []Violation, at Violation, p *parameter, s sent) []Violation {
	place := p.in + " " + p.name
	switch {
	case s.none():
		if p.required && !p.spread() {
			out = append(out, d.violation(at, place, MissingParameter, p.ref,
				"the %s parameter %q is required and missing", p.in, p.name))
		}
		return out
	case p.repeated(s):
		return append(out, d.violation(at, place, RepeatedParameter, p.ref,
			"the %s parameter %q is sent %d times; it has one value", p.in, p.name, len(s.values)))
	case p.allowEmpty && len(s.values) == 1 && s.values[0] == "":
		return out
	}
	return d.inText(out, at, p, s, place, ParameterValue)
}

// inText checks the value of a parameter or a header. Its faults have one kind, whatever they are: where a value is
// text, its type is a matter of how one reads it.
func (d *Document) inText(out []Violation, at Violation, p *parameter, s sent, place string, kind Kind) []Violation {
	var found []finding
	switch {
	case p.how == jsonText:
		found = d.verdict(p.schema, jsonText, at.Side, []byte(s.decode(s.values[0])))
	case p.schema != nil && p.how == plainText:
		j := d.newJudge(at.Side)
		j.value(p.value(s), p.schema, nil)
		found = j.done(p.schema.ref)
	}
	first := len(out)
	out = d.violations(out, at, place, p.ref, found)
	for i := range out[first:] {
		out[first+i].Kind = kind
	}
	return out
}

func (d *Document) requestBody(out []Violation, at Violation, op *Operation, r transcript.Request) []Violation {
	contentType, typed := r.Header.Get("Content-Type")
	switch {
	case op.body == nil:
		if r.Body.Size > 0 {
			out = append(out, d.violation(at, "body", UndocumentedBody, op.ref,
				"a body of %d bytes is sent; %s declares none", r.Body.Size, op))
		}
		return out
	case r.Body.Size == 0 && !typed:
		if op.body.required {
			out = append(out, d.violation(at, "body", MissingBody, op.body.ref, "%s requires a body and none is sent", op))
		}
		return out
	}
	m := find(op.body.media, contentType)
	if m == nil {
		return append(out, d.violation(at, "header Content-Type", UndocumentedMediaType, op.body.ref,
			"%s; %s takes %s", contentTypeText(contentType, typed), op, mediaNames(op.body.media)))
	}
	if !r.Body.Whole() || r.Body.Undecoded(r.Header) {
		return out
	}
	return d.content(out, at, m, contentType, op.body.ref, r.Body.Bytes)
}

// content checks a body that is there from its first byte to its last, under its content type.
func (d *Document) content(out []Violation, at Violation, m *media, contentType, ref string, body []byte) []Violation {
	how := parseMediaType(contentType).content()
	if how == jsonText && len(body) == 0 {
		return append(out, d.violation(at, "body", MissingBody, ref, "the content type is %s and the body is empty", quote(contentType)))
	}
	return d.violations(out, at, "body", m.ref, d.verdict(m.schema, how, at.Side, body))
}

func contentTypeText(contentType string, typed bool) string {
	if !typed {
		return "there is a body and no content type"
	}
	return "the content type is " + quote(contentType)
}
