package clienttools

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	startTimeout = 30 * time.Second
	stopTimeout  = 10 * time.Second
)

var errKilled = errors.New("killed, because it did not stop after the end of its input")

// ServerOptions change how StartServer starts a server.
type ServerOptions struct {
	Command []string  // the program and its first arguments; default: agentd, from PATH
	Dir     string    // its working directory; default: the program's own
	Env     []string  // further variables, as NAME=value
	Output  io.Writer // gets its standard error, and its standard output except the line with its URL; default: none
	Client  Options   // of the client. Its SecretKey becomes the server's; default: a random one
}

// A Server is an agent server that runs as a child of this program.
type Server struct {
	URL    string
	Client *Client

	input  io.Closer
	kill   func() error
	exited chan struct{} // closed after err is set
	err    error         // of the exit
}

// StartServer starts an agent server on a free port of 127.0.0.1, and waits at most 30 s until it listens. The server
// ends with Close, or when this program ends, however it ends. ctx bounds the start only.
func StartServer(ctx context.Context, options *ServerOptions) (*Server, error) {
	var o ServerOptions
	if options != nil {
		o = *options
	}
	if len(o.Command) == 0 {
		o.Command = []string{"agentd"}
	}
	o.Client.SecretKey = cmp.Or(o.Client.SecretKey, newKey())
	args := append(slices.Clone(o.Command[1:]), "agent", "--host", "127.0.0.1", "--port", "0", "--exit-with-stdin")
	cmd := exec.Command(o.Command[0], args...)
	cmd.Dir = o.Dir
	cmd.Env = append(append(cmd.Environ(), o.Env...), "GOOSE_SERVER__SECRET_KEY="+o.Client.SecretKey)
	out := &output{to: cmp.Or(o.Output, io.Discard)}
	cmd.Stderr = out
	cmd.WaitDelay = time.Second // for what its own children keep open
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	announced := make(chan string, 1)
	cmd.Stdout = &announcement{url: announced, rest: out}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	s := &Server{input: input, kill: cmd.Process.Kill, exited: make(chan struct{})}
	go func() {
		s.err = cmd.Wait()
		close(s.exited)
	}()
	if err := s.begin(ctx, announced, &o.Client); err != nil {
		_ = s.stop(stopTimeout) // why it did not start says more
		return nil, fmt.Errorf("start server %s: %w", o.Command[0], err)
	}
	return s, nil
}

// begin waits until the server listens, and makes the client.
func (s *Server) begin(ctx context.Context, announced <-chan string, options *Options) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, errors.New("it does not listen after 30 s"))
	defer cancel()
	select {
	case s.URL = <-announced:
		s.Client, err = New(s.URL, options)
		return err
	case <-s.exited:
		return fmt.Errorf("it ended before it listened: %w", cmp.Or(s.err, errors.New("exit status 0")))
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close closes the client, asks the server to stop by the end of its input, and kills it after 10 s. The error says how
// the client or the server failed to end.
func (s *Server) Close() error {
	return errors.Join(s.Client.Close(), s.stop(stopTimeout))
}

func (s *Server) stop(limit time.Duration) error {
	_ = s.input.Close() // a second time it is closed already
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, errKilled)
	defer cancel()
	if err := wait(ctx, s.exited); err != nil {
		_ = s.kill() // it may have ended meanwhile
		<-s.exited
		return err
	}
	return s.err
}

func newKey() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	return hex.EncodeToString(key)
}

// output is written by both streams of the server.
type output struct {
	mu sync.Mutex
	to io.Writer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.to.Write(p)
}

// An announcement is the server's standard output. It sends the URL of the line "listening on <URL>".
type announcement struct {
	url  chan string // nil after it was sent
	line []byte
	rest io.Writer
}

func (a *announcement) Write(p []byte) (int, error) {
	if a.url == nil {
		return a.rest.Write(p)
	}
	for i, b := range p {
		if b != '\n' {
			if len(a.line) < 4096 { // more is not a URL
				a.line = append(a.line, b)
			}
			continue
		}
		if url, ok := strings.CutPrefix(strings.TrimSuffix(string(a.line), "\r"), "listening on "); ok {
			a.url <- url
			a.url = nil
			n, err := a.rest.Write(p[i+1:])
			return i + 1 + n, err
		}
		if _, err := a.rest.Write(append(a.line, '\n')); err != nil {
			return i, err
		}
		a.line = a.line[:0]
	}
	return len(p), nil
}
