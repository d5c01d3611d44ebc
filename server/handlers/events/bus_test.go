package events_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/handlers/events"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

// registered returns an event that carries a word.
func registered(word string) api.ClientToolRegisteredEvent {
	return api.ClientToolRegisteredEvent{
		Type:       api.ClientToolRegisteredEventTypeClientToolRegistered,
		Properties: api.ClientToolSet{ClientID: word},
	}
}

func frame(word string) string {
	return `data: {"type":"client-tool.registered","properties":{"clientID":"` + word + `","toolIDs":[]}}` + "\n\n"
}

func globalFrame(directory, word string) string {
	return `data: {"directory":"` + directory + `","payload":{"type":"client-tool.registered","properties":{"clientID":"` +
		word + `","toolIDs":[]}}}` + "\n\n"
}

func disposed(directory string) string {
	return `data: {"type":"server.instance.disposed","properties":{"directory":"` + directory + `"}}` + "\n\n"
}

func subscribe(t *testing.T, b *events.Bus, to events.Audience) *events.Subscription {
	t.Helper()
	return b.Subscribe(to, func(err error) { t.Errorf("dropped: %v", err) })
}

// drain takes everything from a queue. It adds "(end)" if nothing can follow.
func drain(s *events.Subscription) (frames []string) {
	for {
		frame, more := s.Next()
		switch {
		case frame != nil:
			frames = append(frames, string(frame))
		case !more:
			return append(frames, "(end)")
		default:
			return frames
		}
	}
}

