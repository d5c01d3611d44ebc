// Package stub imitates the servers that a target calls: the API of a model, or any other HTTP server.
//
// A Server listens on loopback for one target. Each scenario that uses the target attaches a script. A request belongs
// to the scenario whose token occurs in it. Requests and responses are returned as exchanges, for the transcript. A
// request that belongs to no scenario, or that no script answers, gets an error with the reason, and is reported to the
// scenarios.
//
// Up to Options.MaxBody bytes of a request's body are kept, and the request must arrive within Options.Request. A
// response that waits, hangs or is not read ends with its scenario. Close returns when all goroutines of the server
// have ended.
package stub

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Options have the limits of a server. Zero values mean the defaults given below.
type Options struct {
	MaxBody int64         // limit for the body of a request, in bytes; default 64 MiB
	Request time.Duration // limit for the time to receive a request; default 30 s
	Models  []string      // the list of models; default one model called stub
	// The others are for Stdio. Program is the lockstep program, which targets start; default "lockstep" from their PATH.
	Program string
	Dir     string   // where the executable is made; default: a new directory
	Env     []string // names of the variables of the started program that are recorded
}

func (o Options) withDefaults() Options {
	o.MaxBody, o.Request = cmp.Or(o.MaxBody, 64<<20), cmp.Or(o.Request, 30*time.Second)
	o.Program = cmp.Or(o.Program, "lockstep")
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
	// Only a program has these.
	executable *executable
	token      string        // the path of its requests
	done       chan struct{} // closed when the server has stopped

	life context.Context // ends with the server, and ends all responses
	end  context.CancelCauseFunc

	mu       sync.Mutex // guards the fields below
	sessions []*session
	over     map[string]bool // tokens of scenarios that have been attached
	early    []early         // requests from before the first scenario
}

// Start starts a server on a free loopback port.
func Start(name string, kind Kind, options Options) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := Serve(l, name, kind, options)
	if kind == Stdio {
		if s.executable, err = s.makeExecutable(); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}

// Serve runs a server on a listener. Close closes the listener.
func Serve(l net.Listener, name string, kind Kind, options Options) *Server {
	life, end := context.WithCancelCause(context.Background())
	s := &Server{
		name: name, kind: kind, opts: options.withDefaults(), url: "http://" + l.Addr().String(),
		done: make(chan struct{}), life: life, end: end, over: map[string]bool{}, token: "/" + rand.Text(),
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

// URL returns the base URL of the server, without a slash at the end. For a program, it is the path of the executable.
func (s *Server) URL() string {
	if s.executable != nil {
		return s.executable.path
	}
	return s.url
}

func (s *Server) Kind() Kind { return s.kind }

var errClosed = errors.New("the upstream was closed")

// Close ends every response and waits for all goroutines.
func (s *Server) Close() {
	s.end(errClosed)
	_ = s.http.Close() // closes all connections
	<-s.done
	if s.executable != nil {
		s.executable.remove()
	}
	for _, a := range s.takeSessions() {
		a.answers.Wait()
	}
}

// A Script has the responses of a scenario. Its methods are called from several goroutines.
type Script interface {
	// Answer returns the response to a request, and a function that is called once when the response is complete.
	Answer(r *transcript.Request) (*Answer, func(*transcript.Exchange))
	// Unexpected is called for a request that may belong to the scenario and got an error as its response.
	Unexpected(x *transcript.Exchange, why string)
}

// A session is an attached scenario.
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

// Attach lets a scenario respond to the requests that have its token, or to all. started is when the scenario began.
// detach ends that: it cuts off the responses, and later requests with the token are ignored.
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
	s.sessions = slices.DeleteFunc(slices.Clone(s.sessions), func(other *session) bool { return other == a }) // others may read the old list
	s.over[a.token] = true
}

func (s *Server) takeSessions() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.sessions
	s.sessions = nil
	return all
}
