package run

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// leaves is a server whose streams send one event, call end, and then end cleanly. It answers all other requests with
// {}.
func leaves(end func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/events" {
			time.Sleep(moment) // long enough for a stream to end first
			answer("{}")(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "event: bye\ndata: {}\n\n")
		end()
	}
}

// A server may crash right after it has ended a stream cleanly.
func TestAServerThatExitsAfterAStreamHasExited(t *testing.T) {
	const steps = "steps:\n  - {open: feed, sse: GET /events}\n  - {await: feed, end: server}\n"
	for _, tc := range []struct {
		name  string
		steps string
		dies  time.Duration // how long after the end of the stream
		exits bool
	}{
		{"at once", steps, 0, true},
		{"a moment later", steps, moment, true},
		{"as late as it is watched", steps, exitGrace - time.Millisecond, true},
		{"later than it is watched", steps, exitGrace + time.Millisecond, false},
		{"behind an answer", steps + "  - http: GET /x\n", exitGrace - time.Millisecond, true},
		{"behind a stream that nobody awaits the end of", "steps:\n  - {open: feed, sse: GET /events}\n  - http: GET /x\n", 100 * time.Millisecond, true},
	} {
		s := story(t, tc.steps)
		synctest.Test(t, func(t *testing.T) {
			l := &life{exited: make(chan struct{}), status: "exit status 2"}
			target := target(t, "ref", leaves(func() { time.AfterFunc(tc.dies, func() { close(l.exited) }) }))
			target.Process = l
			start := time.Now()
			got := Scenario(t.Context(), s, []*Target{target}, options())[0]
			took := time.Since(start).Truncate(time.Millisecond)
			if exits := got.Exit != nil; exits != tc.exits {
				t.Errorf("%s: exit %+v, want one: %t", tc.name, got.Exit, tc.exits)
			}
			if want := min(tc.dies, exitGrace).Truncate(time.Millisecond); took != want {
				t.Errorf("%s: the scenario took %s, want %s", tc.name, took, want)
			}
			if got.Took > time.Millisecond {
				t.Errorf("%s: the transcript took %s, although only its process was watched", tc.name, got.Took)
			}
			time.Sleep(2 * exitGrace) // until the process has ended
		})
	}
}

// Other scenarios may run only while a process is being watched.
func TestAProcessIsWatchedInTheBackground(t *testing.T) {
	for _, tc := range []struct {
		name, steps string
		url         bool
		aside       time.Duration
	}{
		{"behind a stream that the server ended", "steps:\n  - {open: feed, sse: GET /events}\n  - {await: feed, end: server}\n", false, exitGrace},
		{"a server that somebody else has started", "steps:\n  - {open: feed, sse: GET /events}\n  - {await: feed, end: server}\n", true, 0},
		{"behind an answer", "steps: [{http: GET /x}]", false, 0},
		{"behind a stream that the client closed", "steps:\n  - {open: feed, sse: GET /silence}\n", false, 0},
	} {
		s := story(t, tc.steps)
		synctest.Test(t, func(t *testing.T) {
			l := &life{exited: make(chan struct{})}
			quiet := tell()
			target := target(t, "ref", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/silence" {
					r.URL.Path = "/events"
					quiet(w, r)
					return
				}
				leaves(func() {})(w, r)
			}))
			if !tc.url {
				target.Process = l
			}
			var aside time.Duration
			opts := options()
			opts.YieldWhile = func(wait func()) {
				start := time.Now()
				wait()
				aside += time.Since(start)
			}
			start := time.Now()
			got := Scenario(t.Context(), s, []*Target{target}, opts)
			if all := time.Since(start).Truncate(time.Millisecond); aside != tc.aside || all != tc.aside {
				t.Errorf("%s: %s were spent aside, and %s in all, want %s", tc.name, aside, all, tc.aside)
			}
			if tc.aside > 0 && got[0].Streams[0].Ended != transcript.EndedByServer {
				t.Errorf("%s: the stream was ended by the %s", tc.name, got[0].Streams[0].Ended)
			}
		})
	}
}
