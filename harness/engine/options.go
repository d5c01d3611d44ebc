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

// Options say what to run and how. A nil *Options runs everything.
type Options struct {
	// Targets are names of the project's targets, or name=URL for servers that already run. Empty means all targets of
	// the project. A single target is compared with nothing: only the contract and the scenarios' expectations judge
	// it.
	Targets   []string
	Reference string // the target that is taken as right, instead of the project's reference
	Select    project.Selection
	First     []string      // ids of scenarios that run before the others
	Shard     project.Shard // the part of the selection that runs; zero means all of it
	// AllowEmpty accepts a run in which no scenario is selected, the shard is empty, or nothing can be judged.
	AllowEmpty bool
	// Repeat is how often each scenario runs; 0 means once. A scenario is green when all of its runs are.
	Repeat int
	// Confirm is how often a scenario that is red runs again. It stays red, whatever these runs show.
	Confirm int
	Jobs    int    // scenarios that run at the same time; 0 means twice the processors, and at least four
	Seed    uint64 // decides which target starts a step; 0 means random, but equal for all shards of a run
	// RunFile, when set, gets the transcripts.
	RunFile io.Writer
	// Record, when set, gets the transcripts of the reference alone: a recording.
	Record io.Writer
	// Against is a recording that replaces the reference. The reference is not started then.
	Against *runfile.Recording
	// ReferenceVersion is the version of the reference, instead of the one that the project states.
	ReferenceVersion string
	// Program is the lockstep program that targets start by ${{ lockstep }}. When empty, it is "lockstep" from their
	// PATH.
	Program string
	// Environ is the environment from which targets inherit the usual variables, as os.Environ returns it.
	Environ []string
	// Progress is called after each judged scenario, one call at a time.
	Progress func(done, of int, s *verdict.Scenario)
	// Today decides which waivers have expired. When zero, it is the day on which the run starts.
	Today   time.Time
	Monitor *Monitor     // shows the progress, when set
	Log     *slog.Logger // gets messages about targets; nil discards them
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
		out.Seed = rand.Uint64()>>11 | 1 // short enough to type
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

// live returns the targets that run: all but a reference that is replaced by a recording.
func (o *Options) live(targets []project.Target) []project.Target {
	if o.Against != nil {
		return targets[1:]
	}
	return targets
}

// checkRecordable rejects options that make a recording impossible.
func checkRecordable(o *Options) error {
	switch {
	case o.Record == nil:
		return nil
	case o.Against != nil:
		return runfile.ErrRecordedAgain
	case o.Confirm > 0:
		return &project.UsageError{What: "a recording has one run of each scenario", Fix: "record without --confirm; a run --against a recording may use it"}
	case o.Repeat > 1:
		return &project.UsageError{What: "a recording has one run of each scenario", Fix: "record without --repeat; a run --against a recording may use it"}
	case o.Shard != project.Shard{}:
		return &project.UsageError{What: "a shard cannot be recorded, because it has only some of the scenarios", Fix: "leave out --record here, and use it with lockstep merge"}
	}
	return nil
}
