package compare

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestTheEndOfAStreamIsReportedOnce(t *testing.T) {
	byClient := func(s *transcript.Stream) { s.Ended = transcript.EndedByClient }
	byServer := func(s *transcript.Stream) { s.Ended = transcript.EndedByServer }
	broken := func(s *transcript.Stream) {
		s.Ended, s.Failure = transcript.EndedBroken, &transcript.Failure{Kind: transcript.FailReset}
	}
	flooded := func(s *transcript.Stream) {
		s.Ended, s.Failure = transcript.EndedBroken, &transcript.Failure{Kind: transcript.FailLimit}
	}
	flood := func(event string, n int) []string { return slices.Repeat([]string{event}, n) }
	for _, tc := range []struct {
		name            string
		ref, cand       []string
		refEnd, candEnd func(*transcript.Stream)
		want            []string
		behind, tooMuch int // how many events are not compared, by reason
	}{
		{"the candidate broke", []string{"a 1", "b 2", "c 3"}, []string{"a 1"}, byClient, broken, nil, 2, 0},
		{"the reference broke", []string{"a 1"}, []string{"a 1", "b 2", "c 3"}, broken, byClient, nil, 2, 0},
		{"both broke", []string{"a 1", "b 2"}, []string{"a 1", "c 3"}, broken, broken, nil, 2, 0},
		{"one was lost before the candidate broke", []string{"a 1", "b 2", "c 3", "d 4"}, []string{"a 1", "c 3"}, byClient, broken, []string{"event-missing event 2 (b)"}, 1, 0},
		{"one too many before the candidate broke", []string{"a 1", "b 2"}, []string{"a 1", "x 9"}, byClient, broken, []string{"event-extra event 2 (x)"}, 1, 0},
		{"the candidate's server ended it", []string{"a 1", "b 2", "c 3"}, []string{"a 1"}, byClient, byServer, []string{"stream-end end"}, 2, 0},
		{"the reference's server ended it", []string{"a 1"}, []string{"a 1", "b 2", "c 3"}, byServer, byClient, []string{"stream-end end"}, 2, 0},
		{"both servers ended it", []string{"a 1", "b 2"}, []string{"a 1"}, byServer, byServer, []string{"event-missing event 2 (b)"}, 0, 0},
		{"the one that ended it has more", []string{"a 1"}, []string{"a 1", "b 2"}, byClient, byServer, []string{"stream-end end", "event-extra event 2 (b)"}, 0, 0},
		{"nobody ended it", []string{"a 1", "b 2"}, []string{"a 1"}, byClient, byClient, []string{"event-missing event 2 (b)"}, 0, 0},
		{"a flood of one's like", []string{"a 1", "b 2", "c 3"}, slices.Concat([]string{"a 1"}, flood("b 2", 500)), byClient, flooded, []string{"event-doubled event 3 (b)"}, 1, 498},
		{"a flood of the last", []string{"a 1", "b 2"}, slices.Concat([]string{"a 1"}, flood("b 2", 500)), byClient, flooded, []string{"event-doubled event 3 (b)"}, 0, 498},
		{"a flood of strangers", []string{"a 1", "b 2"}, slices.Concat([]string{"a 1"}, flood("x 9", 500)), byClient, flooded, []string{"event-extra event 2 (x)"}, 1, 499},
		{"a flood in the reference", slices.Concat([]string{"a 1"}, flood("x 9", 500)), []string{"a 1", "b 2"}, flooded, byClient, []string{"event-missing event 2 (x)"}, 1, 499},
		{"a flood of as many is none", flood("x 9", 500), flood("x 9", 500), flooded, flooded, nil, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ref, cand := newSide("ref").stream("bus", tc.ref...), newSide("cand").stream("bus", tc.cand...)
			tc.refEnd(ref.t.Streams[0])
			tc.candEnd(cand.t.Streams[0])
			got := compared(ref, cand, nil)
			if diff := cmp.Diff(tc.want, kinds(got)); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			behind, tooMuch := got.NotCompared["behind the end of the other's stream"], got.NotCompared["what came too much"]
			if behind != tc.behind || tooMuch != tc.tooMuch {
				t.Errorf("not compared: %v, want %d behind the end and %d too much", got.NotCompared, tc.behind, tc.tooMuch)
			}
		})
	}
}

func TestTheSideThatEndsAStreamIsReportedWithItsLastEvent(t *testing.T) {
	ref, cand := newSide("ref").stream("bus", "a 1", "b 2"), newSide("cand").stream("bus")
	cand.t.Streams[0].Ended = transcript.EndedByServer
	got := compared(ref, cand, nil).Differences
	if len(got) != 1 || got[0].Ref.String() != "ended by the client, after event 2 (b)" || got[0].Cand.String() != "ended by the server, before any event" {
		t.Errorf("differences %s", fmt.Sprint(got))
	}
}
