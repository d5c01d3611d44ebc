// Package harness runs one script against two or more servers, and shows exactly where they differ.
//
//   - Load reads a project: lockstep.yaml, the contract, the scenarios. It reports all mistakes in them at once.
//   - Run starts the targets, runs the scenarios on them side by side, and returns the judgement.
//   - Judge judges a run file again, and Merge merges the run files of shards. Neither needs a server.
//   - Mutate and Noise measure the scenarios and the targets: which mistakes would go unnoticed, and what differs between two
//     servers that are the same.
//
// Package harnesstest runs a project inside a Go test, and scenarios that are written in Go.
//
// A run only observes, and is judged afterwards. What the targets do is written into a run file as it happens (package
// transcript). Pure functions decide what it means (packages compare, contract and verdict).
package harness

import (
	"context"
	"io"

	"github.com/lockstep-dev/lockstep/harness/code"
	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/lab/mutate"
	"github.com/lockstep-dev/lockstep/harness/lab/mutaterun"
	"github.com/lockstep-dev/lockstep/harness/lab/noise"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/target"
)

// Version is the version of lockstep that run files and reports name.
var Version = engine.Version

type (
	// A Project is lockstep.yaml, with the contract and the scenarios that it names.
	Project = project.Project
	// A Selection says which scenarios run.
	Selection = project.Selection
	// A Shard is one of several parts of a run.
	Shard = project.Shard
	// A UsageError means that an option names something that does not exist. Nothing was started.
	UsageError = project.UsageError
	// Options say what to run and how.
	Options = engine.Options
	// JudgeOptions say how a run file is judged.
	JudgeOptions = engine.JudgeOptions
	// A Result is a run and its judgement.
	Result = engine.Result
	// A RunFile is a run file that has been read.
	RunFile = runfile.File
	// A Part is the run file of one shard.
	Part = runfile.Part
	// MutateOptions say which mutants of a run file are judged.
	MutateOptions = mutaterun.Options
	// NoiseOptions say how the noise of a target is measured.
	NoiseOptions = noise.Options
	// A Client performs the steps of a scenario in Go, see package harnesstest.
	Client = code.Client
	// Keys are what a step does, in the words of scenario files: Keys{"json": note}.
	Keys = code.Keys
)

// Load reads lockstep.yaml, the contract and every scenario. When files have mistakes, the error is scenario.Problems
// with all mistakes of all files.
func Load(file string) (*Project, error) { return project.Load(file) }

// ParseShard parses "2/8", the second of eight shards. The error is a *UsageError.
func ParseShard(text string) (Shard, error) { return project.ParseShard(text) }

// Run starts the targets, runs the selected scenarios on them, stops the targets and returns the judgement; see
// [engine.Run]. A difference is not an error.
func Run(ctx context.Context, p *Project, options *Options) (*Result, error) {
	return engine.Run(ctx, p, options)
}

// Judge judges a run file again, without any server; see [engine.Judge].
func Judge(ctx context.Context, p *Project, file io.Reader, options *JudgeOptions) (*Result, error) {
	return engine.Judge(ctx, p, file, options)
}

// Merge reads the run files of all shards of a run and returns what one run would have written; see [runfile.Merge].
func Merge(p *Project, parts []Part) (*RunFile, error) { return runfile.Merge(p, parts) }

// Mutate changes one thing at a time in what the candidates of a green run did, and reports which changes would go
// unnoticed; see [mutaterun.Run].
func Mutate(ctx context.Context, p *Project, file io.Reader, options *MutateOptions) (*mutate.Score, error) {
	return mutaterun.Run(ctx, p, file, options)
}

// Noise runs a target against itself several times, and reports which rules would accept the differences; see
// [noise.Measure].
func Noise(ctx context.Context, p *Project, options *NoiseOptions) (*noise.Report, error) {
	return noise.Measure(ctx, p, options)
}

// AdoptOrphans is for a program whose only child processes are those that this package starts. On Linux, processes that
// targets leave behind then become its children. They are found and ended with the targets, even if nothing else shows
// where they came from.
func AdoptOrphans() { target.AdoptOrphans() }
