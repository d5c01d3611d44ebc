package streamdiff

import (
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Recordings are one event stream as both sides sent it, with what says how to compare them.
type Recordings struct {
	JSON     *jsondiff.Comparer // compares the data of events
	Sides    [2]*transcript.Stream
	Runs     [2]*transcript.Transcript // that the streams belong to
	Rules    Rules
	RuleKey  string // the key of the rules in Result
	Volatile []jsondiff.Volatile
	// Killed reports whether the scenario had killed a side's process by a moment of its run, and not restarted it.
	Killed func(side int, at time.Duration) bool
	// Report takes the differences, in the order in which they are found.
	Report func(diff.Difference)
	// NotCompared counts events that were not compared, by reason.
	NotCompared func(reason string, n int)
}

// report completes a difference with the place of the stream.
func (r *Recordings) report(d diff.Difference) {
	d.Step, d.Stream, d.Exchange = r.Sides[0].Step, r.Sides[0].Name, -1
	r.Report(d)
}
