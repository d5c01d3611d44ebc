package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/harness/verdict/baseline"
	"github.com/lockstep-dev/lockstep/internal/regular"
)

// baselineFlags are the flags of lockstep baseline update.
type baselineFlags struct {
	config    string
	from      string
	file      string
	acceptNew bool
	common    bool
}

func baselineCommand(w *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Manages the list of known findings",
		Long: `Manages the baseline, the list of known findings. A finding that is in the baseline does not fail a run; a new one
does. "lockstep baseline update" removes the findings that are fixed.`,
		Example: "  lockstep baseline update",
		Args:    knownSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return &project.UsageError{What: "baseline needs a command", Fix: "`lockstep baseline update` removes the findings that are fixed"}
		},
	}
	cmd.AddCommand(baselineUpdateCommand(w))
	return cmd
}

func baselineUpdateCommand(w *environment) *cobra.Command {
	var f baselineFlags
	cmd := &cobra.Command{
		Use:   "update",
		Short: "Removes fixed findings from the baseline, according to the last run",
		Long: `Removes the findings that the last run would have shown but did not, and prints them. It adds new findings
only with --accept-new, and prints these too. With --common, it adds only those that break the contract on
all targets in the same way, because comparing the targets cannot show them.`,
		Example: `  lockstep baseline update
  lockstep baseline update --accept-new           also creates the first baseline
  lockstep baseline update --common               adds only contract violations that all targets share
  lockstep baseline update --from nightly/run.jsonl`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.update(cmd.Context(), w) },
	}
	configFlag(cmd, &f.config)
	fl := cmd.Flags()
	fl.StringVar(&f.from, "from", "", "the report.json or run.jsonl of a run (default reports/report.json beside lockstep.yaml)")
	fl.StringVar(&f.file, "baseline", "", "the baseline, relative to lockstep.yaml (default the project's, or reports/baseline.json)")
	fl.BoolVar(&f.acceptNew, "accept-new", false, "also add new findings")
	fl.BoolVar(&f.common, "common", false, "also add new contract violations that all targets share")
	return cmd
}

func (f *baselineFlags) update(ctx context.Context, w *environment) error {
	if f.acceptNew && f.common {
		return &project.UsageError{What: "--accept-new and --common exclude each other", Fix: "leave one out: --accept-new adds all new findings, --common only contract violations that all targets share"}
	}
	p, err := load(f.config)
	if err != nil {
		return err
	}
	file := f.path(p)
	known, err := f.known(p, file)
	if err != nil {
		return err
	}
	run, err := lastRun(ctx, w, p, f.config, f.from)
	if err != nil {
		return err
	}
	ids, err := p.IDs(project.Selection{})
	if err != nil {
		return err
	}
	kept, fixed := run.DivideBaseline(known, ids)
	news := run.NewFindings(kept)
	var added []baseline.Entry
	switch {
	case f.acceptNew:
		added = news
	case f.common:
		added = run.SharedViolations(news)
	}
	content, err := baseline.Text(slices.Concat(kept, added))
	if err != nil {
		return err
	}
	err = regular.CheckNew(file)
	if err == nil {
		err = (&document{file}).write(func(to io.Writer) error { _, err := to.Write(content); return err })
	}
	if err != nil {
		return &project.UsageError{What: err.Error(), Fix: "name another file with --baseline"}
	}
	for _, k := range fixed {
		fmt.Fprintf(w.stdout, "- %s\n", text.BaselineLine(k))
	}
	for _, k := range added {
		fmt.Fprintf(w.stdout, "+ %s\n", text.BaselineLine(k))
	}
	fmt.Fprintf(w.stdout, "%s: %s, %d removed, %d added\n", file, count(len(kept)+len(added), "known finding"), len(fixed), len(added))
	f.remarks(w, run, len(news)-len(added))
	return nil
}

// remarks prints what the update did not change, and why.
func (f *baselineFlags) remarks(w *environment, run *verdict.Run, left int) {
	if !run.Complete() {
		fmt.Fprintln(w.stderr, "the run is incomplete or left out targets, so known findings that it does not show are kept")
	}
	if left > 0 {
		fmt.Fprintf(w.stderr, "%s not added; --accept-new adds them\n", count(left, "new finding"))
	}
}

// path returns the path of the baseline.
func (f *baselineFlags) path(p *project.Project) string {
	switch {
	case f.file != "":
		return beside(f.config, f.file)
	case p.BaselineFile != "":
		return p.BaselineFile
	default:
		return beside(f.config, filepath.Join("reports", "baseline.json"))
	}
}

// known reads the baseline. It may be missing if new findings are accepted, because that creates the first one.
func (f *baselineFlags) known(p *project.Project, file string) ([]baseline.Entry, error) {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) && (f.acceptNew || f.common) {
		return nil, nil
	}
	other := *p // a copy, because the run is judged with the project's own baseline
	err := other.UseBaseline(file)
	return other.Baseline, err
}
