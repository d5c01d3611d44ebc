package httpwire

import (
	"bytes"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A Request is what to send. It is sent as it is, so that a scenario can send invalid requests. The only errors are
// things that would turn it into a different request, such as a line end in a header field.
type Request struct {
	Method string // a token (RFC 9110 §9.1), which need not be a known method
	// Target is the path and query. It is sent byte by byte: nothing is escaped, resolved or cleaned, and it need not
	// be valid. White space and control characters are an error, because they would end it. If it begins with a slash,
	// the client's path prefix is put before it.
	Target string
	// Header is sent in this order and case. If it lacks Host and User-Agent, they are sent before it. If it lacks
	// Content-Length or Transfer-Encoding, one of them is sent after it.
	Header transcript.Header
	Body   []byte // the Exchange keeps it, so it must not be changed
	// Fill, if not nil, is added to the body. It is never in memory as a whole.
	Fill *transcript.Fill
	// Chunked sends the body as one chunk, instead of with a Content-Length.
	Chunked bool
	// Sent, unless nil, is called when writing the request has ended or failed. The goroutine that writes calls it,
	// once for each attempt.
	Sent func()
}

const userAgent = "lockstep"

// A message is a request, ready to be sent.
type message struct {
	record transcript.Request
	bytes  []byte      // the head, and a small body
	rest   net.Buffers // a larger body, and its end if it is chunked

	sent       func()
	idempotent bool
	close      bool // the request announces the end of the connection
}

// inlineBody is the maximum size of a body that is sent together with its head, before anything is read. It fits into
// the socket buffers of any system, so the write does not wait for the server.
const inlineBody = 32 << 10

// compose checks a request and builds its message.
func (c *Client) compose(req *Request) (*message, error) {
	if err := c.check(req); err != nil {
		return nil, err
	}
	target := req.Target
	if strings.HasPrefix(target, "/") {
		target = c.prefix + target
	}
	header := c.header(req)
	m := &message{
		record: transcript.Request{
			Method: req.Method, Target: target, Header: header,
			Body: transcript.Body{Bytes: req.Body, Size: req.size(), Fill: req.Fill},
		},
		sent:       req.Sent,
		idempotent: isIdempotent(req.Method),
		close:      header.HasElement("Connection", "close"),
	}
	var chunk, tail string
	if req.Chunked {
		tail = "0\r\n\r\n"
		if req.size() > 0 { // an empty chunk would end the body
			chunk, tail = strconv.FormatInt(req.size(), 16)+"\r\n", "\r\n"+tail
		}
	}
	b := make([]byte, 0, 512+min(len(req.Body), inlineBody))
	b = append(b, req.Method+" "+target+" HTTP/1.1\r\n"...)
	for _, f := range header {
		b = append(b, f.Name+": "+f.Value+"\r\n"...)
	}
	b = append(b, "\r\n"+chunk...)
	if req.size() <= inlineBody && req.Fill == nil {
		b = append(b, req.Body...)
		m.bytes = append(b, tail...)
	} else {
		m.bytes, m.rest = b, req.content()
		if tail != "" { // writing nothing to a pipe would wait for its reader
			m.rest = append(m.rest, []byte(tail))
		}
	}
	return m, nil
}

// size returns the size of the body.
func (r *Request) size() int64 {
	n := int64(len(r.Body))
	if r.Fill != nil {
		n += r.Fill.Times
	}
	return n
}

// filler is a piece of the filler of a body.
var filler = bytes.Repeat([]byte{transcript.FillByte}, 64<<10)

// content returns the pieces of a body. Those of the filler share their memory.
func (r *Request) content() net.Buffers {
	if r.Fill == nil {
		return net.Buffers{r.Body}
	}
	var out net.Buffers
	add := func(piece []byte) {
		if len(piece) > 0 {
			out = append(out, piece)
		}
	}
	add(r.Body[:r.Fill.At])
	for left := r.Fill.Times; left > 0; left -= int64(len(filler)) {
		add(filler[:min(left, int64(len(filler)))])
	}
	add(r.Body[r.Fill.At:])
	return out
}

// check returns an error for a request that cannot be sent, or that would become another one on the wire.
func (c *Client) check(req *Request) error {
	switch {
	case c.base.Scheme != "http" && c.base.Scheme != "https":
		return fmt.Errorf("base URL %q: the scheme is neither http nor https", c.base.Redacted())
	case c.base.Host == "" || strings.ContainsFunc(c.base.Host, isControl):
		return fmt.Errorf("base URL %q: no host", c.base.Redacted())
	case c.base.User != nil:
		return fmt.Errorf("base URL %q: credentials belong in a header field", c.base.Redacted())
	case !isToken(req.Method):
		return fmt.Errorf("method %q: not a token (RFC 9110 §9.1)", req.Method)
	case req.Fill != nil && (req.Fill.At < 0 || req.Fill.At > len(req.Body) || req.Fill.Times < 0):
		return fmt.Errorf("the filler of the body is not in it: %+v", *req.Fill)
	case req.Target == "":
		return fmt.Errorf("target is empty")
	}
	for i := range len(req.Target) {
		if b := req.Target[i]; b <= ' ' || b == 0x7f {
			return fmt.Errorf("target %q: the byte %#02x would end it (RFC 9112 §3.2)", req.Target, b)
		}
	}
	for _, f := range req.Header {
		if !isToken(f.Name) {
			return fmt.Errorf("header field %q: its name is not a token (RFC 9110 §5.1)", f.Name)
		}
		if strings.ContainsAny(f.Value, "\r\n\x00") {
			return fmt.Errorf("header field %s: %q has a line end or a NUL in it (RFC 9110 §5.5)", f.Name, f.Value)
		}
	}
	return nil
}

// header returns the fields to send: the request's own, and those that the client adds.
func (c *Client) header(req *Request) transcript.Header {
	has := func(name string) bool {
		_, ok := req.Header.Get(name)
		return ok
	}
	h := make(transcript.Header, 0, len(req.Header)+3)
	if !has("Host") { // "A user agent that sends Host SHOULD send it as the first field" (RFC 9110 §7.2)
		h = append(h, transcript.Field{Name: "Host", Value: c.base.Host})
	}
	if !has("User-Agent") {
		h = append(h, transcript.Field{Name: "User-Agent", Value: userAgent})
	}
	h = append(h, req.Header...)
	switch {
	case req.Chunked && !has("Transfer-Encoding"):
		h = append(h, transcript.Field{Name: "Transfer-Encoding", Value: "chunked"})
	case req.Chunked || has("Transfer-Encoding") || has("Content-Length"):
	case req.size() > 0 || anticipatesContent(req.Method):
		h = append(h, transcript.Field{Name: "Content-Length", Value: strconv.FormatInt(req.size(), 10)})
	}
	return h
}

// anticipatesContent reports whether a request without a body says so: "A user agent SHOULD send Content-Length in a
// request when the method defines a meaning for enclosed content and it is not sending Transfer-Encoding" (RFC 9110
// §8.6).
func anticipatesContent(method string) bool {
	return method == "POST" || method == "PUT" || method == "PATCH"
}

// isIdempotent reports whether doing a request twice has the same effect as doing it once (RFC 9110 §9.2.2).
func isIdempotent(method string) bool {
	switch method {
	case "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE":
		return true
	}
	return false
}

func isControl(r rune) bool { return r <= ' ' || r == 0x7f }
