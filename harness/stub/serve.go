package stub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// discard drops the log of net/http, because the exchanges have what matters.
var discard = log.New(io.Discard, "", 0)

type connKey struct{}

// serve handles one request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	arrived := time.Now()
	x := &transcript.Exchange{}
	readErr := s.read(w, r, x)
	if s.kind == Stdio && !s.asStart(&x.Request) {
		http.NotFound(w, r)
		return
	}
	a, candidates, why := s.owner(&x.Request)
	if a == nil {
		s.serveUnowned(w, x, arrived, candidates, why)
		return
	}
	defer a.answers.Done()
	x.Sent = arrived.Sub(a.started)
	answer, done := (*Answer)(nil), func(x *transcript.Exchange) { a.script.Unexpected(x, "") }
	if readErr == nil {
		answer, done = a.script.Answer(&x.Request)
	}
	t := &responder{server: s, session: a, w: w, r: r, x: x}
	defer func() {
		x.Done = time.Since(a.started)
		done(x)
	}()
	switch {
	case readErr != nil:
		x.Failure = &transcript.Failure{Kind: transcript.FailClosed, Phase: transcript.PhaseSend, Text: "the request broke: " + readErr.Error()}
	case answer == nil:
		t.answer(s.refusal("no rule of the scenario answers it: add one under stubs: "+s.name, 501))
	default:
		t.answer(answer)
	}
	if t.abort { // this makes net/http close the connection; deferred calls still run
		panic(http.ErrAbortHandler)
	}
}

// serveUnowned responds to a request that belongs to no scenario.
func (s *Server) serveUnowned(w http.ResponseWriter, x *transcript.Exchange, arrived time.Time, candidates []*session, why string) {
	answer := s.BuiltIn(&x.Request)
	builtIn := answer != nil
	if !builtIn {
		answer = s.refusal(why, 501)
	}
	rep := s.reply(&x.Request, answer)
	writeHead(w, rep)
	for _, f := range rep.frames {
		_, _ = w.Write(f.bytes) // the request is reported even if the target has closed the connection
	}
	x.Response = &transcript.Response{Proto: "HTTP/1.1", Status: rep.status, Header: rep.header, Body: body(rep.frames)}
	e := early{x: x, at: arrived, builtIn: builtIn, why: why}
	if len(candidates) == 0 {
		s.keep(e)
	} else if !builtIn {
		for _, a := range candidates {
			e.deliver(a)
		}
	}
}

// refusal is the response to a request without a script.
func (s *Server) refusal(why string, status int) *Answer {
	text := fmt.Sprintf("lockstep: the stub %q has no answer to this request: %s", s.name, why)
	return &Answer{Status: status, Error: &text}
}

// read reads a request into an exchange, as far as it arrives.
func (s *Server) read(w http.ResponseWriter, r *http.Request, x *transcript.Exchange) error {
	x.Request = transcript.Request{Method: r.Method, Target: r.RequestURI, Header: headerOf(r)}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.opts.Request)) // fails only for connections in memory, which tests use
	content, err := io.ReadAll(io.LimitReader(r.Body, s.opts.MaxBody+1))
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	size := int64(len(content))
	if size > s.opts.MaxBody {
		content, err = content[:s.opts.MaxBody], fmt.Errorf("it has more than %d bytes", s.opts.MaxBody)
	}
	x.Request.Body = transcript.Body{Bytes: content, Size: size}
	x.Request.Body.Decode(x.Request.Header, s.opts.MaxBody)
	return err
}

