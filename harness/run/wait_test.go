package run

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestATimeoutIsReportedInWords(t *testing.T) {
	s := story(t, `
limit: 21s
steps:
  - http: GET /seconds/100
  - http: GET /seconds/100
    within: 2s
  - start: late
    http: GET /seconds/100
  - join: late
    within: 3s
  - http: GET /seconds/100
  - http: GET /x
teardown:
  - http: GET /seconds/1
  - http: GET /seconds/2
`)
	server := http.HandlerFunc(sleeper)
	walk(t, s, options(), server, server, func(t *testing.T, ref, _ *transcript.Transcript, took time.Duration) {
		same(t, "steps", outcomes(ref), []string{
			"1 failed: the step's 10s were over before the head",
			"2 failed: the step's 2s were over before the head",
			"3 done",
			"4 failed: the step's 3s were over before the head",
			"5 failed: the scenario's 21s were over before the head",
			"6 skipped: the scenario's 21s were over",
			"teardown.2 done",
			"teardown.1 done",
		})
		for i, x := range []int{0, 1, 3, 4} {
			if f := ref.Steps[x].Exchanges[0].Failure; f.Kind != transcript.FailTimeout {
				t.Errorf("failure %d is a %s, want a %s", i, f.Kind, transcript.FailTimeout)
			}
		}
		if ref.Aborted != "the scenario's 21s were over" || took != 24*time.Second {
			t.Errorf("it took %s, and was cut short because %q", took, ref.Aborted)
		}
	})
}

func TestWaitingInVainIsReportedInWords(t *testing.T) {
	s := story(t, `
limit: 8s
steps:
  - open: feed
    sse: GET /events
    ready: {event: never, within: 1s}
  - await: feed
    match: {event: never, json: {$.id: 7}}
    within: 2s
  - await: feed
    match: {event: a}
  - await: feed
    match: {event: b}
    times: 2
    within: 2s
  - await: feed
    end: server
    within: 1s
  - await: feed
    match: {event: never}
`)
	server := tell(line{0, "hello"}, line{0, "ping"}, line{0, "a"}, line{0, "b"}, line{0, "ping"})
	walk(t, s, options(), server, server, func(t *testing.T, ref, _ *transcript.Transcript, _ time.Duration) {
		same(t, "steps", outcomes(ref), []string{
			`1 unmet: event "never": it did not come within 1s; 3 other events came since`,
			`2 unmet: event "never" with 7 at $.id: it did not come within 2s; 3 other events came since`,
			"3 done",
			`4 unmet: event "b" (2 times): it did not come within 2s; no other event came since`,
			"5 unmet: the end of the stream: it did not come within 1s",
			`6 unmet: event "never": it did not come before the scenario's 8s were over; no other event came since`,
		})
	})
}

// counter responds with the number of requests so far, after a delay.
func counter(after time.Duration) http.HandlerFunc {
	var mu sync.Mutex
	n := 0
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		n++
		text := fmt.Sprintf(`{"n":%d}`, min(n, 3))
		mu.Unlock()
		select {
		case <-time.After(after):
			answer(text)(w, r)
		case <-r.Context().Done():
		}
	}
}

func TestAPollRepeatsUntilTheAnswerIsAsExpected(t *testing.T) {
	for compare, want := range map[string][]string{
		"final": {`{"n":3}`}, "all-distinct": {`{"n":1}`, `{"n":2}`, `{"n":3}`}, "none": {`{"n":3}`},
	} {
		s := story(t, `
steps:
  - poll: GET /x
    every: 10ms..20ms
    until: {json: {$.n: 3}}
    capture: {n: $.n}
    compare: `+compare+`
  - http: GET /x/${{ n }}
`)
		walk(t, s, options(), counter(0), counter(0), func(t *testing.T, ref, _ *transcript.Transcript, took time.Duration) {
			var got []string
			for _, x := range ref.Steps[0].Exchanges {
				got = append(got, string(x.Response.Body.Bytes))
			}
			same(t, "answers that are kept", got, want)
			same(t, "steps", outcomes(ref), []string{"1 done", "2 done"})
			if took != 25*time.Millisecond { // pauses of 10 and 15 ms
				t.Errorf("it took %s", took)
			}
			if ref.Steps[0].Uncompared != (compare == "none") {
				t.Errorf("compare: %s: uncompared is %t", compare, ref.Steps[0].Uncompared)
			}
		})
	}
}

func TestAPollInVainReportsTheLastCompleteAnswer(t *testing.T) {
	s := story(t, `
steps:
  - poll: GET /x
    every: 100ms
    within: 1s
    until: {json: {$.n: 7}}
`)
	for each, last := range map[time.Duration]string{0: "3", 300 * time.Millisecond: "2"} { // the slow one is cut short during its third response
		walk(t, s, options(), counter(each), counter(each), func(t *testing.T, ref, _ *transcript.Transcript, took time.Duration) {
			same(t, "steps", outcomes(ref), []string{"1 unmet: body $.n to become 7: after 1s it was still " + last})
			if took != time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
	hang := counter(time.Hour)
	walk(t, s, options(), hang, hang, func(t *testing.T, ref, _ *transcript.Transcript, _ time.Duration) {
		same(t, "steps of a server that never answers", outcomes(ref), []string{"1 failed: the step's 1s were over before the head"})
	})
}
