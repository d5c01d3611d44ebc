package noise_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/lab/noise"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestAFirstBeatThatComesWithTheOpeningIsProposed(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	for _, tc := range []struct {
		name   string
		first  time.Duration // what the rule says
		beats  []time.Duration
		stands time.Duration // how long the machine pauses
		want   []noise.Heartbeat
	}{
		{"always at once", s, []time.Duration{0, ms, ms, 40 * ms, 249 * ms}, 0, []noise.Heartbeat{{Operation: "GET /feed", Streams: 5}}},
		{"at once but for what the machine did", s, []time.Duration{0, 0, 0, 0, 400 * ms}, 200 * ms, []noise.Heartbeat{{Operation: "GET /feed", Streams: 5}}},
		{"after an interval once", s, []time.Duration{0, 0, 0, 0, 0, s}, 0, nil},
		{"too few", s, []time.Duration{0, 0, 0, 0}, 0, nil},
		{"one that never beats", s, []time.Duration{0, 0, 0, 0, 0, -1}, 0, []noise.Heartbeat{{Operation: "GET /feed", Streams: 5}}},
		{"where the rule says so", 0, []time.Duration{0, 0, 0, 0, 0}, 0, nil},
	} {
		p := &project.Project{Rules: scenario.Rules{Streams: map[string]scenario.StreamRule{
			"GET /feed": {Heartbeat: &scenario.Heartbeat{Event: "ping", Every: s, First: tc.first}},
		}}}
		var cases []*runfile.Case
		for _, at := range tc.beats {
			st := &transcript.Stream{Name: "feed", Operation: "GET /feed", At: s}
			if at >= 0 {
				st.Events = []transcript.Event{{Name: "hello", At: s}, {Name: "ping", At: s + at}}
			}
			cases = append(cases, &runfile.Case{Scenario: &scenario.Scenario{}, Transcripts: []*transcript.Transcript{{Stalled: tc.stands, Streams: []*transcript.Stream{st}}}})
		}
		if diff := cmp.Diff(tc.want, noise.Heartbeats(p, cases)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}
