package run

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

const givenUp = `
steps:
  - start: call
    http: GET /slow
  - http: GET /x
  - close: call
`

// slow answers GET /slow after a time, and everything else at once.
func slow(after time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		wait := moment
		if r.URL.Path == "/slow" {
			wait = after
		}
		select {
		case <-time.After(wait):
			answer("{}")(w, r)
		case <-r.Context().Done():
		}
	}
}

func answered(t *transcript.Transcript) bool { return t.Steps[2].Exchanges[0].Failure == nil }

func TestAnAnswerIsAwaitedThatAnotherTargetHasGiven(t *testing.T) {
	for _, tc := range []struct {
		name      string
		ref, cand time.Duration
		want      [2]bool
		took      time.Duration
	}{
		{"both have answered", 0, 0, [2]bool{true, true}, moment},
		{"one lags", 0, 300 * time.Millisecond, [2]bool{true, true}, 300 * time.Millisecond},
		{"one never answers", 0, time.Hour, [2]bool{true, false}, time.Second + moment},
		{"none has answered", time.Hour, time.Hour, [2]bool{false, false}, moment},
	} {
		t.Run(tc.name, func(t *testing.T) {
			walk(t, story(t, givenUp), options(), slow(tc.ref), slow(tc.cand), func(t *testing.T, ref, cand *transcript.Transcript, took time.Duration) {
				same(t, "answered", [2]bool{answered(ref), answered(cand)}, tc.want)
				if took != tc.took {
					t.Errorf("it took %s, want %s", took, tc.took)
				}
			})
		})
	}
}

func TestAnAnswerIsAwaitedThatARecordingHas(t *testing.T) {
	for _, recorded := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			x := &transcript.Exchange{Response: &transcript.Response{Status: 200}}
			if !recorded {
				x.Failure = &transcript.Failure{Kind: transcript.FailCanceled}
			}
			opts, s := options(), story(t, givenUp)
			opts.Recorded = &transcript.Transcript{Steps: []transcript.Step{{ID: s.Script().Steps[2].ID, Exchanges: []*transcript.Exchange{x}}}}
			ts := Scenario(t.Context(), s, []*Target{target(t, "cand", slow(300*time.Millisecond))}, opts)
			same(t, "answered", answered(ts[0]), recorded)
		})
	}
}

// A response after the agreement comes by chance, whether on one side or on both.
func TestAnAnswerThatComesDuringItsCancellationDoesNotCount(t *testing.T) {
	for _, f := range []*transcript.Failure{nil, {Kind: transcript.FailReset, Text: "reset"}} {
		c := &call{cancel: func(error) {}, done: make(chan struct{}), x: &transcript.Exchange{Failure: f}}
		opts := options()
		d := driverOf(bareRun(opts, &Target{}))
		d.calls.started["call"] = c
		s := bareSession(opts)
		s.drivers = []*driver{d}
		s.settleCall(t.Context(), "call")
		close(c.done)
		s.settleCall(t.Context(), "call") // as before a kill
		var rec transcript.Step
		if err := c.giveUp(&rec); err != nil || c.x.Failure == nil || c.x.Failure.Kind != transcript.FailCanceled {
			t.Errorf("the failure is %+v, and the fault %v", c.x.Failure, err)
		}
	}
}
