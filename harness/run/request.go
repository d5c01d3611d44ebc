package run

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
)

// A faultError says that a step cannot be done as it is written. It is never the target's fault.
type faultError struct{ why string }

func (e *faultError) Error() string { return e.why }

// A prepared request, ready to be sent.
type prepared struct {
	wire      *httpwire.Request
	malformed bool
}

// prepare fills a target's values into a request, and asks the contract what it thinks of it. The error is a
// MissingError or a faultError.
func (w *walker) prepare(r *scenario.Request, accept string) (*prepared, error) {
	target, err := RequestTarget(r, &w.env)
	if err != nil {
		return nil, err
	}
	header, err := RequestHeader(r, &w.env, w.server.Header, accept)
	if err != nil {
		return nil, err
	}
	p := &prepared{wire: &httpwire.Request{Method: r.Method, Target: target, Header: header, Chunked: r.Body.Chunked}}
	if p.wire.Body, err = RequestBody(&r.Body, &w.env); err != nil {
		return nil, err
	}
	if p.malformed, err = w.malformed(r.Malformed); err != nil {
		return nil, err
	}
	against := w.stage.opts.Contract.Objections(r.Method, target, header, p.wire.Body)
	switch {
	case len(against) > 0 && !p.malformed:
		return nil, &faultError{"the request breaks the contract: " + objections(against) + " (if it is meant to, mark it malformed: true)"}
	case len(against) == 0 && p.malformed:
		return nil, &faultError{"the request is marked malformed, but obeys the contract: remove the mark"}
	}
	return p, nil
}

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

// RequestHeader returns the fields to send: the target's own, the scenario's, then what neither of them gives. The error is a
// MissingError.
func RequestHeader(r *scenario.Request, env scenario.Env, own transcript.Header, accept string) (transcript.Header, error) {
	out := append(transcript.Header(nil), own...)
	for _, h := range r.Header {
		value, err := h.Value.Text(env, nil)
		if err != nil {
			return nil, err
		}
		out = append(out, transcript.Field{Name: h.Name, Value: value})
	}
	add := func(name, value string) {
		if _, given := out.Get(name); !given && value != "" {
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

// RequestBody returns the bytes to send. The error is a MissingError.
func RequestBody(b *scenario.Body, env scenario.Env) ([]byte, error) {
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

func (w *walker) malformed(v scenario.Value) (bool, error) {
	if !v.IsSet() {
		return false, nil
	}
	raw, err := v.Resolve(&w.env)
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
