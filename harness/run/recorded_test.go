package run

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A target that runs without its reference gets time to catch up with the recording of that reference.
func TestAStreamCatchesUpWithARecording(t *testing.T) {
	late := tell(line{0, "hello"}, line{300 * time.Millisecond, "a"}, line{100 * time.Millisecond, "b"})
	stream := func(name string, events ...string) *transcript.Transcript {
		s := &transcript.Stream{Name: name}
		for _, ev := range events {
			s.Events = append(s.Events, transcript.Event{Name: ev})
		}
		return &transcript.Transcript{Streams: []*transcript.Stream{s}}
	}
	comments := stream("feed", "hello")
	comments.Streams[0].Events = append(comments.Streams[0].Events, transcript.Event{Comment: true})
	for _, tc := range []struct {
		name     string
		recorded *transcript.Transcript
		want     []string
		took     time.Duration
	}{
		{"no recording", nil, []string{"hello"}, moment},
		{"as many as come", stream("feed", "hello", "a", "b"), []string{"hello", "a", "b"}, 400 * time.Millisecond},
		{"fewer than come", stream("feed", "hello", "a"), []string{"hello", "a"}, 300 * time.Millisecond},
		{"no more than there are", stream("feed", "hello"), []string{"hello"}, moment},
		{"more than ever come", stream("feed", "hello", "a", "b", "c"), []string{"hello", "a", "b"}, time.Second + moment},
		{"heartbeats", stream("feed", "hello", "ping", "ping"), []string{"hello"}, moment},
		{"comments", comments, []string{"hello", "a"}, 300 * time.Millisecond},
		{"another stream", stream("other", "hello", "a", "b"), []string{"hello"}, moment},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := options()
				opts.Recorded = tc.recorded
				start := time.Now()
				ts := Scenario(t.Context(), story(t, listening), []*Target{target(t, "cand", late)}, opts)
				same(t, "events", names(ts[0], "feed"), tc.want)
				if took := time.Since(start); took != tc.took {
					t.Errorf("it took %s, want %s", took, tc.took)
				}
			})
		})
	}
}

func TestAStreamMayEndAsLateAsTheRecordingSays(t *testing.T) {
	for _, events := range []int{0, 1} {
		s := &transcript.Stream{Name: "feed", Ended: transcript.EndedByServer, Events: make([]transcript.Event, events)}
		synctest.Test(t, func(t *testing.T) {
			opts := options()
			opts.Recorded = &transcript.Transcript{Streams: []*transcript.Stream{s}}
			ts := Scenario(t.Context(), story(t, listening), []*Target{target(t, "cand", endingAfter(300*time.Millisecond))}, opts)
			if got := ts[0].Streams[0].Ended; got != transcript.EndedByServer {
				t.Errorf("with %d recorded events, the stream was ended by the %s", events, got)
			}
		})
	}
}
