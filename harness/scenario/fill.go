package scenario

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Target returns the path and query as they are sent. The error is a MissingError.
func (r *Request) Target(env Env) (string, error) {
	var b strings.Builder
	path, err := r.Path.Text(env, EscapePath)
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

// Fields returns the header fields to send: the target's fields that the scenario does not set, then those of
// the  Accept and Content-Type follow when neither sets them. The error is a MissingError.
func (r *Request) Fields(env Env, own transcript.Header, accept string) (transcript.Header, error) {
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

// Fill returns the body to send without its filler, and the filler. The error is a MissingError, or it says why
// the body cannot have its size.
func (b *Body) Fill(env Env) (body []byte, fill *transcript.Fill, err error) {
	if b.Size.IsSet() {
		return b.filled(env)
	}
	body, err = b.Plain(env)
	return body, nil, err
}

// Plain returns the body of a request that has no size. The error is a MissingError.
func (b *Body) Plain(env Env) ([]byte, error) {
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

// filled returns a body that a filler extends to its size.
func (b *Body) filled(env Env) ([]byte, *transcript.Fill, error) {
	raw, err := b.Size.Resolve(env)
	if err != nil {
		return nil, nil, err
	}
	size, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || size < 1 || size > MaxSize {
		return nil, nil, fmt.Errorf("size is %s; make it a number of bytes, %d at most", raw, MaxSize)
	}
	empty, err := b.Plain(filling{env, `""`})
	if err != nil {
		return nil, nil, err
	}
	one, err := b.Plain(filling{env, `"` + string(transcript.FillByte) + `"`})
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
		return nil, nil, fmt.Errorf("the body has %d bytes without its filler, and its size is to be %d", len(empty), size)
	}
	return empty, &transcript.Fill{At: at, Times: times}, nil
}

// A filling defines the text of the filler.
type filling struct {
	Env
	text string
}

func (f filling) Lookup(name string) (json.RawMessage, bool) {
	if name == Filler {
		return json.RawMessage(f.text), true
	}
	return f.Env.Lookup(name)
}

// EscapePath percent-encodes everything but unreserved characters (RFC 3986 §2.3). So a value stays one path segment,
// or one query value, wherever it is used.
func EscapePath(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}

// An Objection is one way in which a request or a message breaks the contract.
type Objection struct {
	Place string // "path id", "query shelf", "header X-Id", "body/items/0", "event name", "event data/id"
	Text  string
	// Value means that the type at the place is right, and only the value is wrong.
	Value bool
}
