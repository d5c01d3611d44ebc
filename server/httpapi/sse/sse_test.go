package sse_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/memnet"
	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/httpapi/conn"
	"github.com/lockstep-dev/lockstep/server/httpapi/sse"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

func TestFramesAreExactlyTheirBytes(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{string(sse.Data([]byte(`{"a":1}`))), "data: {\"a\":1}\n\n"},
		{string(sse.Event("tool-request", []byte(`{}`))), "event: tool-request\ndata: {}\n\n"},
		{string(sse.Event("ping", nil)), "event: ping\ndata: \n\n"},
		{string(sse.Comment("heartbeat")), ": heartbeat\n\n"},
	} {
		if tc.got != tc.want {
			t.Errorf("frame %q, want %q", tc.got, tc.want)
		}
	}
}

// A feed is a source that a test fills.
type feed struct {
	ready chan struct{}

	mu     sync.Mutex
	frames []string
	over   bool
}

func newFeed(frames ...string) *feed { return &feed{ready: make(chan struct{}, 1), frames: frames} }

func (f *feed) Ready() <-chan struct{} { return f.ready }

func (f *feed) Next() ([]byte, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.frames) == 0 {
		return nil, !f.over
	}
	frame := []byte(f.frames[0])
	f.frames = f.frames[1:]
	return frame, true
}

func (f *feed) add(frames ...string) { f.change(func() { f.frames = append(f.frames, frames...) }) }
func (f *feed) end()                 { f.change(func() { f.over = true }) }

func (f *feed) change(how func()) {
	f.mu.Lock()
	how()
	f.mu.Unlock()
	f.Wake()
}

func (f *feed) Wake() {
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

// A wire is a ResponseWriter that records what was sent when, with one entry per flush.
type wire struct {
	start  time.Time
	header http.Header
	unsent strings.Builder

	mu   sync.Mutex
	sent []sent
}

type sent struct {
	After time.Duration
	Bytes string
}

func newWire() *wire { return &wire{start: time.Now(), header: make(http.Header)} }

func (w *wire) Header() http.Header { return w.header }
func (w *wire) WriteHeader(int)     { w.unsent.WriteString("head") }

func (w *wire) Write(b []byte) (int, error) { return w.unsent.Write(b) }

func (w *wire) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, sent{time.Since(w.start), w.unsent.String()})
	w.unsent.Reset()
}

// open serves a feed on a wire. The returned function ends the stream with a cause, and returns what was sent.
func open(t *testing.T, w *wire, f *feed, opts sse.Options) (end func(cause error) []sent) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	served := make(chan error, 1)
	go func() { served <- sse.Serve(ctx, w, f, opts) }()
	return func(cause error) []sent {
		synctest.Wait()
		cancel(cause)
		if err := <-served; !errors.Is(err, cause) {
			t.Errorf("Serve: %v, want %v", err, cause)
		}
		return w.sent
	}
}

var errEnough = errors.New("enough")

func TestTheHeadIsSentBeforeAnythingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire()
		end := open(t, w, newFeed("queued"), sse.Options{First: []byte("first")})
		if diff := cmp.Diff([]sent{{0, "head"}, {0, "firstqueued"}}, end(errEnough)); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
		want := http.Header{"Content-Type": {"text/event-stream"}, "Cache-Control": {"no-cache"}, "Connection": {"keep-alive"}}
		if diff := cmp.Diff(want, w.header); diff != "" {
			t.Errorf("header (-want +got):\n%s", diff)
		}
	})
}

func TestASilentStreamSendsItsHeadAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire()
		end := open(t, w, newFeed(), sse.Options{})
		if diff := cmp.Diff([]sent{{0, "head"}}, end(errEnough)); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	})
}

func TestEventsThatWaitAreSentTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWire(), newFeed()
		end := open(t, w, f, sse.Options{})
		time.Sleep(time.Second)
		f.add("a", "b", "c")
		synctest.Wait()
		f.add("d")
		if diff := cmp.Diff([]sent{{0, "head"}, {time.Second, "abc"}, {time.Second, "d"}}, end(errEnough)); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	})
}

func TestKeepalivesComeAtMultiplesWhateverElseIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWire(), newFeed()
		end := open(t, w, f, sse.Options{Keepalive: []byte("ping"), Interval: 30 * time.Second})
		for range 9 { // an event at 7 s, 14 s … 63 s
			time.Sleep(7 * time.Second)
			f.add("x")
		}
		time.Sleep(28 * time.Second) // 91 s
		var pings []time.Duration
		for _, s := range end(errEnough) {
			if strings.Contains(s.Bytes, "ping") {
				pings = append(pings, s.After)
			}
		}
		if diff := cmp.Diff([]time.Duration{30 * time.Second, 60 * time.Second, 90 * time.Second}, pings); diff != "" {
			t.Errorf("pings (-want +got):\n%s", diff)
		}
	})
}

// A spring is a source that always has another event, after a tenth of a second.
type spring struct{ *feed }

func (s spring) Next() ([]byte, bool) {
	time.Sleep(100 * time.Millisecond)
	return []byte("x"), true
}

