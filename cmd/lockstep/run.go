package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// runFlags are the flags of lockstep run.
type runFlags struct {
	config    string
	targets   []string
	reference string
	selection harness.Selection
	jobs      int
	seed      uint64
	step      time.Duration
	scenario  time.Duration
	format    string
	reports   string
	color     string
	verbose   bool
}

func runCommand(w *world) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [scenario or folder ...]",
		Short: "Runs scenarios against all targets and judges what they did",
		Long: `Starts the targets, walks the scenarios through them side by side, and judges what they did.

Scenarios are selected by id, folder or file, and by --tag, --skip-tag and --name; all of these must fit.
The reports folder gets run.jsonl (everything that crossed the wire), report.json and junit.xml.

Exit codes: 0 all match · 1 something differs · 2 flags or files are wrong, nothing was started ·
3 something could not be judged.`,
		Example: `  lockstep run
  lockstep run client-tools/register 'client-tools/odd-ids[slash]'
  lockstep run --tag sse --skip-tag slow
  lockstep run --target go --target go            one server against another of its kind
  lockstep run --target go                        one server alone, against the contract
  lockstep run --target go=http://127.0.0.1:3000  a server that already runs, alone
  lockstep run --format json | jq .totals`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.selection.Paths = args
			return f.run(cmd.Context(), w)
		},
	}
	configFlag(cmd, &f.config)
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.targets, "target", "t", nil, "a target of the project, or name=URL of a server that runs; again for more (default all)")
	fl.StringVar(&f.reference, "reference", "", "the target that is taken as right (default the project's)")
	fl.StringSliceVar(&f.selection.Tags, "tag", nil, "only scenarios with this tag; again to ask for several tags")
	fl.StringSliceVar(&f.selection.Skip, "skip-tag", nil, "no scenarios with this tag")
	fl.StringArrayVarP(&f.selection.Names, "name", "n", nil, "only scenarios with this text in their id or why")
	fl.IntVarP(&f.jobs, "jobs", "j", 0, "scenarios at a time (default twice the processors, at least 4)")
	fl.Uint64Var(&f.seed, "seed", 0, "decides which target starts a step (default drawn, and printed)")
	fl.DurationVar(&f.step, "step-timeout", 0, "how long a step may take (default the project's, 10s)")
	fl.DurationVar(&f.scenario, "scenario-timeout", 0, "how long a scenario may take (default the project's, 60s)")
	fl.StringVarP(&f.format, "format", "f", "text", "what goes to standard output: text, json, junit")
	fl.StringVarP(&f.reports, "reports", "o", "reports", "the folder for run.jsonl, report.json and junit.xml, relative to lockstep.yaml; - for none")
	fl.StringVar(&f.color, "color", "auto", "colour: auto, always, never")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "log what happens to the targets, and print each scenario")
	return cmd
}

// validate checks what can be checked before anything is read.
func (f *runFlags) validate() error {
	switch {
	case f.format != "text" && f.format != "json" && f.format != "junit":
		return fmt.Errorf("--format is %q: write text, json or junit", f.format)
	case f.color != "auto" && f.color != "always" && f.color != "never":
		return fmt.Errorf("--color is %q: write auto, always or never", f.color)
	case f.jobs < 0:
		return fmt.Errorf("--jobs is %d: write how many scenarios may run at a time", f.jobs)
	case f.step < 0 || f.scenario < 0:
		return errors.New("--step-timeout and --scenario-timeout are times above 0")
	}
	return nil
}

func (f *runFlags) run(ctx context.Context, w *world) (err error) {
	if err := f.validate(); err != nil {
		return err
	}
	project, err := harness.Load(f.config)
	if err != nil {
		return err
	}
	if f.step > 0 {
		project.Limits.Step = f.step
	}
	if f.scenario > 0 {
		project.Limits.Scenario = f.scenario
	}
	out, err := f.openReports()
	if err != nil {
		return &runError{err}
	}
	defer func() { err = errors.Join(err, out.close()) }()
	paint := report.Paint{Color: f.colored(w), Verbose: f.verbose}
	options := &harness.Options{
		Targets: f.targets, Reference: f.reference, Select: f.selection, Jobs: f.jobs, Seed: f.seed,
		RunFile: out.run, Environ: w.environ, Log: f.logger(w),
	}
	if f.format == "text" {
		options.Progress = func(done, of int, s *verdict.Scenario) { report.Progress(w.stderr, paint, done, of, s) }
	}
	result, err := project.Run(ctx, options)
	if err != nil {
		if _, usage := errors.AsType[*harness.UsageError](err); usage {
			return err
		}
		return &runError{err}
	}
	if err := f.write(result.Document(project), out, w, paint); err != nil {
		return &runError{err}
	}
	return exitOf(result.Verdict)
}

func exitOf(v verdict.Verdict) error {
	switch v {
	case verdict.Match:
		return nil
	case verdict.Differ:
		return &exitError{code: exitDiffer}
	default:
		return &exitError{code: exitUnknown}
	}
}

// colored decides about colour in the order of the flag, NO_COLOR and TERM, CLICOLOR_FORCE, the terminal.
func (f *runFlags) colored(w *world) bool {
	switch {
	case f.color != "auto":
		return f.color == "always"
	case w.getenv("NO_COLOR") != "" || w.getenv("TERM") == "dumb":
		return false
	case w.getenv("CLICOLOR_FORCE") != "" && w.getenv("CLICOLOR_FORCE") != "0":
		return true
	default:
		return w.terminal
	}
}

func (f *runFlags) logger(w *world) *slog.Logger {
	level := slog.LevelWarn
	if f.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(w.stderr, &slog.HandlerOptions{Level: level}))
}

// reports are the files of a run. All writers discard when no folder is wanted.
type reports struct {
	run, json, junit io.Writer
	files            []*os.File
}

func (f *runFlags) openReports() (*reports, error) {
	r := &reports{io.Discard, io.Discard, io.Discard, nil}
	if f.reports == "-" {
		return r, nil
	}
	dir := f.reports
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(f.config), dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("reports: %w", err)
	}
	for name, to := range map[string]*io.Writer{"run.jsonl": &r.run, "report.json": &r.json, "junit.xml": &r.junit} {
		file, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("reports: %w", err), r.close())
		}
		r.files = append(r.files, file)
		*to = file
	}
	return r, nil
}

func (r *reports) close() error {
	var err error
	for _, file := range r.files {
		err = errors.Join(err, file.Close())
	}
	return err
}

// write writes the reports, and the one that standard output is to have.
func (f *runFlags) write(doc *report.Document, out *reports, w *world, paint report.Paint) error {
	err := errors.Join(report.JSON(out.json, doc), report.JUnit(out.junit, doc))
	switch f.format {
	case "json":
		err = errors.Join(err, report.JSON(w.stdout, doc))
	case "junit":
		err = errors.Join(err, report.JUnit(w.stdout, doc))
	default:
		err = errors.Join(err, report.Text(w.stdout, doc, paint))
	}
	return err
}
