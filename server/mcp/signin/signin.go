// Package signin lets users sign in to the servers of extensions, with OAuth in a browser, and keeps their tokens
// (GA 31, decisions X47 to X59).
//
// A [SignIns] runs the sign-ins of a server. A [Session] has the token of one connection, and renews it.
//
// No library for OAuth or MCP finds metadata, registers clients and judges tokens by the rules of GA 31. So the requests
// are made here.
package signin

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/settings/ownsecret"
)

// These are the reasons for a sign-in that fails (decision X59).
const (
	unreadable    = mcperror.Reason("Sign-in failed: the secrets cannot be read")
	tooMany       = mcperror.Reason("Sign-in failed: too many sign-ins")
	noMetadata    = mcperror.Reason("Sign-in failed: no authorization server found")
	notRefreshed  = mcperror.Reason("Sign-in failed: the token cannot be refreshed")
	noPort        = mcperror.Reason("Sign-in failed: no port for the answer")
	noAnswer      = mcperror.Reason("Sign-in failed: no answer within 300 s")
	denied        = mcperror.Reason("Sign-in failed: the authorization server refused it")
	forged        = mcperror.Reason("Sign-in failed: the answer is not for this sign-in")
	noToken       = mcperror.Reason("Sign-in failed: no token for the code")
	unwritable    = mcperror.Reason("Sign-in failed: the secrets cannot be written")
	noLongerAsked = mcperror.Reason("no request waits for it")
)

// maxSignIns is how many sign-ins may run at a time (decision X48).
const maxSignIns = 16

// Options configure sign-ins.
type Options struct {
	Secrets Secrets
	// Browser is the command that opens a page (decision X53). It is "none" if nothing does, and the default of the
	// system if it is blank.
	Browser string
	// Directory and Environment are those of the browser.
	Directory   string
	Environment []string
	// Pages receives the addresses of pages that no browser opens, a line each. They have secrets. Nil drops them.
	Pages io.Writer
	Log   *slog.Logger
}

// Secrets keeps credentials. A value is canonical JSON, or nil if there is none.
type Secrets interface {
	Secret(key string) (json.RawMessage, error)
	SetSecret(key string, value json.RawMessage) error
	RemoveSecret(key string) error
}

// SignIns are the sign-ins of a server. Its methods are safe for concurrent use.
type SignIns struct {
	secrets Secrets
	browser browser
	pages   io.Writer
	log     *slog.Logger

	transport http.RoundTripper
	times     times

	ctx context.Context // ends with the server
	end context.CancelCauseFunc

	mu      sync.Mutex
	flights map[place]*flight
	steps   map[string]*queue // by the name of the extension
	stopped bool
	working sync.WaitGroup // flights and steps
}

// times are the limits of waits. Tests shorten them.
type times struct {
	request, discovery, user, connection time.Duration
}

// New returns the sign-ins of a server. The caller closes them.
func New(o Options) *SignIns {
	s := &SignIns{
		secrets:   o.Secrets,
		browser:   browser{words: words(o.Browser), directory: o.Directory, environment: ownsecret.Without(o.Environment)},
		pages:     o.Pages,
		log:       o.Log,
		transport: newTransport(),
		times:     times{request: 30 * time.Second, discovery: 60 * time.Second, user: 300 * time.Second, connection: 10 * time.Second},
		flights:   map[place]*flight{},
		steps:     map[string]*queue{},
	}
	if s.pages == nil {
		s.pages = io.Discard
	}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	return s
}

// Stop ends all sign-ins. Later ones fail.
func (s *SignIns) Stop() {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.end(mcperror.Closed)
}

// Close stops the sign-ins, and waits for their end. Accesses to the secrets may delay it.
func (s *SignIns) Close() {
	s.Stop()
	s.working.Wait()
}

// A place is what a sign-in is for.
type place struct{ name, uri string } // the URI in its canonical form

// A flight is a running sign-in, which several requests may wait for.
type flight struct {
	waiting int // guarded by the lock of the sign-ins
	cancel  context.CancelCauseFunc
	done    chan struct{}
	result  grant // once done
	err     error
}

// A grant is what a sign-in has got.
type grant struct {
	token
	metadata metadata
	stored   bool // was there before: if the server rejects it, the user signs in
}

// SignIn returns a session with a token for a server: a stored one, or one for which the user signs in. name is that of
// the extension. The context only limits the wait.
func (s *SignIns) SignIn(ctx context.Context, name string, uri *url.URL) (*Session, error) {
	return s.share(ctx, &attempt{s: s, name: name, uri: uri})
}

// Again returns a session with another token, after the server has rejected the first request with a stored one.
func (s *SignIns) Again(ctx context.Context, rejected *Session) (*Session, error) {
	access, _ := rejected.Current()
	return s.share(ctx, &attempt{s: s, name: rejected.name, uri: rejected.uri, rejected: access, metadata: rejected.metadata})
}

// share waits for an attempt, or for the one that runs for the same place.
func (s *SignIns) share(ctx context.Context, a *attempt) (*Session, error) {
	at := place{a.name, canonical(a.uri)}
	f, err := s.join(at, a)
	if err != nil {
		return nil, err
	}
	select {
	case <-f.done:
		if f.err != nil {
			return nil, f.err
		}
		return &Session{s: s, name: a.name, uri: a.uri, metadata: f.result.metadata, stored: f.result.stored, token: f.result.token}, nil
	case <-ctx.Done():
		s.leave(at, f)
		return nil, context.Cause(ctx)
	}
}

// join returns the flight for a place, which it starts if there is none.
func (s *SignIns) join(at place, a *attempt) (*flight, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.flights[at]
	switch {
	case f != nil:
		f.waiting++
		return f, nil
	case s.stopped:
		return nil, mcperror.Closed
	case len(s.flights) >= maxSignIns:
		s.log.Warn("sign-in failed", "extension", a.name, "err", tooMany)
		return nil, tooMany
	}
	ctx, cancel := context.WithCancelCause(s.ctx)
	f = &flight{waiting: 1, cancel: cancel, done: make(chan struct{})}
	s.flights[at] = f
	s.working.Go(func() {
		defer cancel(nil)
		f.result, f.err = a.run(ctx)
		if ctx.Err() != nil {
			f.err = context.Cause(ctx)
		}
		s.remove(at, f)
		a.logEnd(f.err)
		close(f.done)
	})
	return f, nil
}

// leave ends a flight that no request waits for any more. Later requests start another one at once.
func (s *SignIns) leave(at place, f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.waiting--; f.waiting > 0 {
		return
	}
	if s.flights[at] == f {
		delete(s.flights, at)
	}
	f.cancel(noLongerAsked)
}

func (s *SignIns) remove(at place, f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flights[at] == f {
		delete(s.flights, at)
	}
}