func TestEventsReachTheirAudience(t *testing.T) {
	b := events.NewBus(nil)
	here, there := subscribe(t, b, events.InDirectory("/here")), subscribe(t, b, events.InDirectory("/there"))
	second := subscribe(t, b, events.InDirectory("/here"))
	global := subscribe(t, b, events.Everywhere())
	client := subscribe(t, b, events.OfClient("/here", "c"))
	otherClient, otherDirectory := subscribe(t, b, events.OfClient("/here", "d")), subscribe(t, b, events.OfClient("/there", "c"))

	b.Publish("/here", registered("1"))
	b.Publish("/there", registered("2"))
	b.Send(events.OfClient("/here", "c"), func() []byte { return []byte("for c") })
	b.Publish("/here", registered("3"))

	for _, tc := range []struct {
		name string
		s    *events.Subscription
		want []string
	}{
		{"/here", here, []string{frame("1"), frame("3")}},
		{"/here again", second, []string{frame("1"), frame("3")}},
		{"/there", there, []string{frame("2")}},
		{"everywhere", global, []string{globalFrame("/here", "1"), globalFrame("/there", "2"), globalFrame("/here", "3")}},
		{"client c", client, []string{"for c"}},
		{"client d", otherClient, nil},
		{"client c of /there", otherDirectory, nil},
	} {
		if diff := cmp.Diff(tc.want, drain(tc.s)); diff != "" {
			t.Errorf("%s got (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestAnEventIsEncodedOnceForAllStreams(t *testing.T) {
	b := events.NewBus(nil)
	one, two := subscribe(t, b, events.InDirectory("/d")), subscribe(t, b, events.InDirectory("/d"))
	b.Publish("/d", registered("x"))
	first, _ := one.Next()
	second, _ := two.Next()
	if &first[0] != &second[0] {
		t.Error("two streams got two copies of one event")
	}
}

func TestNothingIsEncodedWithoutAStream(t *testing.T) {
	b := events.NewBus(nil)
	s := subscribe(t, b, events.OfClient("/d", "c"))
	s.Close()
	b.Send(events.OfClient("/d", "c"), func() []byte {
		t.Error("a frame was made for a stream that is closed")
		return nil
	})
	b.Publish("/d", func() {}) // panics if it is encoded
	if got := drain(s); got != nil {
		t.Errorf("the closed stream got %q", got)
	}
}

func TestAStreamGetsNothingFromBeforeItsOpening(t *testing.T) {
	b := events.NewBus(nil)
	b.Publish("/d", registered("before"))
	s := subscribe(t, b, events.InDirectory("/d"))
	b.Publish("/d", registered("after"))
	if diff := cmp.Diff([]string{frame("after")}, drain(s)); diff != "" {
		t.Errorf("got (-want +got):\n%s", diff)
	}
}

func TestAnyStreamCanBeClosedFirst(t *testing.T) {
	for first := range 3 {
		b := events.NewBus(nil)
		var streams []*events.Subscription
		for range 3 {
			streams = append(streams, subscribe(t, b, events.InDirectory("/d")))
		}
		for i := range streams {
			streams[(first+i)%3].Close()
			b.Publish("/d", registered("x"))
			for j := i + 1; j < 3; j++ {
				if got := drain(streams[(first+j)%3]); len(got) != 1 {
					t.Errorf("with stream %d closed first, an open stream got %d events instead of 1", first, len(got))
				}
			}
		}
	}
}

func TestAQueueThatOverflowsDropsItsStreamAndNoOther(t *testing.T) {
	size := len(frame("x"))
	for _, tc := range []struct {
		name   string
		limits events.Options
		fits   int
	}{
		{"by count", events.Options{MaxEvents: 3}, 3},
		{"by bytes", events.Options{MaxBytes: 2 * size}, 2},
		{"just not by bytes", events.Options{MaxBytes: 3*size - 1}, 2},
		{"by whatever is first", events.Options{MaxEvents: 2, MaxBytes: 3 * size}, 2},
		{"a single event that is too large finds the queue empty", events.Options{MaxBytes: size - 1}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := events.NewBus(&tc.limits)
			var reasons []error
			slow := b.Subscribe(events.InDirectory("/d"), func(err error) { reasons = append(reasons, err) })
			other := subscribe(t, b, events.InDirectory("/elsewhere"))
			for range tc.fits {
				b.Publish("/d", registered("x"))
			}
			if len(reasons) > 0 {
				t.Fatalf("dropped after %d events: %v", tc.fits, reasons)
			}
			for range 3 {
				b.Publish("/d", registered("x"))
			}
			if len(reasons) != 1 || !errors.Is(reasons[0], events.ErrSlowReader) {
				t.Errorf("told %v, want ErrSlowReader once", reasons)
			}
			if diff := cmp.Diff([]string{"(end)"}, drain(slow)); diff != "" {
				t.Errorf("the dropped stream still has (-want +got):\n%s", diff)
			}
			b.Publish("/elsewhere", registered("x"))
			if got := drain(other); len(got) != 1 {
				t.Errorf("the other stream got %d events, want 1", len(got))
			}
		})
	}
}

func TestEventsThatWereTakenMakeRoom(t *testing.T) {
	b := events.NewBus(&events.Options{MaxEvents: 4, MaxBytes: 4 * len(frame("0"))})
	s := subscribe(t, b, events.InDirectory("/d"))
	var got, want []string
	published := 0
	publish := func(n int) {
		for range n {
			word := fmt.Sprint(published % 10)
			b.Publish("/d", registered(word))
			want = append(want, frame(word))
			published++
		}
	}
	publish(4)
	for range 100 {
		next, _ := s.Next()
		got = append(got, string(next))
		publish(1)
	}
	got = append(got, drain(s)...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("got (-want +got):\n%s", diff)
	}
}

func TestAllStreamsSeeOneOrder(t *testing.T) {
	const publishers, each = 8, 50
	b := events.NewBus(nil)
	streams := make([]*events.Subscription, 5)
	for i := range streams {
		streams[i] = subscribe(t, b, events.InDirectory("/d"))
	}
	var wg sync.WaitGroup
	for p := range publishers {
		wg.Go(func() {
			for i := range each {
				b.Publish("/d", registered(fmt.Sprintf("%d-%d", p, i)))
			}
		})
	}
	wg.Wait()
	want := drain(streams[0])
	if len(want) != publishers*each {
		t.Errorf("%d events, want %d", len(want), publishers*each)
	}
	for _, s := range streams[1:] {
		if diff := cmp.Diff(want, drain(s)); diff != "" {
			t.Errorf("another order (-first stream +other):\n%s", diff)
		}
	}
}

// TestStreamsOpenAndCloseWhileEventsArePublished is for the race detector. It only checks that the bus survives.
func TestStreamsOpenAndCloseWhileEventsArePublished(t *testing.T) {
	b := events.NewBus(&events.Options{MaxEvents: 3})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				s := b.Subscribe(events.InDirectory("/d"), func(error) {})
				b.Publish("/d", registered(fmt.Sprint(i)))
				s.Next()
				s.Close()
			}
		})
	}
	wg.Wait()
	if err := b.Shutdown(t.Context()); err != nil {
		t.Errorf("Shutdown with nothing open: %v", err)
	}
}

func TestShutdownEndsStreamsKindByKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := events.NewBus(nil)
		first := subscribe(t, b, events.InDirectory("/first")) // opened first, closed, and opened again below
		second := subscribe(t, b, events.InDirectory("/second"))
		first.Close()
		global := subscribe(t, b, events.Everywhere())
		client := subscribe(t, b, events.OfClient("/third", "c"))
		again := subscribe(t, b, events.InDirectory("/first"))
		b.Publish("/first", registered("last words"))

		done := make(chan error, 1)
		go func() { done <- b.Shutdown(t.Context()) }()
		synctest.Wait()
		b.Publish("/first", registered("too late"))
		b.Publish("/second", registered("too late"))

		check := func(name string, s *events.Subscription, want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, drain(s)); diff != "" {
				t.Errorf("%s got (-want +got):\n%s", name, diff)
			}
		}
		wrapped := func(directory string) string {
			return `data: {"directory":"` + directory + `","payload":{"type":"server.instance.disposed","properties":{"directory":"` + directory + `"}}}` + "\n\n"
		}
		check("/first", again, frame("last words"), disposed("/first"), "(end)")
		check("/second", second, disposed("/second"), "(end)")
		check("everywhere, while directories end", global,
			globalFrame("/first", "last words"), wrapped("/second"), wrapped("/first"),
			globalFrame("/first", "too late"), globalFrame("/second", "too late"))
		check("client, while directories end", client)

		again.Close()
		synctest.Wait()
		check("everywhere, with a directory open", global)
		second.Close()
		synctest.Wait()
		check("everywhere, at its turn", global, "(end)")
		check("client, while the global stream is open", client)
		global.Close()
		synctest.Wait()
		check("client, at its turn", client, "(end)")
		if len(done) > 0 {
			t.Error("Shutdown returned with a stream open")
		}
		client.Close()
		if err := <-done; err != nil {
			t.Errorf("Shutdown: %v", err)
		}

		late := subscribe(t, b, events.InDirectory("/late"))
		check("a stream opened after the end", late, "(end)")
		late.Close()
		if err := b.Shutdown(t.Context()); err != nil {
			t.Errorf("Shutdown again: %v", err)
		}
	})
}

func TestShutdownDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := events.NewBus(nil)
		stuck, client := subscribe(t, b, events.InDirectory("/d")), subscribe(t, b, events.OfClient("/d", "c"))
		enough := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 4*time.Second, enough)
		defer cancel()
		start := time.Now()
		if err := b.Shutdown(ctx); !errors.Is(err, enough) || time.Since(start) != 4*time.Second {
			t.Errorf("Shutdown: %v after %s, want %v after 4s", err, time.Since(start), enough)
		}
		for _, s := range []*events.Subscription{stuck, client} {
			if got := drain(s); len(got) == 0 || got[len(got)-1] != "(end)" {
				t.Errorf("a stream was not told to end: %q", got)
			}
			s.Close()
		}
	})
}

func BenchmarkPublish(b *testing.B) {
	for _, streams := range []int{1, 500} {
		b.Run(fmt.Sprintf("streams=%d", streams), func(b *testing.B) {
			bus := events.NewBus(nil)
			queues := make([]*events.Subscription, streams)
			for i := range queues {
				queues[i] = bus.Subscribe(events.InDirectory("/d"), func(err error) { b.Error(err) })
			}
			for b.Loop() {
				bus.Publish("/d", registered("x"))
				for _, q := range queues {
					q.Next()
				}
			}
			b.ReportMetric(float64(b.N*streams)/b.Elapsed().Seconds(), "deliveries/s")
		})
	}
}
