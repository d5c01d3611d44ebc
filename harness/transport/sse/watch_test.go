package sse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
)

func TestAwaitFindsEarlierAndLaterEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, server := open(t, nil)
		fmt.Fprint(server, "data: a\n\ndata: b\n\n")
		checkAwait(t, w, 0, "b", 1, nil)
		checkAwait(t, w, 0, "a", 0, nil)
		go func() {
			time.Sleep(time.Second)
			fmt.Fprint(server, "data: b\n\ndata: c\n\n")
		}()
		checkAwait(t, w, 2, "b", 2, nil)
		checkAwait(t, w, 2, "c", 3, nil)
		checkAwait(t, w, -1, "a", 0, nil)
		server.Close()
		checkAwait(t, w, 4, "c", 0, watch.ErrEnded)
		checkAwait(t, w, 99, "c", 0, watch.ErrEnded)
		checkAwait(t, w, 3, "c", 3, nil)
	})
}

func TestAwaitReportsWhyItsContextEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, server := open(t, nil)
		late := errors.New("not within 2s")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Second, late)
		defer cancel()
		fmt.Fprint(server, "data: a\n\n")
		began := time.Now()
		if _, err := w.Await(ctx, 1, dataIs("a")); err != late {
			t.Errorf("Await: %v, want %v", err, late)
		}
		if waited := time.Since(began); waited != 2*time.Second {
			t.Errorf("gave up after %s, want 2s", waited)
		}
		if err := w.AwaitEnd(ctx); err != late {
			t.Errorf("AwaitEnd: %v, want %v", err, late)
		}
		if i, err := w.Await(ctx, 0, dataIs("a")); i != 0 || err != nil {
			t.Errorf("Await(what is there) = %d, %v, want it in spite of the context", i, err)
		}
	})
}

func TestAStreamEndsInOneOfThreeWays(t *testing.T) {
	for _, tc := range []struct {
		name  string
		drive func(*watch.Watch, *io.PipeWriter)
		want  transcript.Stream
	}{
		{"by the server", func(_ *watch.Watch, server *io.PipeWriter) {
			fmt.Fprint(server, "data: x\n\n")
			server.Close()
		}, transcript.Stream{Ended: transcript.EndedByServer}},
		{"by us", func(w *watch.Watch, server *io.PipeWriter) {
			fmt.Fprint(server, "data: x\n\ndata: half")
			w.Close()
		}, transcript.Stream{Ended: transcript.EndedByClient}},
		{"by the server, and closed by us afterwards", func(w *watch.Watch, server *io.PipeWriter) {
			fmt.Fprint(server, "data: x\n\n")
			server.Close()
			synctest.Wait()
			w.Close()
		}, transcript.Stream{Ended: transcript.EndedByServer}},
		{"inside an event", func(_ *watch.Watch, server *io.PipeWriter) {
			fmt.Fprint(server, "data: x\n\ndata: half\n")
			server.Close()
		}, broke(transcript.FailClosed, `the stream ended inside an event: "data: half\n"`)},
		{"with a cut chunk", func(_ *watch.Watch, server *io.PipeWriter) {
			fmt.Fprint(server, "data: x\n\n")
			server.CloseWithError(io.ErrUnexpectedEOF)
		}, broke(transcript.FailClosed, "unexpected EOF")},
		{"with an error that knows its kind, inside an event", func(_ *watch.Watch, server *io.PipeWriter) {
			fmt.Fprint(server, "data: x\n\nid: 1")
			server.CloseWithError(fmt.Errorf("read: %w", resetError{}))
		}, broke(transcript.FailReset, `it was reset inside an event: "id: 1"`)},
		{"with an event that is too long", func(_ *watch.Watch, server *io.PipeWriter) {
			fmt.Fprint(server, "data: x\n\ndata: "+strings.Repeat("y", 1000))
		}, broke(transcript.FailLimit, `event is too long inside an event: "data: `+strings.Repeat("y", 94)+`"`)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, server := open(t, &watch.Options{MaxEvent: 100})
				tc.drive(w, server)
				if err := w.AwaitEnd(t.Context()); err != nil {
					t.Fatal(err)
				}
				checkAwait(t, w, 1, "x", 0, watch.ErrEnded)
				tc.want.Events = events{{Name: "message", Data: "x", Framing: "data: •\n\n"}}
				if diff := cmp.Diff(tc.want, record(w)); diff != "" {
					t.Errorf("stream (-want +got):\n%s", diff)
				}
				if _, err := server.Write([]byte("x")); err == nil {
					t.Error("the body was not closed")
				}
			})
		})
	}
}

