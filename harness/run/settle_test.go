package run

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

const listening = `
steps:
  - open: feed
    sse: GET /events
    ready: {event: hello}
  - http: GET /x
  - close: feed
`

func TestAStreamThatLagsCatchesUp(t *testing.T) {
	prompt := tell(line{0, "hello"}, line{0, "a"}, line{0, "b"})
	late := tell(line{0, "hello"}, line{300 * time.Millisecond, "a"}, line{400 * time.Millisecond, "b"})
	for _, turned := range []bool{false, true} {
		ref, cand := prompt, late
		if turned {
			ref, cand = late, prompt
		}
		walk(t, story(t, listening), options(), ref, cand, func(t *testing.T, ref, cand *transcript.Transcript, took time.Duration) {
			want := []string{"hello", "a", "b"}
			same(t, "the reference's events", names(ref, "feed"), want)
			same(t, "the candidate's events", names(cand, "feed"), want)
			if took != 700*time.Millisecond {
				t.Errorf("it took %s, want as long as the late one needs and no longer", took)
			}
		})
	}
}

// Many servers send a comment first. A client that disconnects at once may or may not have seen it.
func TestACommentThatIsLateCatchesUp(t *testing.T) {
	briefly := `
steps:
  - open: feed
    sse: GET /events
  - http: GET /x
  - close: feed
`
	prompt, late := tell(line{0, ": hello"}), tell(line{300 * time.Millisecond, ": hello"})
	walk(t, story(t, briefly), options(), prompt, late, func(t *testing.T, ref, cand *transcript.Transcript, took time.Duration) {
		if r, c := len(ref.Streams[0].Events), len(cand.Streams[0].Events); r != 1 || c != 1 || !cand.Streams[0].Events[0].Comment {
			t.Errorf("%d events and %d, want the comment on both sides", r, c)
		}
		if took != 300*time.Millisecond {
			t.Errorf("it took %s, want as long as the late one needs", took)
		}
	})
}

func TestAGreenRunDoesNotWait(t *testing.T) {
	server := tell(line{0, "hello"}, line{0, "a"})
	walk(t, story(t, listening), options(), server, server, func(t *testing.T, ref, cand *transcript.Transcript, took time.Duration) {
		same(t, "events", len(names(ref, "feed")), len(names(cand, "feed")))
		if took != moment {
			t.Errorf("it took %s, want no time at all", took)
		}
		if s := ref.Streams[0]; s.Ended != transcript.EndedByClient {
			t.Errorf("the stream was ended by the %s", s.Ended)
		}
	})
}

func TestAStreamThatLagsIsAwaitedOnce(t *testing.T) {
	twice := `
steps:
  - open: feed
    sse: GET /events
    ready: {event: hello}
  - open: other
    sse: GET /events
    ready: {event: hello}
  - http: GET /x
  - close: feed
`
	whole := tell(line{0, "hello"}, line{0, "a"}, line{0, "b"})
	less := tell(line{0, "hello"}, line{0, "a"})
	walk(t, story(t, twice), options(), whole, less, func(t *testing.T, ref, cand *transcript.Transcript, took time.Duration) {
		same(t, "the reference's events", names(ref, "other"), []string{"hello", "a", "b"})
		same(t, "the candidate's events", names(cand, "other"), []string{"hello", "a"})
		if took != 2*time.Second+moment { // one for each stream
			t.Errorf("it took %s, want Settle once for each stream", took)
		}
	})
}

func TestEventsAfterTheAgreedEndDoNotCount(t *testing.T) {
	// While the slower server catches up, the faster one sends more. Both keep sending until Settle is over.
	early := tell(line{0, "hello"}, line{0, "a"}, line{1500 * time.Millisecond, "b"})
	late := tell(line{0, "hello"}, line{500 * time.Millisecond, "a"}, line{1500 * time.Millisecond, "b"})
	walk(t, story(t, listening), options(), early, late, func(t *testing.T, ref, cand *transcript.Transcript, took time.Duration) {
		want := []string{"hello", "a"}
		same(t, "the reference's events", names(ref, "feed"), want)
		same(t, "the candidate's events", names(cand, "feed"), want)
		if took != 500*time.Millisecond {
			t.Errorf("it took %s", took)
		}
	})
}

func TestHeartbeatsAreNotWaitedFor(t *testing.T) {
	pinging := tell(line{0, "hello"}, line{0, "ping"}, line{0, "ping"}, line{0, "ping"})
	silent := tell(line{0, "hello"})
	walk(t, story(t, listening), options(), pinging, silent, func(t *testing.T, _, _ *transcript.Transcript, took time.Duration) {
		if took != moment {
			t.Errorf("it took %s, want no time at all", took)
		}
	})
}

func TestAStreamThatHasEndedIsNotWaitedFor(t *testing.T) {
	whole := tell(line{0, "hello"}, line{0, "a"})
	cut := `
steps:
  - open: feed
    sse: GET /events
    ready: {event: hello}
  - await: feed
    match: {event: a}
  - close: feed
`
	walk(t, story(t, cut), options(), whole, ended("hello"), func(t *testing.T, ref, cand *transcript.Transcript, took time.Duration) {
		same(t, "the candidate's steps", outcomes(cand), []string{
			"1 done", `2 unmet: event "a": the stream ended before it came; no other event came since`, "3 done",
		})
		same(t, "the reference's steps", outcomes(ref), []string{"1 done", "2 done", "3 done"})
		if took != 0 || cand.Streams[0].Ended != transcript.EndedByServer {
			t.Errorf("it took %s, and was ended by the %s", took, cand.Streams[0].Ended)
		}
	})
}

