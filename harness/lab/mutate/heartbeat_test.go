package mutate_test

import (
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/lab/mutate"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Heartbeats within the tolerance of a rule are right, and not among the mutants that matter.
func TestHeartbeatsAreLateByMoreThanTheRuleAllows(t *testing.T) {
	const ms = time.Millisecond
	at := func(beats ...time.Duration) []time.Duration { return beats }
	for _, tc := range []struct {
		name  string
		beats []time.Duration
		open  time.Duration
		ended transcript.Ending
		want  []string
	}{
		{"one in a short stream", at(1 * ms), 3 * ms, transcript.EndedByServer, []string{"late", "stopped", "gone", "flood", "text"}},
		{"one before the client left", at(1 * ms), 3 * ms, transcript.EndedByClient, []string{"flood", "text"}},
		{"two", at(1*ms, 501*ms), 600 * ms, transcript.EndedByServer, []string{"late", "gone", "flood", "text"}},
		{"many", at(1*ms, 501*ms, 1001*ms, 1501*ms, 2001*ms, 2501*ms, 3001*ms, 3501*ms, 4001*ms, 4501*ms), 4900 * ms, transcript.EndedByServer,
			[]string{"late", "slow", "stopped", "gone", "early", "twice", "flood", "text"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			told := func(s story) *transcript.Transcript {
				st := &transcript.Stream{Name: "reply", Step: "1", At: time.Second, Until: time.Second + tc.open, Ended: tc.ended}
				for _, after := range tc.beats {
					st.Events = append(st.Events, s.event("ping", "{}", st.At+after))
				}
				return &transcript.Transcript{Started: s.started, Streams: []*transcript.Stream{st}}
			}
			rules := &compare.Rules{Streams: map[string]streamdiff.Rules{"reply": {
				Heartbeat: &streamdiff.Heartbeat{Event: "ping", Every: 500 * ms, Tolerance: 1500 * ms},
			}}}
			s := &mutate.Subject{Reference: told(reference), Candidate: told(candidate), Rules: rules}
			var got []string
			for _, op := range mutate.Operators() {
				if op.Family != "heartbeat" {
					continue
				}
				for m := range op.Mutants(s, 1) {
					if name := op.Name[len("heartbeat/"):]; !slices.Contains(got, name) {
						got = append(got, name)
					}
					changed := m.Build()
					if len(compare.AllUnmet(nil, changed, rules))+len(compare.Transcripts(nil, s.Reference, changed, rules).Differences) == 0 {
						t.Errorf("%s lives", op.Name)
					}
				}
			}
			if diff := gocmp.Diff(tc.want, got); diff != "" {
				t.Errorf("operators with mutants (-want +got):\n%s", diff)
			}
		})
	}
}
