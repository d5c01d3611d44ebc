package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/lab/mutaterun"
)

// mutateFlags are the flags of lockstep mutate.
type mutateFlags struct {
	config  string
	seed    uint64
	sample  int
	all     bool
	json    bool
	verbose bool
	atLeast float64
}

func mutateCommand(w *environment) *cobra.Command {
	var f mutateFlags
	cmd := &cobra.Command{
		Use:   "mutate [run file]",
		Short: "Shows which bugs of a candidate the scenarios would not find",
		Long: `Takes what the candidates did in a green run, changes one thing at a time, as a server with one bug would, and judges
the scenario with each change. Such a change is a mutant. lockstep mutate prints how many mutants were killed, which
survived, and which rule hides them. Changes that no client could notice must not be found; if one is, it is a false alarm.

The run file is reports/run.jsonl beside lockstep.yaml unless you name another. No server is started.

Exit codes: 0 enough mutants were killed · 1 fewer than --at-least, or a false alarm · 2 flags or files are wrong ·
3 the run is not green, or the analysis was interrupted.`,
		Example: `  lockstep mutate
  lockstep mutate --all --json | jq .survivors
  lockstep mutate --sample 5000 --seed 7 --at-least 95`,
		Args: atMostOne("run file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.mutate(cmd.Context(), runFile(f.config, args), w)
		},
	}
	configFlag(cmd, &f.config)
	fl := cmd.Flags()
	fl.Uint64Var(&f.seed, "seed", 1, "the seed that decides which mutants are judged, and which values they get")
	fl.IntVar(&f.sample, "sample", 30000, "how many mutants are judged at most, evenly spread over the operators")
	fl.BoolVar(&f.all, "all", false, "judge all mutants, however long it takes")
	fl.BoolVar(&f.json, "json", false, "print the score as JSON, with every mutant that survived")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "list every operator, and every mutant that survived")
	fl.Float64Var(&f.atLeast, "at-least", 98, "the percentage of relevant mutants that must be killed")
	return cmd
}

func (f *mutateFlags) validate() error {
	switch {
	case f.sample < 1:
		return fmt.Errorf("--sample is %d: write a number above 0, or --all", f.sample)
	case f.atLeast < 0 || f.atLeast > 100:
		return fmt.Errorf("--at-least is %g: write a percentage from 0 to 100", f.atLeast)
	}
	return nil
}

func (f *mutateFlags) mutate(ctx context.Context, path string, w *environment) error {
	if err := f.validate(); err != nil {
		return err
	}
	p, file, err := openRun(f.config, path, load)
	if err != nil {
		return err
	}
	defer file.Close()
	monitor := &engine.Monitor{}
	console := newConsole(w, monitor.Status)
	options := &mutaterun.Options{Seed: f.seed, Sample: f.sample, Monitor: monitor}
	if f.all {
		options.Sample = 0
	}
	stop := console.watch(ctx)
	score, err := mutaterun.Run(ctx, p, bufio.NewReaderSize(file, 1<<20), options)
	stop()
	switch {
	case errors.Is(err, mutaterun.ErrNotGreen):
		return &exitError{exitUnknown, fmt.Errorf("%s: %w", path, err)}
	case err != nil:
		return runFileError(path, err)
	}
	if f.json {
		err = score.JSON(w.verbatim)
	} else {
		err = score.Text(w.stdout, f.verbose)
	}
	switch {
	case score.Incomplete != "" || err != nil:
		return &exitError{exitUnknown, err}
	case score.Percent() < f.atLeast || len(score.FalseAlarms) > 0:
		return &exitError{exitDiffer, nil}
	}
	return nil
}
