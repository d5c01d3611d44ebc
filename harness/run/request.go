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

// A prepared request, ready to be sent.
type prepared struct {
	wire      *httpwire.Request
	malformed bool
	captured  []transcript.Captured // values in it that break the contract
}

// mark notes in a request that was sent what the contract has against it.
func (p *prepared) mark(r *transcript.Request) { r.Malformed, r.Captured = p.malformed, p.captured }

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
	if p.wire.Body, p.wire.Fill, err = RequestBody(&r.Body, &w.env); err != nil {
		return nil, err
	}
	if p.malformed, err = w.malformed(r.Malformed); err != nil {
		return nil, err
	}
	against := w.stage.opts.Contract.Objections(r.Method, target, header, p.wire.Body)
	switch {
	case len(against) > 0 && !p.malformed:
		var all bool
		if p.captured, all = w.captured(r, against); !all {
			return nil, unsent(against)
		}
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

// RequestHeader returns the fields to send: the target's own, but for those that the scenario names, the scenario's, then
// what neither of them gives. The error is a MissingError.
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
	// Where the two part is where the filler begins, or goes on with the same character.
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

// filling gives the filler a text.
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
