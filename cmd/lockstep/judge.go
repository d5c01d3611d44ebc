package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/engine"
)

// judgeFlags are the flags of lockstep judge.
type judgeFlags struct {
	config  string
	reports string
	outputFlags
}

func judgeCommand(w *environment) *cobra.Command {
	var f judgeFlags
	cmd := &cobra.Command{
		Use:   "judge [run file]",
		Short: "Judges a recorded run again, without any server",
		Long: `Judges a run file again, without any server, and prints the result as lockstep run does. The reports beside the run
file are written anew. It is reports/run.jsonl beside lockstep.yaml unless you name another. It must be complete, and the contract and the scenarios
must not have changed since the run. The current rules of lockstep.yaml and the current waivers apply.

Exit codes: 0 everything matches or is waived · 1 something differs, a waiver is stale, or the contract coverage is
below what lockstep.yaml demands · 2 flags or files are wrong, nothing was judged · 3 something could not be judged.`,
		Example: `  lockstep judge
  lockstep judge nightly/run.jsonl --verbose
  lockstep judge --format json | jq .totals`,
		Args: atMostOne("run file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.judge(cmd.Context(), runFile(f.config, args), w)
		},
	}
	configFlag(cmd, &f.config)
	cmd.Flags().StringVarP(&f.reports, "reports", "o", "", "the folder for the reports (default that of the run file); - for none")
	f.register(cmd, "print every scenario and all findings")
	return cmd
}

func (f *judgeFlags) judge(ctx context.Context, path string, w *environment) error {
	if err := f.validate(); err != nil {
		return err
	}
	p, file, err := openRun(f.config, path, f.load)
	if err != nil {
		return err
	}
	defer file.Close()
	console, options := f.judging(w)
	stop := console.watch(ctx)
	result, err := engine.Judge(ctx, p, bufio.NewReaderSize(file, 1<<20), options)
	stop()
	if err != nil {
		return runFileError(path, err)
	}
	doc := result.Document(p)
	out, err := openDocuments(cmp.Or(f.reports, filepath.Dir(path))) // not earlier: this removes the reports of before
	if err == nil {
		f.page = out.page()
		err = errors.Join(out.write(doc), out.close())
	}
	return exitFor(result.Verdict, errors.Join(err, f.print(doc, w)))
}
