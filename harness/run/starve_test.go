package run

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/runqueue"
)

func TestWhatATargetWaitedForAProcessorIsRecorded(t *testing.T) {
	const ms = time.Millisecond
	// span is a span of the story in which the target waited, or ran, for a time.
	type span struct {
		from, until, waited, ran time.Duration
	}
	for _, tc := range []struct {
		name    string
		seconds string // that the story takes
		old     time.Duration
		spans   []span
		want    []transcript.Starvation
	}{
		{"on an idle machine", "1", 0, nil, nil},
		{"one that sleeps for as long as the story", "3", 0, []span{{0, 3000 * ms, 19 * ms, 0}}, nil},
		{"one that waits", "1", 0, []span{{300 * ms, 1000 * ms, 700 * ms, 0}}, []transcript.Starvation{{From: 300 * ms, Until: 1000 * ms, For: 700 * ms}}},
		{"one that waits now and then", "1", 0, []span{{0, 240 * ms, 100 * ms, 0}, {550 * ms, 740 * ms, 50 * ms, 20 * ms}}, []transcript.Starvation{
			{From: 0, Until: 250 * ms, For: 100 * ms}, {From: 500 * ms, Until: 750 * ms, For: 30 * ms},
		}},
		{"one that works", "1", 0, []span{{0, 1000 * ms, 300 * ms, 1000 * ms}}, nil},
		{"one that somebody else has looked at before", "1", 200 * ms, []span{{-500 * ms, -300 * ms, 200 * ms, 0}, {-50 * ms, 0, 50 * ms, 0}}, []transcript.Starvation{
			{From: -200 * ms, Until: 250 * ms, For: 50 * ms},
		}},
		{"a story that is soon told", "0", 0, []span{{0, 0, 100 * ms, 0}}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := story(t, "steps: [{http: GET /seconds/"+tc.seconds+"}]")
			synctest.Test(t, func(t *testing.T) {
				start, looks := time.Now(), 0
				l := &life{exited: make(chan struct{})}
				l.use = func(age time.Duration) runqueue.Use {
					at := time.Now()
					if looks++; looks == 1 {
						at = at.Add(-tc.old)
					}
					use := runqueue.Use{At: at, Waited: map[int]time.Duration{1: time.Hour}}
					for _, s := range tc.spans { // a wait is counted when it is over
						if at.Sub(start) >= s.until {
							use.Waited[1] += s.waited
							use.Ran += s.ran
						}
					}
					return use
				}
				target := target(t, "ref", http.HandlerFunc(sleeper))
				target.Process = l
				ts := Scenario(t.Context(), s, []*Target{target}, options())
				if diff := cmp.Diff(tc.want, ts[0].Starved); diff != "" {
					t.Errorf("starved (-want +got):\n%s", diff)
				}
				if ts[0].Delayed != nil {
					t.Errorf("the harness was delayed: %v", ts[0].Delayed)
				}
			})
		})
	}
}

// The harness may wait as well, while its targets do not.
func TestWhatTheHarnessWaitedForAProcessorIsRecorded(t *testing.T) {
	const ms = time.Millisecond
	s := story(t, "steps: [{http: GET /seconds/1}]")
	synctest.Test(t, func(t *testing.T) {
		start, opts := time.Now(), options()
		opts.Processors = func(time.Duration) (runqueue.Use, bool) {
			use := runqueue.Use{At: time.Now(), Waited: map[int]time.Duration{1: time.Hour}}
			if time.Since(start) >= 600*ms {
				use.Waited[1] += 150 * ms
			}
			return use, true
		}
		targets := []*Target{target(t, "ref", http.HandlerFunc(sleeper)), target(t, "cand", http.HandlerFunc(sleeper))}
		for _, got := range Scenario(t.Context(), s, targets, opts) {
			want := []transcript.Starvation{{From: 500 * ms, Until: 750 * ms, For: 150 * ms}}
			if diff := cmp.Diff(want, got.Delayed); diff != "" || got.Starved != nil {
				t.Errorf("%s: starved %v, delayed (-want +got):\n%s", got.Target, got.Starved, diff)
			}
		}
	})
}
