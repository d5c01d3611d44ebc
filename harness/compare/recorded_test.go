package compare

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// watched returns a scenario that sends a request at 10ms, waits for an event until 30ms, and hangs up at 40ms.
func watched(messages []time.Duration, method string, events ...string) *transcript.Transcript {
	const ms = time.Millisecond
	t := &transcript.Transcript{
		Target: "new", Unique: "uabcdefghijk", Took: 50 * ms,
		Steps: []transcript.Step{
			{ID: "1", Kind: "open", Stream: "bus", Took: 10 * ms, Exchanges: []*transcript.Exchange{{
				Request: transcript.Request{Method: "GET", Target: "/bus"}, Stream: "bus",
				Response: &transcript.Response{Status: 200, Header: transcript.Header{{Name: "Content-Type", Value: "text/event-stream"}}},
			}}},
			{ID: "2", Kind: "http", At: 10 * ms, Took: ms},
			{ID: "3", Kind: "await", Stream: "bus", At: 11 * ms, Took: 19 * ms, Events: []int{1}},
			{ID: "teardown.1", Kind: "http", At: 45 * ms, Took: ms},
		},
		Streams: []*transcript.Stream{{Name: "bus", Step: "1", Ended: transcript.EndedByClient, Until: 40 * ms}},
	}
	for i, name := range events {
		t.Streams[0].Events = append(t.Streams[0].Events, transcript.Event{Name: name, Type: name, Data: name, At: time.Duration(i) * 10 * ms})
	}
	s := transcript.Step{ID: "tools " + method, Kind: "upstream"}
	for _, at := range messages {
		s.Exchanges = append(s.Exchanges, &transcript.Exchange{
			Request: transcript.Request{Method: transcript.MCP, Target: method}, Sent: at * ms, Head: at * ms, Done: at * ms,
		})
	}
	if len(messages) > 0 {
		t.Upstream = append(t.Upstream, s)
	}
	return t
}

// If no step waited for something, it is chance whether it came before the recording ended.
func TestEventsThatWereNotAwaitedAreNotComparedWithARecording(t *testing.T) {
	const cancelled, call = "notifications/cancelled", "tools/call"
	at := func(ms ...time.Duration) []time.Duration { return ms }
	both := []string{"hello", "done"}
	for _, tc := range []struct {
		name      string
		ref, cand *transcript.Transcript
		want      []string
		left      int
	}{
		{"a notification behind the last request", watched(nil, "", both...), watched(at(12), cancelled, both...), nil, 1},
		{"one of two notifications", watched(at(5), cancelled, both...), watched(at(5, 35), cancelled, both...), nil, 1},
		{"a notification before the last request", watched(nil, "", both...), watched(at(5), cancelled, both...), []string{"count requests: 0, 1"}, 0},
		{"a notification that does not come", watched(at(12), cancelled, both...), watched(nil, "", both...), []string{"count requests: 1, 0"}, 0},
		{"a call that something was awaited behind", watched(nil, "", both...), watched(at(12), call, both...), []string{"count requests: 0, 1"}, 0},
		{"a call behind the last step", watched(nil, "", both...), watched(at(31), call, both...), nil, 1},
		{"an event behind the last that was awaited", watched(nil, "", both...), watched(nil, "", "hello", "done", "more", "more"), nil, 2},
		{"an event before it", watched(nil, "", both...), watched(nil, "", "hello", "more", "done"), []string{"event-extra event 2 (more): —, more more"}, 0},
		{"an event that does not come", watched(nil, "", "hello", "done", "more"), watched(nil, "", both...), []string{"event-missing event 3 (more): more more, —"}, 0},
	} {
		for _, recorded := range []bool{true, false} {
			if tc.name == "an event before it" {
				tc.cand.Steps[2].Events = []int{2}
			}
			tc.ref.Recorded = recorded
			result := Transcripts(nil, tc.ref, tc.cand, &Rules{})
			var got []string
			for _, d := range result.Differences {
				got = append(got, fmt.Sprintf("%s %s: %s, %s", d.Kind, d.At.String(), d.Ref.String(), d.Cand.String()))
			}
			if left := result.NotCompared[streamdiff.NotAwaited]; recorded && left != tc.left || !recorded && left != 0 {
				t.Errorf("%s, recorded %t: %d left out, want %d", tc.name, recorded, left, tc.left)
			}
			if !recorded && len(got) == 0 {
				t.Errorf("%s: nothing differs from a reference that is there", tc.name)
			}
			if diff := cmp.Diff(tc.want, got); recorded && diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.name, diff)
			}
		}
	}
}

func TestHangingUpAfterTheLastStepIsNotComparedWithARecording(t *testing.T) {
	const ms = time.Millisecond
	of := func(done time.Duration, gone *transcript.Failure) *transcript.Transcript {
		out := watched([]time.Duration{12}, "POST", "hello", "done")
		x := out.Upstream[0].Exchanges[0]
		x.Request.Method, x.Hangs, x.Done, x.Failure = "POST", true, done, gone
		return out
	}
	gone := &transcript.Failure{Kind: transcript.FailCanceled}
	for _, tc := range []struct {
		name      string
		ref, cand *transcript.Transcript
		differ    bool
	}{
		{"behind the last step", of(50*ms, nil), of(35*ms, gone), false},
		{"before the last step was over", of(50*ms, nil), of(25*ms, gone), true},
		{"what the recorded reference has done", of(35*ms, gone), of(50*ms, nil), true},
	} {
		tc.ref.Recorded = true
		if got := Transcripts(nil, tc.ref, tc.cand, &Rules{}).Differences; (len(got) > 0) != tc.differ {
			t.Errorf("%s: %+v", tc.name, got)
		}
	}
}

func TestTheEndOfAStreamThatWasNotAwaitedIsNotComparedWithARecording(t *testing.T) {
	ref, cand := watched(nil, "", "hello", "done"), watched(nil, "", "hello", "done")
	cand.Streams[0].Ended, ref.Recorded = transcript.EndedByServer, true
	if got := Transcripts(nil, ref, cand, &Rules{}).Differences; len(got) > 0 {
		t.Errorf("the candidate ended it: %+v", got)
	}
	ref.Streams[0].Ended, cand.Streams[0].Ended = transcript.EndedByServer, transcript.EndedByClient
	if got := Transcripts(nil, ref, cand, &Rules{}).Differences; len(got) != 1 || got[0].Kind != diff.StreamEnd {
		t.Errorf("the recorded reference ended it: %+v", got)
	}
}
