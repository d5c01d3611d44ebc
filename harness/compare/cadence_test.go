package compare

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// The first heartbeat is due at the opening, and the others count from it.
func TestACadenceThatBeginsWithTheOpening(t *testing.T) {
	ms := time.Millisecond
	server, client, broken := transcript.EndedByServer, transcript.EndedByClient, transcript.EndedBroken
	for _, tc := range []struct {
		name    string
		open    time.Duration
		ended   transcript.Ending
		stalled time.Duration
		beats   []time.Duration // after the opening
		want    string
	}{
		{"at once, and each interval", 250 * ms, server, 0, []time.Duration{1 * ms, 101 * ms, 201 * ms}, ""},
		{"one in a stream that is short", 3 * ms, server, 0, []time.Duration{1 * ms}, ""},
		{"none in a stream that is short, which the other side knows about", 3 * ms, server, 0, nil, ""},
		{"none before the client left", 3 * ms, client, 0, nil, ""},
		{"none before the stream broke", 3 * ms, broken, 0, nil, ""},
		{"none long before the client left", 60 * ms, client, 0, nil, "heartbeat 1: 1 in 60ms"},
		{"none, and the client was kept waiting itself", 60 * ms, client, 30 * ms, nil, ""},
		{"too late", 90 * ms, server, 0, []time.Duration{60 * ms}, "heartbeat 1: 0s after the opening, give or take 50ms"},
		{"late, and the client was kept waiting itself", 90 * ms, server, 20 * ms, []time.Duration{60 * ms}, ""},
		{"made up for, all at once", 290 * ms, client, 200 * ms, []time.Duration{240 * ms, 240 * ms, 240 * ms}, ""},
		{"one that is missing", 260 * ms, server, 0, []time.Duration{0, 100 * ms}, "heartbeat 3: 3 in 260ms"},
		{"one too many", 3 * ms, server, 0, []time.Duration{0, 1 * ms}, "heartbeat 2: 100ms after the opening, give or take 50ms"},
		{"twice as many", 210 * ms, server, 0, []time.Duration{0, 60 * ms, 110 * ms, 160 * ms}, "heartbeat 3: 200ms after the opening, give or take 50ms"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSide("cand").stream("bus")
			st := s.t.Streams[0]
			s.t.Stalled = tc.stalled
			st.At, st.Until, st.Ended = time.Second, time.Second+tc.open, tc.ended
			if tc.ended == broken {
				st.Failure = &transcript.Failure{Kind: transcript.FailReset, Phase: transcript.PhaseBody}
			}
			for _, at := range tc.beats {
				st.Events = append(st.Events, transcript.Event{Name: "ping", At: st.At + at}, transcript.Event{Name: "other", At: st.At + at})
			}
			rules := &Rules{Streams: map[string]streamdiff.Rules{"bus": {Heartbeat: &streamdiff.Heartbeat{Event: "ping", Every: 100 * ms, Tolerance: 50 * ms}}}}
			got := ""
			for _, f := range AllUnmet(nil, s.t, rules) {
				if f.Kind != StreamBroken {
					got = f.Place + ": " + f.Want
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("shortfall (-want +got):\n%s", diff)
			}
		})
	}
}

// A stream that is too short for another heartbeat still has the one at its opening, if the other side's has one.
func TestABeatThatComesWithTheOpeningIsOnBothSides(t *testing.T) {
	server, client := transcript.EndedByServer, transcript.EndedByClient
	atOnce := streamdiff.Heartbeat{Event: "ping", Every: time.Second, Tolerance: time.Second}
	later, whenever := atOnce, streamdiff.Heartbeat{Event: "ping"}
	later.First = time.Second
	none, one := []string{"told 1"}, []string{"ping {}", "told 1"}
	for _, tc := range []struct {
		name      string
		rule      streamdiff.Heartbeat
		ref, cand []string
		ended     transcript.Ending
		want      []string
	}{
		{"on both", atOnce, one, one, server, nil},
		{"on neither", atOnce, none, none, server, nil},
		{"not the candidate's", atOnce, one, none, server, []string{"heartbeat heartbeat 1"}},
		{"not the reference's", atOnce, none, one, server, []string{"heartbeat heartbeat 1"}},
		{"not before the client left", atOnce, one, none, client, nil},
		{"one that is due later", later, one, none, server, nil},
		{"one that is never due", whenever, one, none, server, nil},
	} {
		rule := tc.rule
		rules := &Rules{Streams: map[string]streamdiff.Rules{"bus": {Heartbeat: &rule}}}
		ref, cand := newSide("ref").stream("bus", tc.ref...), newSide("cand").stream("bus", tc.cand...)
		ref.t.Streams[0].Ended, cand.t.Streams[0].Ended = tc.ended, tc.ended
		if diff := cmp.Diff(tc.want, kinds(compared(ref, cand, rules))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}
