package run

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
)

// A faultError says that a step cannot be done as it is written. It is never the target's fault.
type faultError struct{ why string }

func (e *faultError) Error() string { return e.why }

// RequestTarget returns the path and query as they go on the wire. The error is a MissingError.
func RequestTarget(r *scenario.Request, env scenario.Env) (string, error) {
	var b strings.Builder
	path, err := r.Path.Text(env, escapePath)
	if err != nil {
		return "", err
	}
	b.WriteString(path)
	sep := byte('?')
	if strings.Contains(path, "?") {
		sep = '&'
	}
	for _, q := range r.Query {
		value, err := q.Value.Text(env, nil)
		if err != nil {
			return "", err
		}
		b.WriteByte(sep)
		b.WriteString(url.QueryEscape(q.Name) + "=" + url.QueryEscape(value))
		sep = '&'
	}
	return b.String(), nil
}

// RequestHeader returns the fields to send: those of the target that the scenario does not name, those of the scenario, and
// then Accept and Content-Type when neither has them. The error is a MissingError.
func RequestHeader(r *scenario.Request, env scenario.Env, own transcript.Header, accept string) (transcript.Header, error) {
	var out transcript.Header
	for _, f := range own {
		if !r.Names(f.Name) {
			out = append(out, f)
		}
	}
	for _, h := range r.Header {
		value, err := h.Value.Text(env, nil)
		if err != nil {
			return nil, err
		}
		out = append(out, transcript.Field{Name: h.Name, Value: value})
	}
	add := func(name, value string) {
		if _, given := out.Get(name); !given && !r.Names(name) && value != "" {
			out = append(out, transcript.Field{Name: name, Value: value})
		}
	}
	add("Accept", accept)
	if r.Body.JSON.IsSet() {
		add("Content-Type", "application/json")
	} else {
		add("Content-Type", r.Body.Type)
	}
	return out, nil
}

// RequestBody returns what to send, without its filler. The error is a MissingError, or says why the body cannot have its
// size.
func RequestBody(b *scenario.Body, env scenario.Env) (body []byte, fill *transcript.Fill, err error) {
	if b.Size.IsSet() {
		return filledBody(b, env)
	}
	body, err = plainBody(b, env)
	return body, nil, err
}

func plainBody(b *scenario.Body, env scenario.Env) ([]byte, error) {
	switch {
	case b.JSON.IsSet():
		return b.JSON.Resolve(env)
	case b.Raw != nil:
		s, err := b.Raw.Text(env, nil)
		return []byte(s), err
	default:
		return b.Bytes, nil
	}
}

// filledBody returns a body that is filled up to its size.
func filledBody(b *scenario.Body, env scenario.Env) ([]byte, *transcript.Fill, error) {
	raw, err := b.Size.Resolve(env)
	if err != nil {
		return nil, nil, err
	}
	size, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || size < 1 || size > scenario.MaxSize {
		return nil, nil, &faultError{fmt.Sprintf("size is %s; make it a number of bytes, %d at most", raw, scenario.MaxSize)}
	}
	empty, err := plainBody(b, filling{env, `""`})
	if err != nil {
		return nil, nil, err
	}
	one, err := plainBody(b, filling{env, `"` + string(transcript.FillByte) + `"`})
	if err != nil {
		return nil, nil, err
	}
	// The filler begins where the two differ, or before that, when the same character comes before it.
	at := 0
	for at < len(empty) && empty[at] == one[at] {
		at++
	}
	times := size - int64(len(empty))
	if times < 0 {
		return nil, nil, &faultError{fmt.Sprintf("the body has %d bytes without its filler, and its size is to be %d", len(empty), size)}
	}
	return empty, &transcript.Fill{At: at, Times: times}, nil
}

// A filling gives the filler a text.
type filling struct {
	scenario.Env
	text string
}

func (f filling) Lookup(name string) (json.RawMessage, bool) {
	if name == scenario.Filler {
		return json.RawMessage(f.text), true
	}
	return f.Env.Lookup(name)
}

// malformed reports whether a request is marked as one that breaks the contract.
func malformed(mark scenario.Value, env scenario.Env) (bool, error) {
	if !mark.IsSet() {
		return false, nil
	}
	raw, err := mark.Resolve(env)
	if err != nil {
		return false, err
	}
	switch string(raw) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, &faultError{fmt.Sprintf("malformed is %s; make it true or false", raw)}
}

// escapePath percent-encodes everything but unreserved characters (RFC 3986 §2.3), so that a value stays one segment,
// or one query value, wherever it is put.
func escapePath(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}

// A prepared request is ready to be sent.
type prepared struct {
	wire      *httpwire.Request
	malformed bool
	captured  []transcript.Captured // values in it that break the contract
}

// mark notes in the record of a request how it breaks the contract.
func (p *prepared) mark(r *transcript.Request) { r.Malformed, r.Captured = p.malformed, p.captured }

// prepare fills a target's values into a request and checks it against the contract. A request may only break the contract
// when it is marked malformed, or because of values that the server itself has made. Any other is a mistake of the scenario
// and is not sent. The error is a MissingError or a faultError.
func (r *targetRun) prepare(req *scenario.Request, accept string) (*prepared, error) {
	target, err := RequestTarget(req, &r.values)
	if err != nil {
		return nil, err
	}
	header, err := RequestHeader(req, &r.values, r.target.Header, accept)
	if err != nil {
		return nil, err
	}
	p := &prepared{wire: &httpwire.Request{Method: req.Method, Target: target, Header: header, Chunked: req.Body.Chunked}}
	if p.wire.Body, p.wire.Fill, err = RequestBody(&req.Body, &r.values); err != nil {
		return nil, err
	}
	if p.malformed, err = malformed(req.Malformed, &r.values); err != nil {
		return nil, err
	}
	objections := r.opts.Contract.Objections(req.Method, target, header, p.wire.Body)
	switch {
	case len(objections) > 0 && !p.malformed:
		var ok bool
		if p.captured, ok = r.excuse(req, objections); !ok {
			return nil, notSent(objections)
		}
	case len(objections) == 0 && p.malformed:
		return nil, &faultError{"the request is marked malformed, but obeys the contract: remove the mark"}
	}
	return p, nil
}

// notSent says why a request is not sent.
func notSent(objections []Objection) error {
	texts := make([]string, len(objections))
	for i, o := range objections {
		texts[i] = o.Place + ": " + o.Text
	}
	return &faultError{fmt.Sprintf("the request breaks the contract: %s (if it is meant to, mark it malformed: true)", strings.Join(texts, "; "))}
}
