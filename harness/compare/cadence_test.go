package compare

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A first beat at the opening is there whatever becomes of the stream, and the others count from it.
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
		{"none in a stream that is short", 3 * ms, server, 0, nil, "heartbeat 1: one at the opening, and the server has ended the stream"},
		{"none on a machine that stood still", 3 * ms, server, time.Second, nil, "heartbeat 1: one at the opening, and the server has ended the stream"},
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
			rules := &Rules{Streams: map[string]Stream{"bus": {Heartbeat: &Heartbeat{Event: "ping", Every: 100 * ms, Tolerance: 50 * ms}}}}
			got := ""
			for _, f := range Shortfalls(s.t, rules) {
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
