package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
)

func TestOptionalEvents(t *testing.T) {
	rules := &Rules{Streams: map[string]streamdiff.Rules{"bus": {Optional: []string{"progress"}}}}
	for _, tc := range []struct {
		name      string
		ref, cand []string
		want      []string
		left      int // how many optional events are not compared
	}{
		{"on both sides", []string{"a 1", "progress 1", "b 2"}, []string{"a 1", "progress 1", "b 2"}, nil, 0},
		{"not on the candidate's", []string{"a 1", "progress 1", "progress 2", "b 2"}, []string{"a 1", "b 2"}, nil, 2},
		{"not on the reference's", []string{"a 1", "b 2"}, []string{"a 1", "progress 1", "b 2"}, nil, 1},
		{"once more", []string{"progress 1", "b 2"}, []string{"progress 1", "progress 1", "b 2"}, nil, 1},
		{"at the end", []string{"a 1"}, []string{"a 1", "progress 1"}, nil, 1},
		{"with other data", []string{"a 1", "progress 1", "b 2"}, []string{"a 1", "progress 2", "b 2"}, []string{"body event 2 (progress) data"}, 0},
		{"at another place", []string{"progress 1", "a 1", "b 2"}, []string{"a 1", "b 2", "progress 1"}, []string{"event-order event 3 (progress)"}, 0},
		{"beside one that is not", []string{"a 1", "progress 1", "b 2"}, []string{"a 1"}, []string{"event-missing event 3 (b)"}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := compared(newSide("ref").stream("bus", tc.ref...), newSide("cand").stream("bus", tc.cand...), rules)
			if diff := cmp.Diff(tc.want, kinds(got)); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			if n := got.NotCompared["events that are optional, which one side has not"]; n != tc.left {
				t.Errorf("%d are not compared, want %d", n, tc.left)
			}
		})
	}
}