func TestAWatchEndsBeyondItsBounds(t *testing.T) {
	for _, tc := range []struct {
		opts watch.Options
		want string
		kept int
	}{
		{watch.Options{MaxEvents: 3}, "more than 3 events came", 3},
		{watch.Options{MaxBytes: 60}, "more than 60 bytes of events came", 6},
		{watch.Options{MaxBytes: 1 << 20, MaxEvents: 100}, "more than 100 events came", 100},
	} {
		synctest.Test(t, func(t *testing.T) {
			w, server := open(t, &tc.opts)
			for { // it would never end without the limit
				if _, err := fmt.Fprint(server, "data: x\n\n: y\n\n"); err != nil {
					break
				}
			}
			got := record(w)
			want := &transcript.Failure{Kind: transcript.FailLimit, Phase: transcript.PhaseBody, Text: tc.want}
			if diff := cmp.Diff(want, got.Failure); diff != "" || got.Ended != transcript.EndedBroken || len(got.Events) != tc.kept {
				t.Errorf("%d events, ended %q, failure (-want +got):\n%s", len(got.Events), got.Ended, diff)
			}
		})
	}
}

func TestEventsThatAreNotKeptAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, server := open(t, &watch.Options{
			Name:      func(ev *transcript.Event) string { return "the " + ev.Type },
			Keep:      func(ev *transcript.Event) bool { return ev.Name != "the other" },
			MaxEvents: 4,
		})
		for range 1000 {
			fmt.Fprint(server, "event: other\ndata: x\n\n")
		}
		fmt.Fprint(server, "event: one\ndata: 1\n\nevent: other\ndata: x\n\n: c\n\nid: 1\n\nevent: two\ndata: 2\n\nevent: other\ndata: x\n\n")
		server.Close()
		_ = w.AwaitEnd(t.Context())
		want := transcript.Stream{Ended: transcript.EndedByServer, Left: 1002, Events: events{
			{Name: "the one", Type: "one", Data: "1", Framing: "event: •\ndata: •\n\n"},
			{Comment: true, Data: "c", Framing: ": •\n\n"},
			{Undispatched: true, ID: "1", Framing: "id: •\n\n"},
			{Name: "the two", Type: "two", Data: "2", Framing: "event: •\ndata: •\n\n"},
		}}
		if diff := cmp.Diff(want, record(w)); diff != "" {
			t.Errorf("stream (-want +got):\n%s", diff)
		}
	})
}

// A keep-alive is seen when it arrives, whether or not a blank line follows.
func TestACommentNeedsNoBlankLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, server := open(t, &watch.Options{Start: time.Now()})
		for _, line := range []string{": 1\n", ": 2\n\n", ": 3\n", "\n", ": 4\n", "data: x\n\n", ": 5\n"} {
			time.Sleep(time.Second)
			fmt.Fprint(server, line)
		}
		time.Sleep(time.Second)
		_ = w.Close()
		var got []string
		var s transcript.Stream
		w.Record(&s)
		for _, ev := range s.Events {
			got = append(got, fmt.Sprintf("%s %s %q", ev.At, ev.Data, ev.Framing))
		}
		want := []string{`1s 1 ": •\n"`, `2s 2 ": •\n\n"`, `3s 3 ": •\n\n"`, `5s 4 ": •\n"`, `6s x "data: •\n\n"`, `7s 5 ": •\n"`}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestAnEventIsTimedByItsLastByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const second = time.Second
		w, server := open(t, &watch.Options{
			Start: time.Now().Add(-10 * second),
			Keep:  func(*transcript.Event) bool { time.Sleep(second); return true }, // this time does not count
		})
		fmt.Fprint(server, "data: a")
		time.Sleep(second)
		fmt.Fprint(server, "\n\ndata: b\n\ndata:")
		time.Sleep(5 * second)
		fmt.Fprint(server, "c\n\n")
		time.Sleep(2 * second)
		server.Close()
		_ = w.AwaitEnd(t.Context())
		var s transcript.Stream
		w.Record(&s)
		got := []time.Duration{s.Events[0].At, s.Events[1].At, s.Events[2].At, s.Until}
		if diff := cmp.Diff([]time.Duration{11 * second, 11 * second, 16 * second, 18 * second}, got); diff != "" {
			t.Errorf("offsets (-want +got):\n%s", diff)
		}
	})
}

func TestCountReportsWhenItIsOutOfDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, server := open(t, nil)
		n, changed := w.Count(dataIs("a"))
		check := func(want int) {
			t.Helper()
			select {
			case <-changed:
			case <-time.After(time.Second):
				t.Fatal("the channel was not closed")
			}
			if n, changed = w.Count(dataIs("a")); n != want {
				t.Fatalf("Count() = %d, want %d", n, want)
			}
		}
		fmt.Fprint(server, "data: a\n\n")
		check(1)
		fmt.Fprint(server, "data: b\n\n")
		check(1)
		select {
		case <-changed:
			t.Fatal("the channel is closed, and nothing has come")
		case <-time.After(time.Second):
		}
		fmt.Fprint(server, "data: a\n\n")
		check(2)
		server.Close()
		check(2)
		check(2) // it stays closed
	})
}

func TestRecordIsASnapshotOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, server := open(t, nil)
		fmt.Fprint(server, "data: secret\n\n")
		checkAwait(t, w, 0, "secret", 0, nil)
		running := record(w)
		if running.Ended != "" || running.Until != 0 || len(running.Events) != 1 {
			t.Errorf("while it runs: %+v", running)
		}
		running.Events[0].Data = "redacted"
		server.Close()
		checkAwait(t, w, 0, "secret", 0, nil)
	})
}

func TestCloseUnblocksEveryoneAndCanBeRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := open(t, nil)
		var waiting sync.WaitGroup
		waiting.Go(func() { checkAwait(t, w, 0, "x", 0, watch.ErrEnded) })
		waiting.Go(func() {
			if err := w.AwaitEnd(t.Context()); err != nil {
				t.Errorf("AwaitEnd: %v", err)
			}
		})
		synctest.Wait()
		for range 3 {
			if err := w.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
		waiting.Wait()
	})
}

func TestAWatchMayBeUsedInsideItsOwnFunctions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, server := open(t, nil)
		fmt.Fprint(server, "data: a\n\n")
		if _, err := w.Await(t.Context(), 0, func(*transcript.Event) bool {
			n, _ := w.Count(func(*transcript.Event) bool { return len(record(w).Events) == 1 })
			return n == 1
		}); err != nil {
			t.Error(err)
		}
	})
}

func TestManyMayWaitAtOnce(t *testing.T) {
	body, server := io.Pipe()
	w := Open(body, nil)
	defer w.Close()
	const n = 200
	var waiting sync.WaitGroup
	for reader := range 8 {
		waiting.Go(func() {
			for i := range n {
				want := fmt.Sprint((i + reader) % n)
				if _, err := w.Await(t.Context(), 0, dataIs(want)); err != nil {
					t.Errorf("Await(%s): %v", want, err)
				}
				_ = record(w)
				_, _ = w.Count(dataIs(want))
			}
		})
	}
	for i := range n {
		fmt.Fprintf(server, "data: %d\n\n", i)
	}
	waiting.Wait()
}

// open watches a stream whose server is the pipe's other end.
func open(t *testing.T, opts *watch.Options) (*watch.Watch, *io.PipeWriter) {
	body, server := io.Pipe()
	w := Open(body, opts)
	t.Cleanup(func() { w.Close() })
	return w, server
}

func checkAwait(t *testing.T, w *watch.Watch, from int, data string, want int, wantErr error) {
	t.Helper()
	if got, err := w.Await(t.Context(), from, dataIs(data)); got != want || err != wantErr {
		t.Errorf("Await(%d, %q) = %d, %v, want %d, %v", from, data, got, err, want, wantErr)
	}
}

func dataIs(s string) func(*transcript.Event) bool {
	return func(ev *transcript.Event) bool { return ev.Data == s }
}

// record returns what the watch has seen, without its times.
func record(w *watch.Watch) transcript.Stream {
	var s transcript.Stream
	w.Record(&s)
	s.Until = 0
	for i := range s.Events {
		s.Events[i].At = 0
	}
	return s
}

func broke(kind transcript.FailureKind, text string) transcript.Stream {
	return transcript.Stream{Ended: transcript.EndedBroken, Failure: &transcript.Failure{
		Kind: kind, Phase: transcript.PhaseBody, Text: text,
	}}
}

type resetError struct{}

func (resetError) Error() string { return "reset" }
func (resetError) Failure() transcript.Failure {
	return transcript.Failure{Kind: transcript.FailReset, Phase: transcript.PhaseBody, Text: "it was reset"}
}
