package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// runFlags are the flags of lockstep run.
type runFlags struct {
	config    string
	targets   []string
	reference string
	selection project.Selection
	jobs      int
	seed      uint64
	repeat    int
	confirm   int
	shard     string
	empty     bool
	recording recordingFlags
	step      time.Duration
	scenario  time.Duration
	reports   string
	output    outputFlags
	// lockstep watch sets these: the scenarios to run first, and a function that receives the result.
	first  []string
	judged func(*engine.Result)
}

func runCommand(w *environment) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [scenario or folder ...]",
		Short: "Runs scenarios against all targets and compares what they do",
		Long: `Starts the targets, runs the scenarios on all of them side by side, and compares what they did.

You select scenarios by id, folder or file, and with --tag, --skip-tag and --name. A scenario must fit all of these.
The reports folder gets run.jsonl (everything that crossed the wire), report.html (open it in a browser),
report.json, junit.xml, summary.md and badge.svg.

Exit codes: 0 everything matches or is waived · 1 something differs, a waiver is stale, or the contract coverage is
below what lockstep.yaml demands · 2 flags or files are wrong, nothing was started · 3 something could not be judged.`,
		Example: `  lockstep run
  lockstep run client-tools/register 'client-tools/odd-ids[slash]'
  lockstep run --tag sse --skip-tag slow
  lockstep run --target go --target go            one server against another instance of it
  lockstep run --target go                        one server alone, against the contract
  lockstep run --target go=http://127.0.0.1:3000  a running server alone
  lockstep run --repeat 20                        each scenario 20 times, to find flaky ones
  lockstep run --confirm 3                        what is red again, 3 times: it stays red, and is steady or flaky
  lockstep run --shard 2/8                        the second of eight shards, for lockstep merge
  lockstep run --record recordings                records what the reference did
  lockstep run --against recordings               judges the others against it, without the reference
  lockstep run --format json | jq .totals`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.selection.Paths = args
			if err := checkJobs(cmd, f.jobs); err != nil {
				return err
			}
			if cmd.Flags().Changed("repeat") && f.repeat < 1 {
				return fmt.Errorf("--repeat is %d: write a number above 0", f.repeat)
			}
			switch {
			case f.confirm < 0:
				return fmt.Errorf("--confirm is %d: write how many times a red scenario runs again", f.confirm)
			case f.confirm > 0 && f.repeat > 1:
				return errors.New("--confirm and --repeat both run scenarios again: use one of them")
			}
			return f.run(cmd.Context(), w)
		},
	}
	configFlag(cmd, &f.config)
	fl := cmd.Flags()
	targetFlags(cmd, &f.targets, &f.reference)
	selectionFlags(cmd, &f.selection)
	jobsFlag(cmd, &f.jobs)
	fl.IntVar(&f.repeat, "repeat", 1, "how many times to run each scenario; it is green only if all of its runs are")
	fl.IntVar(&f.confirm, "confirm", 0, "how many times to run a red scenario again on newly started servers, to see whether it is steady or flaky; it stays red")
	fl.Uint64Var(&f.seed, "seed", 0, "the seed that decides which target begins each step (default random, and printed)")
	fl.StringVar(&f.shard, "shard", "", "run one shard of the selection, such as 2/8; auto reads it from the environment of the CI server")
	fl.BoolVar(&f.empty, "allow-empty", false, "exit with 0 if no scenario is selected, or none applies; a path or tag that no scenario has is still an error")
	f.recording.declare(fl)
	fl.DurationVar(&f.step, "step-timeout", 0, "how long a step may take (default the project's, 10s)")
	fl.DurationVar(&f.scenario, "scenario-timeout", 0, "how long a scenario may take (default the project's, 60s)")
	reportsFlag(cmd, &f.reports)
	f.output.register(cmd, "log what happens to the targets, and print every scenario")
	return cmd
}

// validate checks the flags before any file is read.
func (f *runFlags) validate() error {
	if f.step < 0 || f.scenario < 0 {
		return errors.New("--step-timeout and --scenario-timeout must be above 0")
	}
	return f.output.validate()
}

func (f *runFlags) run(ctx context.Context, w *environment) error {
	if err := f.validate(); err != nil {
		return err
	}
	p, err := f.output.load(f.config)
	if err != nil {
		return err
	}
	w = w.masked(p)
	if f.step > 0 {
		p.Limits.Step = f.step
	}
	if f.scenario > 0 {
		p.Limits.Scenario = f.scenario
	}
	monitor := &engine.Monitor{}
	console := newConsole(w, monitor.Status)
	options := f.options(w, console)
	options.Monitor = monitor
	if options.Shard, err = f.shardFlag(w); err != nil {
		return err
	}
	if err := f.recording.against(p, options, console); err != nil {
		return err
	}
	if err := engine.Validate(p, options); err != nil {
		return err
	}
	out, err := f.openReports() // not earlier: a mistyped argument must not cost the reports of the last run
	if err != nil {
		return err
	}
	options.RunFile = out.run
	tape, err := f.recording.open()
	if err != nil {
		return errors.Join(err, out.close())
	}
	if tape != nil {
		options.Record = tape.file
	}
	stop := console.watch(ctx)
	result, err := engine.Run(ctx, p, options)
	stop()
	v := verdict.Unknown
	if result != nil {
		v = result.Verdict
		if f.judged != nil {
			f.judged(result)
		}
		err = errors.Join(err, tape.end(err == nil && result.Incomplete == ""), f.write(result.Document(p), out, w))
	} else {
		err = errors.Join(err, tape.end(false))
	}
	return exitFor(v, errors.Join(err, out.close()))
}

func (f *runFlags) options(w *environment, stderr io.Writer) *engine.Options {
	o := &engine.Options{
		Targets: f.targets, Reference: f.reference, Select: f.selection, AllowEmpty: f.empty, Jobs: f.jobs, Repeat: f.repeat, Confirm: f.confirm, Seed: f.seed, ReferenceVersion: f.recording.version,
		Environ: w.environ, Program: w.program, Today: w.today(), Log: f.logger(stderr), First: f.first,
	}
	if f.output.format == "text" {
		o.Progress = f.output.progress(stderr, f.output.paint(w, w.errorTerminal))
	}
	return o
}

func (f *runFlags) logger(stderr io.Writer) *slog.Logger {
	level := slog.LevelWarn
	if f.output.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
}

// write writes the report files, and the report for standard output.
func (f *runFlags) write(doc *report.Document, out *reports, w *environment) error {
	if out.previous != nil {
		doc.Changes = report.ChangesSince(out.previous, "the run of "+out.previous.Started.UTC().Format("2006-01-02 15:04 UTC"), doc)
	}
	f.output.page = out.page()
	return errors.Join(out.write(doc), f.output.print(doc, w))
}
