package run

import (
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/internal/runqueue"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestWhatATargetWaitedForAProcessorIsRecorded(t *testing.T) {
	const ms = time.Millisecond
	// A span is a part of the story in which the target waited or ran for some time.
	type span struct {
		from, until, waited, ran time.Duration
	}
	for _, tc := range []struct {
		name    string
		seconds string // how long the story takes
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
				start := time.Now()
				var looks atomic.Int32
				l := &life{exited: make(chan struct{})}
				l.use = func(age time.Duration) runqueue.Use {
					at := time.Now()
					if looks.Add(1) == 1 {
						at = at.Add(-tc.old)
					}
					use := runqueue.Use{At: at, Waited: map[int]time.Duration{1: time.Hour}}
					for _, s := range tc.spans { // a wait counts once it is over
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

// lockstep may wait while its targets do not.
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

func TestAStepIsGrantedTheTimeInWhichItsTargetWaitedForAProcessor(t *testing.T) {
	const ms = time.Millisecond
	for _, tc := range []struct {
		name   string
		waited time.Duration // in the first half second, for a server that responds after 2s to a step of 1s
		want   string
	}{
		{"enough", 1100 * ms, ""},
		{"too little", 300 * ms, "the step's 1s were over before the head"},
		{"none", 0, "the step's 1s were over before the head"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := story(t, "steps: [{http: GET /seconds/2, within: 1s}]")
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				l := &life{exited: make(chan struct{})}
				l.use = func(time.Duration) runqueue.Use {
					use := runqueue.Use{At: time.Now(), Waited: map[int]time.Duration{1: time.Hour}}
					if use.At.Sub(start) >= 500*ms {
						use.Waited[1] += tc.waited
					}
					return use
				}
				target := target(t, "ref", http.HandlerFunc(sleeper))
				target.Process = l
				x := Scenario(t.Context(), s, []*Target{target}, options())[0].Steps[0].Exchanges[0]
				var got string
				if x.Failure != nil {
					got = x.Failure.Text
				}
				if got != tc.want {
					t.Errorf("failure %q, want %q", got, tc.want)
				}
			})
		})
	}
}
