// Package engine runs the scenarios of a project on its targets and judges what they did.
package engine

import (
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Version of lockstep, which run files and reports name.
const Version = "0.1.0"

// Options say what to run and how. A nil *Options runs everything.
type Options struct {
	// Targets are names of the project's targets, or name=URL for servers that already run; all of the project when
	// empty. With one target there is nothing to compare: it is judged by the contract and by what scenarios expect.
	Targets   []string
	Reference string // the target that is taken as right, instead of the project's
	Select    project.Selection
	First     []string      // ids of scenarios that run before the others
	Shard     project.Shard // the part of the selection that runs; all of it when zero
	// AllowEmpty accepts that no scenario is selected, that the shard has none, and that nothing can be judged.
	AllowEmpty bool
	// Repeat is how often each scenario is run; once when 0. It is green when all of its runs are.
	Repeat int
	Jobs   int    // scenarios at a time; twice the processors, and at least four, when 0
	Seed   uint64 // decides which target starts a step; drawn when 0, for a shard as all of its run draw it
	// RunFile gets the transcripts, when set.
	RunFile io.Writer
	// Record gets those of the reference alone, when set: a recording.
	Record io.Writer
	// Against is a recording that stands in for the reference, which is not started then.
	Against *runfile.Recording
	// ReferenceVersion is what the reference is called, instead of what the project says.
	ReferenceVersion string
	// Program is the lockstep that targets start by ${{ lockstep }}; when empty, "lockstep" from their PATH.
	Program string
	// Environ is the environment that targets inherit the usual variables from, as os.Environ returns it.
	Environ []string
	// Progress is called for each scenario that is judged, one call at a time.
	Progress func(done, of int, s *verdict.Scenario)
	// Today decides which waivers have expired; the day of the start when zero.
	Today   time.Time
	Monitor *Monitor     // shows the progress, when set
	Log     *slog.Logger // hears what happens to targets; nil discards it
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Jobs <= 0 {
		out.Jobs = max(4, 2*runtime.GOMAXPROCS(0))
	}
	if out.Seed == 0 && out.Shard == (project.Shard{}) {
		out.Seed = rand.Uint64()>>11 | 1 // short enough to be typed again
	}
	if out.Program == "" {
		out.Program = "lockstep"
	}
	if out.Log == nil {
		out.Log = slog.New(slog.DiscardHandler)
	}
	if out.Monitor == nil {
		out.Monitor = &Monitor{}
	}
	return out
}

// live returns the targets that run: all but a reference that was recorded.
func (o *Options) live(targets []project.Target) []project.Target {
	if o.Against != nil {
		return targets[1:]
	}
	return targets
}

// checkRecordable refuses recordings that would be none.
func checkRecordable(o *Options) error {
	switch {
	case o.Record == nil:
		return nil
	case o.Against != nil:
		return runfile.ErrRecordedAgain
	case o.Repeat > 1:
		return &project.UsageError{What: "a recording has one run of each scenario", Fix: "record without --repeat; --against a recording may be repeated"}
	case o.Shard != project.Shard{}:
		return &project.UsageError{What: "a shard has a part of the scenarios, and a recording is whole", Fix: "leave --record out, and give it to lockstep merge"}
	}
	return nil
}
