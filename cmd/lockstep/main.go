// Command lockstep runs one script against two servers and shows exactly where they part.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/lockstep-dev/lockstep/harness"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/legible"
)

// The exit codes.
const (
	exitMatch   = 0 // every verdict is match or waived
	exitDiffer  = 1 // at least one difference, violation or shortfall that is not accepted, a stale waiver, or too little coverage
	exitUsage   = 2 // flags or a file are wrong; nothing was started
	exitUnknown = 3 // none differ, but at least one scenario could not be judged, the run is incomplete, or an output could not be written
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	signal.Notify(make(chan os.Signal, 1), brokenWrites()...)
	harness.AdoptOrphans()
	program, _ := os.Executable() // without it, targets look for lockstep in their PATH
	os.Exit(run(ctx, os.Args[1:], &world{
		program: program,
		stdin:   os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(), getenv: os.Getenv,
		terminal:      term.IsTerminal(int(os.Stdout.Fd())),
		errorTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		width:         width, now: time.Now,
	}))
}

// endings are the signals that end a run in order. A program that was started to outlive its terminal, as nohup does,
// does not hear of the terminal's end.
func endings() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// width returns how many columns the terminal behind standard error has, 0 when that is not known.
func width() int {
	columns, _, _ := term.GetSize(int(os.Stderr.Fd()))
	return columns
}

// world is what the program touches outside itself.
type world struct {
	program        string // what runs
	stdin          io.Reader
	stdout, stderr io.Writer
	verbatim       io.Writer // stdout as it is, for what is no text for people, or commands of ours
	environ        []string
	getenv         func(string) string
	terminal       bool       // stdout is one
	errorTerminal  bool       // stderr is one
	width          func() int // columns of stderr
	now            func() time.Time
}

// today is the time that decides which waivers have expired.
func (w *world) today() time.Time {
	if w.now == nil {
		return time.Now()
	}
	return w.now()
}

// covered returns a world whose output does not show a project's secrets.
func (w *world) covered(p *harness.Project) *world {
	out := *w
	out.stdout, out.stderr, out.verbatim = p.Cover(w.stdout, w.environ), p.Cover(w.stderr, w.environ), p.Cover(w.verbatim, w.environ)
	return &out
}

// An exitError ends the program with a code. Its message, if it has one, has not been printed yet. Every other error
// says that flags or files are wrong, and that nothing was started.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string, w *world) int {
	own := *w
	w = &own
	out := &output{to: w.stdout}
	w.verbatim, w.stdout, w.stderr = out, legible.NewWriter(out), legible.NewWriter(w.stderr)
	root := rootCommand(w)
	root.SetArgs(args)
	err := out.ending(root.ExecuteContext(ctx))
	if err == nil {
		return exitMatch
	}
	tell(w.stderr, err)
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	return exitUsage
}

// tell says what went wrong. Mistakes in files begin with their places, where editors look for them.
func tell(w io.Writer, err error) {
	text := err.Error()
	if problems, ok := errors.AsType[scenario.Problems](err); ok {
		fmt.Fprintln(w, problems.Error())
		text = count(len(problems), "mistake")
	}
	if text != "" {
		fmt.Fprintf(w, "lockstep: %s\n", text)
	}
}

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func rootCommand(w *world) *cobra.Command {
	root := &cobra.Command{
		Use:   "lockstep",
		Short: "Runs one script against two servers and shows exactly where they part",
		Long: `lockstep runs one script against two servers and shows exactly where they part.

An OpenAPI document is the contract, scenarios are the script, and lockstep.yaml says which servers run.
What they answer is compared: statuses, headers, JSON, event streams. Whatever differs is shown with
both values, and with what the contract says of each side.`,
		Example: `  lockstep run                            all scenarios, all targets of lockstep.yaml
  lockstep run client-tools --jobs 2      the scenarios below scenarios/client-tools, two at a time
  lockstep run --target go                one target alone, against the contract
  lockstep judge                          the last run again, without any server
  lockstep lint                           every mistake in lockstep.yaml, the contract and the scenarios`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Version:           harness.Version,
		Args:              knownCommand,
		PersistentPreRunE: noEmptyFlags,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(w.stderr)
			if err := cmd.Help(); err != nil {
				return err
			}
			return &harness.UsageError{What: "no command", Fix: "`lockstep run` compares, `lockstep lint` looks for mistakes"}
		},
	}
	root.SetOut(w.stdout)
	root.SetErr(w.stderr)
	root.SetVersionTemplate("lockstep {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.DisableDefaultCmd = true // there is one below, with examples
	root.AddCommand(runCommand(w), judgeCommand(w), waiveCommand(w), baselineCommand(w), coverageCommand(w), mutateCommand(w), noiseCommand(w), lintCommand(w), versionCommand(w))
	root.AddCommand(diffCommand(w), mergeCommand(w), trendCommand(w))
	root.AddCommand(initCommand(w), listCommand(w), explainCommand(w), viewCommand(w), watchCommand(w), completionCommand(w), stubCommand(w))
	completions(root)
	examplesFirst(root)
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Example = "  lockstep help run"
		help.Args = knownCommand // it would explain the program instead of a command that is not there
	}
	return root
}

func versionCommand(w *world) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Prints the version",
		Example: "  lockstep version",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintf(w.stdout, "lockstep %s\n", harness.Version)
			return nil
		},
	}
}

func lintCommand(w *world) *cobra.Command {
	var config string
	cmd := &cobra.Command{
		Use:   "lint",
		Short: "Reports every mistake in lockstep.yaml, the contract and the scenarios",
		Long: `Reports every mistake in lockstep.yaml, the contract and the scenarios, each with its file, line and
column, and with what to write instead. Starts nothing. Exits with 2 when there is a mistake.`,
		Example: `  lockstep lint
  lockstep lint --config examples/notes/lockstep.yaml`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			p, err := load(config)
			if err != nil {
				return err
			}
			for _, note := range append(p.Contract.Unjudged(), p.Contract.Loose()...) {
				fmt.Fprintf(w.stderr, "note: %s\n", note.Error())
			}
			if slices.ContainsFunc(p.Baseline, func(k verdict.Known) bool { return k.Target == "" }) {
				fmt.Fprintf(w.stderr, "note: %s: some findings name no target, so they are known of each\n\tfix: lockstep run, with all targets, then lockstep baseline update\n", p.BaselineFile)
			}
			fmt.Fprintf(w.stdout, "%s: no mistakes in %s\n", config, count(len(p.Scenarios), "scenario"))
			return nil
		},
	}
	configFlag(cmd, &config)
	return cmd
}

func configFlag(cmd *cobra.Command, config *string) {
	cmd.Flags().StringVarP(config, "config", "c", "lockstep.yaml", "the project's file")
}
