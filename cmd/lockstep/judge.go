package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/regular"
)

// judgeFlags are the flags of lockstep judge.
type judgeFlags struct {
	config string
	outputFlags
}

func judgeCommand(w *world) *cobra.Command {
	var f judgeFlags
	cmd := &cobra.Command{
		Use:   "judge [run file]",
		Short: "Judges a run file again, without any server",
		Long: `Judges a run file again, without any server, and prints what the run printed. The run file is
reports/run.jsonl beside lockstep.yaml unless another is named. It must be complete, and the contract and the scenarios
must be those that it was made with; the rules of lockstep.yaml, and waivers, are taken as they are now.

Exit codes: 0 all match, or is waived · 1 something differs, a waiver is stale, or less of the contract is
reached than lockstep.yaml demands · 2 flags or files are wrong, nothing was judged · 3 something could not be judged.`,
		Example: `  lockstep judge
  lockstep judge nightly/run.jsonl --verbose
  lockstep judge --format json | jq .totals`,
		Args: oneRunFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.judge(cmd.Context(), runFile(f.config, args), w)
		},
	}
	configFlag(cmd, &f.config)
	f.register(cmd, "print each scenario, and all findings")
	return cmd
}

// oneRunFile refuses more than one argument.
func oneRunFile(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return &harness.UsageError{What: fmt.Sprintf("%s takes one run file, and %q is another", cmd.Name(), args[1]), Fix: "leave it out"}
}

// runFile returns the run file that is meant: by default that of the last run of the project.
func runFile(config string, args []string) string {
	if len(args) == 1 {
		return args[0]
	}
	return filepath.Join(filepath.Dir(config), "reports", "run.jsonl")
}

func (f *judgeFlags) judge(ctx context.Context, path string, w *world) error {
	if err := f.validate(); err != nil {
		return err
	}
	project, file, err := openRun(f.config, path, f.load)
	if err != nil {
		return err
	}
	defer file.Close()
	monitor := &harness.Monitor{}
	console := newConsole(w, monitor.Status)
	options := &harness.JudgeOptions{
		Monitor: monitor, Note: func(text string) { fmt.Fprintf(console, "note: %s\n", text) },
		Today: w.today(), Environ: w.environ,
	}
	if f.format == "text" {
		options.Progress = f.progress(console, f.paint(w, w.errorTerminal))
	}
	stop := console.watch(ctx)
	result, err := project.Judge(ctx, bufio.NewReaderSize(file, 1<<20), options)
	stop()
	if err != nil {
		return unreadable(path, err)
	}
	return ending(result.Verdict, f.print(result.Document(project), w))
}

// openRun opens a run file, and reads the project that it is of.
func openRun(config, path string, load func(config string) (*harness.Project, error)) (*harness.Project, *os.File, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, nil, &harness.UsageError{What: err.Error(), Fix: "`lockstep run` writes it, or name another run file"}
	}
	project, err := load(config)
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return project, file, nil
}

// unreadable says what is wrong with a run file.
func unreadable(path string, err error) error {
	if errors.Is(err, transcript.ErrIncomplete) {
		return &harness.UsageError{What: fmt.Sprintf("%s: %s", path, err), Fix: "run again: a run that was interrupted, or is still under way, has no judgement"}
	}
	return fmt.Errorf("%s: %w", path, err)
}