func TestKeepalivesAreSentBetweenEventsThatNeverEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire()
		ctx, cancel := context.WithTimeoutCause(t.Context(), 65*time.Second, errEnough)
		defer cancel()
		err := sse.Serve(ctx, w, spring{newFeed()}, sse.Options{Keepalive: []byte("ping"), Interval: 10 * time.Second})
		if !errors.Is(err, errEnough) {
			t.Errorf("Serve: %v", err)
		}
		pings := 0
		for _, s := range w.sent {
			pings += strings.Count(s.Bytes, "ping")
		}
		if pings < 5 {
			t.Errorf("%d pings in 65 s, want about 6", pings)
		}
	})
}

func TestTheStreamEndsAfterTheLastEventOfItsSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWire(), newFeed("a", "b")
		f.end()
		if err := sse.Serve(t.Context(), w, f, sse.Options{}); err != nil {
			t.Errorf("Serve: %v", err)
		}
		if diff := cmp.Diff([]sent{{0, "head"}, {0, "ab"}}, w.sent); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	})
}

// serve runs sse.Serve on a server without a port, and reports how it ended.
func serve(t *testing.T, f *feed, opts sse.Options, writeTimeout time.Duration, cancel *context.CancelCauseFunc) (dial func() net.Conn, ended chan error) {
	t.Helper()
	ln := memnet.Listen()
	ended = make(chan error, 1)
	srv := &http.Server{
		ConnContext: conn.Context,
		ConnState:   conn.State,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, stop := context.WithCancelCause(r.Context())
			defer stop(nil)
			if cancel != nil {
				*cancel = stop
			}
			ended <- sse.Serve(ctx, w, f, opts)
		}),
	}
	memnet.Serve(t, srv, conn.Listen(ln, writeTimeout))
	return func() net.Conn {
		c := ln.Connect(t)
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		return c
	}, ended
}

func TestAReaderThatTakesNothingIsDroppedAfterTheWriteTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, ended := serve(t, newFeed(), sse.Options{}, 40*time.Second, nil)
		client := dial() // never reads; a pipe has no buffer, so the head itself blocks
		defer client.Close()
		start := time.Now()
		if err := <-ended; !errors.Is(err, conn.ErrStalled) {
			t.Errorf("Serve: %v, want ErrStalled", err)
		}
		if waited := time.Since(start); waited < 40*time.Second || waited > 45*time.Second {
			t.Errorf("dropped after %s, want 40s and at most an eighth more", waited)
		}
	})
}

func TestASlowReaderThatKeepsReadingIsNotDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed(strings.Repeat("x", 4<<20))
		f.end()
		dial, ended := serve(t, f, sse.Options{}, 10*time.Second, nil)
		client := dial()
		read := make(chan struct{})
		go func() {
			defer close(read)
			p := make([]byte, 80<<10)
			for {
				time.Sleep(8 * time.Second)
				if n, _ := io.ReadFull(client, p); n < len(p) {
					return
				}
			}
		}()
		start := time.Now()
		err := <-ended
		took := time.Since(start)
		client.Close()
		<-read
		if err != nil {
			t.Errorf("Serve: %v after %s", err, took)
		}
		if took < 5*time.Minute {
			t.Errorf("sent in %s; this test needs a reader that takes longer than any deadline", took)
		}
	})
}

func TestABlockedWriteEndsWithItsReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cancel context.CancelCauseFunc
		dial, ended := serve(t, newFeed(), sse.Options{}, time.Minute, &cancel)
		client := dial() // never reads
		defer client.Close()
		synctest.Wait() // until it blocks in the head
		start := time.Now()
		cancel(errEnough)
		if err := <-ended; !errors.Is(err, errEnough) || time.Since(start) != 0 {
			t.Errorf("Serve: %v after %s, want %v at once", err, time.Since(start), errEnough)
		}
	})
}

func TestTheAnswerIsCompletedWhenNothingWasInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cancel context.CancelCauseFunc
		f := newFeed("event")
		dial, ended := serve(t, f, sse.Options{}, time.Minute, &cancel)
		client := dial()
		defer client.Close()
		read := make(chan string, 1)
		go func() {
			all, _ := io.ReadAll(client)
			read <- string(all)
		}()
		synctest.Wait()
		cancel(errEnough)
		if err := <-ended; !errors.Is(err, errEnough) {
			t.Errorf("Serve: %v, want %v", err, errEnough)
		}
		if got, want := <-read, "\r\n\r\n5\r\nevent\r\n0\r\n\r\n"; !strings.HasSuffix(got, want) {
			t.Errorf("read %q, want the last chunk and the end behind %q", got, want)
		}
	})
}

func TestAStreamEndsWhenItsReaderDisconnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, ended := serve(t, newFeed(), sse.Options{Keepalive: []byte("x"), Interval: time.Hour}, time.Minute, nil)
		client := dial()
		go io.Copy(io.Discard, client)
		time.Sleep(time.Minute)
		start := time.Now()
		client.Close()
		if err := <-ended; !errors.Is(err, context.Canceled) || time.Since(start) != 0 {
			t.Errorf("Serve: %v after %s, want the request's end at once", err, time.Since(start))
		}
	})
}