// endingAfter is a server whose streams have one event and end after a time. It answers everything else as tell does.
func endingAfter(d time.Duration) http.HandlerFunc {
	begun := tell()
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/events" {
			begun(w, r)
			return
		}
		ended("hello")(w, r)
		w.(http.Flusher).Flush()
		time.Sleep(d)
	}
}

// Two servers that end a stream by themselves do not end it at the same moment. A client that disconnects at once may
// have seen the end of only one of them.
func TestAStreamThatEndsLaterIsWaitedFor(t *testing.T) {
	for _, turned := range []bool{false, true} {
		ref, cand := endingAfter(0), endingAfter(300*time.Millisecond)
		if turned {
			ref, cand = cand, ref
		}
		walk(t, story(t, listening), options(), ref, cand, func(t *testing.T, ref, cand *transcript.Transcript, took time.Duration) {
			for _, side := range []*transcript.Transcript{ref, cand} {
				if got := side.Streams[0].Ended; got != transcript.EndedByServer {
					t.Errorf("%s's stream was ended by the %s", side.Target, got)
				}
			}
			if took != 300*time.Millisecond {
				t.Errorf("it took %s, want as long as the late one needs", took)
			}
		})
	}
}

func TestAStreamThatDoesNotEndIsWaitedForOnce(t *testing.T) {
	walk(t, story(t, listening), options(), endingAfter(0), tell(line{0, "hello"}), func(t *testing.T, ref, cand *transcript.Transcript, took time.Duration) {
		if r, c := ref.Streams[0].Ended, cand.Streams[0].Ended; r != transcript.EndedByServer || c != transcript.EndedByClient {
			t.Errorf("the streams were ended by the %s and the %s, want the server and the client", r, c)
		}
		if took != time.Second+moment {
			t.Errorf("it took %s, want Settle", took)
		}
	})
}

func TestWindowsOverlapWithWhatFollows(t *testing.T) {
	windows := `
steps:
  - open: feed
    sse: GET /events
    ready: {event: hello}
  - open: other
    sse: GET /events
    ready: {event: hello}
  - never: feed
    match: {event: b}
    within: 500ms
  - never: other
    within: 800ms
  - await: feed
    match: {event: a}
  - close: feed
  - http: GET /x
`
	server := tell(line{0, "hello"}, line{100 * time.Millisecond, "a"}, line{500 * time.Millisecond, "b"})
	walk(t, story(t, windows), options(), server, server, func(t *testing.T, ref, _ *transcript.Transcript, took time.Duration) {
		if took != 800*time.Millisecond {
			t.Errorf("it took %s, want as long as the longer window", took)
		}
		same(t, "steps", outcomes(ref), []string{"1 done", "2 done", "3 done", "4 done", "5 done", "6 done", "7 done"})
		if at := ref.Steps[6].At; at != 500*time.Millisecond {
			t.Errorf("the stream was closed and the next step begun after %s, want when its window was over", at)
		}
		same(t, "events of the stream that was closed", names(ref, "feed"), []string{"hello", "a"})
		same(t, "events of the other", names(ref, "other"), []string{"hello", "a", "b"})
		w := ref.Windows
		if len(w) != 2 || w[0].Stream != "feed" || w[0].First != 1 || w[0].To-w[0].From != 500*time.Millisecond || w[1].Match != nil {
			t.Errorf("windows %+v", w)
		}
	})
}

func TestTheSameSeedDrawsTheSameOrder(t *testing.T) {
	draw := func(seed uint64, id string) []int {
		d := seeded(seed, id)
		var out []int
		for range 20 {
			out = append(out, d.Perm(2)...)
		}
		return out
	}
	first := draw(7, "a")
	same(t, "the same seed", draw(7, "a"), first)
	var begins [2]bool
	for i := 0; i < len(first); i += 2 {
		begins[first[i]] = true
	}
	if !begins[0] || !begins[1] {
		t.Errorf("one of the targets never starts: %v", first)
	}
	for name, other := range map[string][]int{"another seed": draw(8, "a"), "another scenario": draw(7, "b")} {
		if slices.Equal(first, other) {
			t.Errorf("%s draws the same", name)
		}
	}
}

// A stream stays open while lockstep waits for another stream or an upstream. If the heartbeats of that time were left
// out, the report would say that the server sent none.
func TestHeartbeatsCountUntilTheStreamIsClosed(t *testing.T) {
	both := `
steps:
  - open: feed
    sse: GET /events
    ready: {event: hello}
  - open: other
    sse: GET /events?of=other
  - http: GET /x
`
	beating := tell(line{0, "hello"}, line{300 * time.Millisecond, "ping"}, line{100 * time.Millisecond, "a"}, line{200 * time.Millisecond, "ping"})
	with := func(other http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RawQuery == "" {
				beating(w, r)
			} else {
				other(w, r)
			}
		}
	}
	prompt, late := with(tell(line{0, "b"})), with(tell(line{900 * time.Millisecond, "b"}))
	walk(t, story(t, both), options(), prompt, late, func(t *testing.T, ref, cand *transcript.Transcript, took time.Duration) {
		for _, side := range []*transcript.Transcript{ref, cand} {
			same(t, side.Target+"'s events", names(side, "feed"), []string{"hello", "ping", "ping"})
			if s := side.Streams[0]; s.Until != 900*time.Millisecond || s.Ended != transcript.EndedByClient {
				t.Errorf("%s's stream was ended by the %s after %s", side.Target, s.Ended, s.Until)
			}
		}
	})
}
