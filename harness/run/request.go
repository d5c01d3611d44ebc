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
	target, err := w.target(r)
	if err != nil {
		return nil, err
	}
	header, err := w.header(r, accept)
	if err != nil {
		return nil, err
	}
	p := &prepared{wire: &httpwire.Request{Method: r.Method, Target: target, Header: header, Chunked: r.Body.Chunked}}
	if p.wire.Body, err = w.body(&r.Body); err != nil {
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

// target returns the path and query as they go on the wire.
func (w *walker) target(r *scenario.Request) (string, error) {
	var b strings.Builder
	path, err := r.Path.Text(&w.env, escapePath)
	if err != nil {
		return "", err
	}
	b.WriteString(path)
	sep := byte('?')
	if strings.Contains(path, "?") {
		sep = '&'
	}
	for _, q := range r.Query {
		value, err := q.Value.Text(&w.env, nil)
		if err != nil {
			return "", err
		}
		b.WriteByte(sep)
		b.WriteString(url.QueryEscape(q.Name) + "=" + url.QueryEscape(value))
		sep = '&'
	}
	return b.String(), nil
}

// header returns the fields to send: the target's, the scenario's, then what neither of them gives.
func (w *walker) header(r *scenario.Request, accept string) (transcript.Header, error) {
	out := append(transcript.Header(nil), w.server.Header...)
	for _, h := range r.Header {
		value, err := h.Value.Text(&w.env, nil)
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

func (w *walker) body(b *scenario.Body) ([]byte, error) {
	switch {
	case b.JSON.IsSet():
		return b.JSON.Resolve(&w.env)
	case b.Raw != nil:
		s, err := b.Raw.Text(&w.env, nil)
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
