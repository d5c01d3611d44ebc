package engine

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
)

// Validate checks whether Run can do what the options ask for. The error is a *UsageError when they name something that
// does not exist, and scenario.Problems when a target's program is missing. It starts nothing and touches no file that
// they name.
func Validate(p *project.Project, options *Options) error {
	opts := options.withDefaults()
	_, _, _, err := plan(p, opts)
	return err
}

// plan returns the targets to run, the reference first, whether there is only one target, and the scenarios of all
// shards.
func plan(p *project.Project, opts Options) (targets []project.Target, alone bool, scenarios []*scenario.Scenario, err error) {
	if opts.Against != nil {
		targets, err = p.ChooseCandidates(opts.Targets, opts.Reference, opts.Against.Reference())
	} else {
		targets, alone, err = p.ChooseTargets(opts.Targets, opts.Reference)
	}
	if err != nil {
		return nil, false, nil, err
	}
	if err := checkRecordable(&opts); err != nil {
		return nil, false, nil, err
	}
	if scenarios, err = opts.Select.Matching(p.Scenarios); err != nil {
		return nil, false, nil, err
	}
	if err := opts.Shard.Validate(); err != nil {
		return nil, false, nil, err
	}
	switch {
	case opts.AllowEmpty:
	case len(scenarios) == 0:
		return nil, false, nil, opts.Select.EmptyError(p.Scenarios)
	case len(opts.Shard.Take(scenarios)) == 0:
		return nil, false, nil, opts.Shard.EmptyError(len(scenarios))
	}
	return targets, alone, scenarios, prepare(p, &opts, targets)
}

// prepare checks and completes what targets start with.
func prepare(p *project.Project, opts *Options, targets []project.Target) error {
	if err := p.CheckBaseline(); err != nil {
		return err
	}
	if err := project.FillVariables(opts.live(targets), opts.Environ); err != nil {
		return err
	}
	return p.CheckCommands(opts.live(targets), opts.Environ)
}

// versions returns the versions of the targets, by name, as far as the project or a recording states them.
func versions(p *project.Project, against *runfile.Recording, targets []project.Target) (map[string]string, error) {
	out := map[string]string{}
	for i, t := range targets {
		version, err := p.Version(t.Spec.Name)
		if err != nil {
			return nil, err
		}
		if i == 0 && against != nil {
			version = against.Header.Recording.Version
		}
		if version != "" {
			out[t.Spec.Name] = version
		}
	}
	return out, nil
}

// Run starts the targets, runs the selected scenarios on them, stops the targets and returns the judgement.
//
// When the options name something that does not exist, Run returns the error of Validate and starts nothing. If a
// target does not start, or after an interrupt, the run is incomplete, but there is no error. If the run file cannot be
// written, Run returns the judgement and the error.
func Run(ctx context.Context, p *project.Project, options *Options) (*Result, error) {
	opts := options.withDefaults()
	targets, alone, selection, err := plan(p, opts)
	if err != nil {
		return nil, err
	}
	if opts.Seed == 0 {
		opts.Seed = commonSeed(p, selection)
	}
	result := &Result{Started: time.Now(), Seed: opts.Seed, Jobs: opts.Jobs, Alone: alone}
	result.Partial, result.Shard, result.AllowEmpty = isPartial(p, project.TargetNames(targets), alone), shardOf(opts.Shard, len(selection)), opts.AllowEmpty
	if result.Versions, err = versions(p, opts.Against, targets); err != nil {
		return nil, err
	}
	e := &execution{
		judgement: newJudgement(p, &opts, opts.Shard.Take(selection), result),
		opts:      opts, targets: targets, jobs: newJobLimit(opts.Jobs),
	}
	if e.outputs, err = openOutputs(e, selection); err != nil {
		return nil, err
	}
	opts.Monitor.Begin(len(e.judgement.scenarios), project.TargetNames(targets)...)
	e.drive(ctx)
	e.probe(ctx)
	e.judgement.conclude(ctx, e.interrupted())
	return result, e.outputs.close(result)
}

// commonSeed derives the same seed for all shards of a run from what they run.
func commonSeed(p *project.Project, selection []*scenario.Scenario) uint64 {
	text := strings.Join(slices.Concat([]string{p.Sums.Contract, p.Sums.Scenarios, p.Sums.Rules}, project.IDs(selection)), "\n")
	digest := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint64(digest[:])>>11 | 1
}
