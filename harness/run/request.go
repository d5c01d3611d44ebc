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

// A faultError says why a step cannot run as it is written. It is never the target's fault.
type faultError struct{ why string }

func (e *faultError) Error() string { return e.why }

// RequestTarget returns the path and query as they are sent. The error is a MissingError.
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

// RequestHeader returns the header fields to send: the target's fields that the scenario does not set, then those of
// the scenario. Accept and Content-Type follow when neither sets them. The error is a MissingError.
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

// RequestBody returns the body to send without its filler, and the filler. The error is a MissingError, or it says why
// the body cannot have its size.
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

// filledBody returns a body that a filler extends to its size.
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
	// The filler begins where the two differ, or earlier when the same character precedes that place.
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

// A filling defines the text of the filler.
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

// escapePath percent-encodes everything but unreserved characters (RFC 3986 §2.3). So a value stays one path segment,
// or one query value, wherever it is used.
func escapePath(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}

// A prepared request is complete, apart from what its connection adds.
type prepared struct {
	wire      *httpwire.Request
	do        *transcript.Request // what a driver is told to do, instead of a request on the wire
	sent      func()              // is called when it was sent; may be nil
	malformed bool
	captured  []transcript.Captured // values in the request that break the contract
}

// mark records that the request breaks the contract, and why it may.
func (p *prepared) mark(r *transcript.Request) { r.Malformed, r.Captured = p.malformed, p.captured }

// prepare fills a target's values into a request and checks it against the contract. Only two kinds of requests may
// break the contract: those marked malformed, and those with captured values that the server itself generated. Any
// other is a mistake of the scenario and is not sent. The error is a MissingError or a faultError.
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
			return nil, notSent("request", objections)
		}
	case len(objections) == 0 && p.malformed:
		return nil, &faultError{"the request is marked malformed, but obeys the contract: remove the mark"}
	}
	return p, nil
}

func notSent(what string, objections []Objection) error {
	texts := make([]string, len(objections))
	for i, o := range objections {
		texts[i] = o.Place + ": " + o.Text
	}
	return &faultError{fmt.Sprintf("the %s breaks the contract: %s (if this is intended, mark it malformed: true)", what, strings.Join(texts, "; "))}
}
