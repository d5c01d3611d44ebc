package streamdiff

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestHangingUpTriggersEventsAsWell(t *testing.T) {
	run := &transcript.Transcript{Steps: []transcript.Step{
		{ID: "1", Kind: "http", Exchanges: []*transcript.Exchange{{}}},
		{ID: "2", Kind: "close", At: 2 * time.Second}, {ID: "3", Kind: "close", At: 3 * time.Second, Skipped: "it is over"},
		{ID: "4", Kind: "http", Exchanges: []*transcript.Exchange{{Failure: &transcript.Failure{Phase: transcript.PhaseConnect}}}},
	}}
	want := []trigger{{"1", 0, 0}, {"2", -1, 2 * time.Second}}
	if diff := cmp.Diff(want, triggers(run), cmp.AllowUnexported(trigger{})); diff != "" {
		t.Errorf("triggers (-want +got):\n%s", diff)
	}
}
