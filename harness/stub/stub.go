// Package stub stands in for the servers that a target calls: an API of a model, or any other over HTTP.
//
// A Server listens on loopback for one target. It knows no script of its own: each scenario that uses the target attaches
// one, and every request finds its scenario by the token of that scenario, which stands somewhere in it. What the target
// asks and what it gets is handed back as exchanges, for the transcript. A request that belongs to no scenario, or that no
// script answers, gets an error that says so, and is told to the scenarios: nothing is silent.
//
// The bounds: a request's body is kept up to Options.MaxBody, and may take Options.Request to come; an answer that lets
// wait, hangs or is not read ends with its scenario. Close returns when nothing of the server is left.
package stub

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Options bound a server. Zero values stand for the defaults that the comments name.
type Options struct {
	MaxBody int64         // bytes of a request's body: 64 MiB
	Request time.Duration // for a request to come: 30 s
	Models  []string      // the models that it lists, of a kind that has any: one that is called stub
}

func (o Options) withDefaults() Options {
	if o.MaxBody == 0 {
		o.MaxBody = 64 << 20
	}
	if o.Request == 0 {
		o.Request = 30 * time.Second
	}
	if len(o.Models) == 0 {
		o.Models = []string{"stub"}
	}
	return o
}

// A Server is one upstream of one target.
type Server struct {
	name string
	kind Kind
	opts Options
	url  string
	http *http.Server
	done chan struct{} // closed when nobody is served any more

	life context.Context // of all answers
	end  context.CancelCauseFunc

	mu       sync.Mutex // guards what follows
	sessions []*session
	over     map[string]bool // tokens of scenarios that were attached
	early    []early         // requests before any scenario was
}

// Start listens on a free port of loopback.
func Start(name string, kind Kind, options Options) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return Serve(l, name, kind, options), nil
}

// Serve answers on a listener, which belongs to the server from then on.
func Serve(l net.Listener, name string, kind Kind, options Options) *Server {
	life, end := context.WithCancelCause(context.Background())
	s := &Server{
		name: name, kind: kind, opts: options.withDefaults(), url: "http://" + l.Addr().String(),
		done: make(chan struct{}), life: life, end: end, over: map[string]bool{},
	}
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		ReadHeaderTimeout: s.opts.Request,
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		ErrorLog:          discard,
	}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l) // until Close
	}()
	return s
}

// URL is where the target finds the server: no path, no slash at its end.
func (s *Server) URL() string { return s.url }

// Kind is what the server stands for.
func (s *Server) Kind() Kind { return s.kind }

var errClosed = errors.New("the upstream was closed")

// Close ends every answer and waits until nothing is left.
func (s *Server) Close() {
	s.end(errClosed)
	_ = s.http.Close() // which hangs up on everybody; there is nothing to do about one that was gone
	<-s.done
	for _, a := range s.detachAll() {
		a.wait()
	}
}

// A Script is what a scenario has a server answer. Its methods are called by several goroutines.
type Script interface {
	// Answer returns what a request gets, and what to call when that is over, once.
	Answer(r *transcript.Request) (*Answer, func(*transcript.Exchange))
	// Stray hears of a request that may be this scenario's, and was answered with an error, with why.
	Stray(x *transcript.Exchange, why string)
}

// A session is a scenario that is attached.
type session struct {
	script  Script
	token   string
	all     bool // whatever comes is its own
	started time.Time
	ctx     context.Context
	cancel  context.CancelCauseFunc
	answers sync.WaitGroup
}

func (a *session) wait() { a.answers.Wait() }

var errOver = errors.New("the scenario is over")

// Attach lets a scenario that began at a time answer the requests that have its token in them, or all. What is returned
// ends that: its answers are cut off, and later requests are nobody's finding.
func (s *Server) Attach(script Script, token string, all bool, started time.Time) (detach func()) {
	a := &session{script: script, token: token, all: all, started: started}
	a.ctx, a.cancel = context.WithCancelCause(s.life)
	s.mu.Lock()
	s.sessions = append(s.sessions, a)
	before := s.early
	s.early = nil
	s.mu.Unlock()
	for _, e := range before {
		e.tell(a)
	}
	return sync.OnceFunc(func() {
		s.remove(a)
		a.cancel(errOver)
		a.wait()
	})
}

func (s *Server) remove(a *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.sessions {
		if other == a {
			s.sessions = append(s.sessions[:i:i], s.sessions[i+1:]...)
		}
	}
	s.over[a.token] = true
}

func (s *Server) detachAll() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.sessions
	s.sessions = nil
	return all
}
