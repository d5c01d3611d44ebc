package httpwire

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestTheAddressToDial(t *testing.T) {
	for base, want := range map[string]string{
		"http://example.com":      "example.com:80",
		"https://example.com/x":   "example.com:443",
		"http://example.com:8080": "example.com:8080",
		"http://[::1]:8080":       "[::1]:8080",
		"http://[::1]":            "[::1]:80",
	} {
		u, err := url.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		c := NewClient(u, &Options{Dial: func(_ context.Context, network, addr string) (net.Conn, error) {
			got = addr
			return nil, errTest
		}})
		fails(t, do(t, c, "GET"), transcript.FailConnect, transcript.PhaseConnect, "the step is over")
		if got != want {
			t.Errorf("%s: dialed %s, want %s", base, got, want)
		}
	}
}

// A stubborn connection has no deadlines. Only Close ends a pending read or write.
type stubborn struct {
	*wire
	mute bool // writes never finish, either
	once sync.Once
	gone chan struct{}
}

func (s *stubborn) SetDeadline(time.Time) error      { return errors.ErrUnsupported }
func (s *stubborn) SetWriteDeadline(time.Time) error { return errors.ErrUnsupported }

func (s *stubborn) Close() error {
	s.once.Do(func() { close(s.gone) })
	return nil
}

func (s *stubborn) Read(p []byte) (int, error) {
	n, err := s.wire.Read(p)
	if err == io.EOF && !s.mute {
		<-s.gone
		return 0, net.ErrClosed
	}
	return n, err
}

func (s *stubborn) Write(p []byte) (int, error) {
	if s.mute {
		<-s.gone
		return 0, net.ErrClosed
	}
	return s.wire.Write(p)
}

func (s *stubborn) client() *Client {
	s.gone = make(chan struct{})
	return NewClient(&url.URL{Scheme: "http", Host: "stubborn"}, &Options{
		Dial: func(context.Context, string, string) (net.Conn, error) { return s, nil },
	})
}

func TestAConnectionWithoutDeadlinesIsInterruptedToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stubborn{wire: &wire{script: []string{ok + "Content-Length: 5\r\n\r\nabc"}}}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errTest)
		defer cancel()
		ex, err := s.client().Do(ctx, time.Now(), &Request{Method: "GET", Target: "/"})
		if err != nil {
			t.Fatal(err)
		}
		fails(t, ex, transcript.FailTimeout, inBody, "the step is over after 3 of 5 bytes of the body")
	})
}

func TestAServerThatEndsWhileTheRequestIsSent(t *testing.T) {
	s := &stubborn{wire: &wire{}, mute: true}
	ex, err := s.client().Do(t.Context(), time.Now(), &Request{Method: "POST", Target: "/", Body: make([]byte, inlineBody+1)})
	if err != nil {
		t.Fatal(err)
	}
	fails(t, ex, closed, transcript.PhaseSend, "the connection was closed after 0 bytes of the request")
}

func TestAServerThatAnswersAndNeverReads(t *testing.T) {
	s := &stubborn{wire: &wire{script: []string{noContent}}, mute: true}
	ex, err := s.client().Do(t.Context(), time.Now(), &Request{Method: "POST", Target: "/", Body: make([]byte, inlineBody+1)})
	if err != nil {
		t.Fatal(err)
	}
	fails(t, ex, none, "", "")
}

func TestAContextThatCannotEnd(t *testing.T) {
	w := &wire{script: []string{noContent}}
	ex, err := w.client(Options{}).Do(context.Background(), time.Now(), &Request{Method: "GET", Target: "/"})
	if err != nil {
		t.Fatal(err)
	}
	fails(t, ex, none, "", "")
}

func TestWhatAConnectionCannotDo(t *testing.T) {
	w := &wire{script: []string{noContent}}
	_, cv := open(t, w.client(Options{}))
	if err := cv.CloseWrite(); err != errNoHalfClose {
		t.Errorf("CloseWrite: %v, want %v", err, errNoHalfClose)
	}
	if err := cv.reset(); err != errNoReset {
		t.Errorf("Reset: %v, want %v", err, errNoReset)
	}
	if !w.closed {
		t.Error("the connection was not closed")
	}
}

func TestAConnectionWithoutProgress(t *testing.T) {
	w := &wire{}
	c := w.client(Options{})
	c.opts.Dial = func(context.Context, string, string) (net.Conn, error) { return idling{w}, nil }
	fails(t, do(t, c, "GET"), closed, inHead, io.ErrNoProgress.Error())
}

type idling struct{ *wire }

func (idling) Read([]byte) (int, error) { return 0, nil }
