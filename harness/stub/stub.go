// Package stub imitates the servers that a target calls: the API of a model, or any other HTTP server.
//
// A Server listens on loopback for one target. Each scenario that uses the target attaches a script. A request belongs to
// the scenario whose token is somewhere in it. Requests and answers are returned as exchanges, for the transcript. A request
// that belongs to no scenario, or that no script answers, gets an error with the reason, and is reported to the scenarios.
//
// A request's body is kept up to Options.MaxBody, and must arrive within Options.Request. An answer that waits, hangs or is
// not read ends with its scenario. Close returns when all goroutines of the server have ended.
package stub

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Options bound a server. The zero values mean the defaults that the comments name.
type Options struct {
	MaxBody int64         // of a request, in bytes: 64 MiB
	Request time.Duration // bound on receiving a request: 30 s
	Models  []string      // in the list of models: one that is called stub
}

func (o Options) withDefaults() Options {
	o.MaxBody, o.Request = cmp.Or(o.MaxBody, 64<<20), cmp.Or(o.Request, 30*time.Second)
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
	done chan struct{} // closed when the server has stopped

	life context.Context // of all answers
	end  context.CancelCauseFunc

	mu       sync.Mutex // guards what follows
	sessions []*session
	over     map[string]bool // tokens of scenarios that were attached
	early    []early         // requests before the first scenario
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

// URL returns the base URL of the server, without a slash at the end.
func (s *Server) URL() string { return s.url }

// Kind returns the kind of API that the server imitates.
func (s *Server) Kind() Kind { return s.kind }

var errClosed = errors.New("the upstream was closed")

// Close ends every answer and waits for all goroutines.
func (s *Server) Close() {
	s.end(errClosed)
	_ = s.http.Close() // closes all connections
	<-s.done
	for _, a := range s.takeSessions() {
		a.answers.Wait()
	}
}

// A Script is the answers of a scenario. Several goroutines call its methods.
type Script interface {
	// Answer returns the answer to a request, and a function to call once when that is complete.
	Answer(r *transcript.Request) (*Answer, func(*transcript.Exchange))
	// Unexpected is called for a request that may belong to the scenario, but was answered with an error.
	Unexpected(x *transcript.Exchange, why string)
}

// A session is a scenario that is attached.
type session struct {
	script  Script
	token   string
	all     bool // all requests belong to it
	started time.Time
	ctx     context.Context
	cancel  context.CancelCauseFunc
	answers sync.WaitGroup
}

var errOver = errors.New("the scenario is over")

// Attach lets a scenario that began at a time answer the requests that have its token, or all. detach ends that: it cuts off
// its answers, and later requests with the token are ignored.
func (s *Server) Attach(script Script, token string, all bool, started time.Time) (detach func()) {
	a := &session{script: script, token: token, all: all, started: started}
	a.ctx, a.cancel = context.WithCancelCause(s.life)
	s.mu.Lock()
	s.sessions = append(s.sessions, a)
	before := s.early
	s.early = nil
	s.mu.Unlock()
	for _, e := range before {
		e.deliver(a)
	}
	return sync.OnceFunc(func() {
		s.remove(a)
		a.cancel(errOver)
		a.answers.Wait()
	})
}

func (s *Server) remove(a *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = slices.DeleteFunc(slices.Clone(s.sessions), func(other *session) bool { return other == a }) // others may still read the old list
	s.over[a.token] = true
}

func (s *Server) takeSessions() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.sessions
	s.sessions = nil
	return all
}