// headerOf returns a request's header fields, sorted by name, because net/http keeps neither their order nor their
// case.
func headerOf(r *http.Request) transcript.Header {
	var out transcript.Header
	out = append(out, transcript.Field{Name: "Host", Value: r.Host})
	for name, values := range r.Header {
		for _, v := range values {
			out = append(out, transcript.Field{Name: name, Value: v})
		}
	}
	slices.SortStableFunc(out, func(a, b transcript.Field) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func body(frames []frame) transcript.Body {
	var all []byte
	for _, f := range frames {
		all = append(all, f.bytes...)
	}
	return transcript.Body{Bytes: all, Size: int64(len(all))}
}

func writeHead(w http.ResponseWriter, rep reply) {
	for _, f := range rep.header {
		w.Header().Add(f.Name, f.Value)
	}
	w.WriteHeader(rep.status)
}

// A responder writes one response.
type responder struct {
	server  *Server
	session *session
	w       http.ResponseWriter
	r       *http.Request
	x       *transcript.Exchange
	abort   bool // close the connection
}

// answer writes a response, unless the target closes the connection before its end.
func (t *responder) answer(a *Answer) {
	ctx, cancel := context.WithCancelCause(t.r.Context())
	defer cancel(nil)
	defer context.AfterFunc(t.session.ctx, func() { cancel(context.Cause(t.session.ctx)) })()
	out := http.NewResponseController(t.w)
	// If the target does not read, the end of the scenario also ends a write.
	defer context.AfterFunc(ctx, func() { _ = out.SetWriteDeadline(time.Unix(1, 0)) })()
	if !t.wait(ctx, a.After, transcript.PhaseHead) {
		return
	}
	if a.Takeover != nil {
		t.takeover(ctx, a)
		return
	}
	if !a.onlyEnd() && !t.write(ctx, out, a) {
		return
	}
	switch a.End {
	case Hang:
		t.wait(ctx, forever, transcript.PhaseBody)
	case Reset:
		if c, ok := t.r.Context().Value(connKey{}).(*net.TCPConn); ok {
			_ = c.SetLinger(0)
		}
		t.abort = true
	case Cut:
		t.abort = true
	}
}

// forever is longer than any scenario.
const forever = 1<<63 - 1

// wait delays the response. It returns false when the target or the scenario ends first. Then the connection cannot be
// used any more.
func (t *responder) wait(ctx context.Context, d time.Duration, phase transcript.Phase) bool {
	if d == 0 || waiting.Sleep(ctx, d) {
		return true
	}
	t.noteHangUp(ctx, phase)
	return false
}

// noteHangUp records that the target did not wait for the response. It is not a failure if the end of the scenario
// closed the connection.
func (t *responder) noteHangUp(ctx context.Context, phase transcript.Phase) {
	t.abort = true
	if cause := context.Cause(ctx); !errors.Is(cause, errOver) && !errors.Is(cause, errClosed) {
		t.x.Failure = &transcript.Failure{Kind: transcript.FailCanceled, Phase: phase, Text: "the target hung up"}
	}
}

// write writes the head and the body.
func (t *responder) write(ctx context.Context, out *http.ResponseController, a *Answer) bool {
	rep := t.server.reply(&t.x.Request, a)
	whole := body(rep.frames)
	if !rep.stream && !rep.header.Has("Content-Length") && a.End != Whole { // announce more than is written
		rep.header = append(rep.header, transcript.Field{Name: "Content-Length", Value: fmt.Sprint(whole.Size)})
		rep.frames[0].bytes = whole.Bytes[:len(whole.Bytes)/2]
	}
	if len(rep.frames) > 0 && !rep.stream && !t.wait(ctx, rep.frames[0].after, transcript.PhaseHead) {
		return false
	}
	writeHead(t.w, rep)
	if rep.stream || a.End != Whole {
		_ = out.Flush() // the next write will return the same error
	}
	t.x.Head = time.Since(t.session.started)
	t.x.Response = &transcript.Response{Proto: "HTTP/1.1", Status: rep.status, Header: rep.header}
	for i, f := range rep.frames {
		if (i > 0 || rep.stream) && !t.wait(ctx, f.after, transcript.PhaseBody) {
			return false
		}
		if _, err := t.w.Write(f.bytes); err != nil {
			t.noteHangUp(ctx, transcript.PhaseBody)
			return false
		}
		if rep.stream || a.End != Whole {
			_ = out.Flush()
		}
		b := &t.x.Response.Body
		b.Bytes = append(b.Bytes, f.bytes...)
		b.Size = int64(len(b.Bytes))
	}
	return true
}
