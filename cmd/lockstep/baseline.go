package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness"
	"github.com/lockstep-dev/lockstep/harness/baseline"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/problem"
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

func baselineCommand(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Keeps the list of known findings",
		Long: `Keeps the list of known findings. What the baseline has stays known and is not red; what is new is.
"lockstep baseline update" strikes off what is fixed.`,
		Example: "  lockstep baseline update",
		Args:    knownSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return &harness.UsageError{What: "no command of lockstep baseline", Fix: "`lockstep baseline update` strikes off what is fixed"}
		},
	}
	cmd.AddCommand(baselineUpdateCommand(w))
	return cmd
}

func baselineUpdateCommand(w *world) *cobra.Command {
	var f baselineFlags
	cmd := &cobra.Command{
		Use:   "update",
		Short: "Strikes off what is fixed, by the report of the last run",
		Long: `Strikes off the baseline what the last run would have shown and has not, and prints it. New findings
are not added, unless --accept-new says so: then they are printed too. --common adds those alone that
break the contract on all targets in the same way, which no comparison of the targets shows.`,
		Example: `  lockstep baseline update
  lockstep baseline update --accept-new           also makes the first one
  lockstep baseline update --common               what all targets do against the contract, and nothing else
  lockstep baseline update --from nightly/run.jsonl`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.update(cmd.Context(), w) },
	}
	configFlag(cmd, &f.config)
	fl := cmd.Flags()
	fl.StringVar(&f.from, "from", "", "the report.json or run.jsonl of a run (default reports/report.json beside lockstep.yaml)")
	fl.StringVar(&f.file, "baseline", "", "the baseline, relative to lockstep.yaml (default the project's, or reports/baseline.json)")
	fl.BoolVar(&f.acceptNew, "accept-new", false, "add the findings that are new")
	fl.BoolVar(&f.common, "common", false, "add the violations that are new and that all targets share")
	return cmd
}

// knownSubcommand refuses what is no command of a command.
func knownSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	fix := cmp.Or(problem.DidYouMean(args[0], names), "use: "+strings.Join(names, ", "))
	return &harness.UsageError{What: fmt.Sprintf("unknown command %q of %s", args[0], cmd.CommandPath()), Fix: fix}
}

func (f *baselineFlags) update(ctx context.Context, w *world) error {
	if f.acceptNew && f.common {
		return &harness.UsageError{What: "--accept-new and --common at once", Fix: "--accept-new adds all that is new, --common what all targets share of it: leave one out"}
	}
	project, err := load(f.config)
	if err != nil {
		return err
	}
	file := f.path(project)
	known, err := f.known(file)
	if err != nil {
		return err
	}
	run, err := lastRun(ctx, w, project, f.config, f.from)
	if err != nil {
		return err
	}
	ids, err := project.IDs(harness.Selection{})
	if err != nil {
		return err
	}
	kept, fixed := run.Compare(known, ids)
	news := run.News(kept)
	var added []verdict.Known
	switch {
	case f.acceptNew:
		added = news
	case f.common:
		added = run.Common(news)
	}
	text, err := baseline.Text(slices.Concat(kept, added))
	if err != nil {
		return err
	}
	err = regular.CheckNew(file)
	if err == nil {
		err = (&document{file}).write(func(to io.Writer) error { _, err := to.Write(text); return err })
	}
	if err != nil {
		return &harness.UsageError{What: err.Error(), Fix: "name another file with --baseline"}
	}
	for _, k := range fixed {
		fmt.Fprintf(w.stdout, "- %s\n", report.Known(k))
	}
	for _, k := range added {
		fmt.Fprintf(w.stdout, "+ %s\n", report.Known(k))
	}
	fmt.Fprintf(w.stdout, "%s: %s, %d struck off, %d added\n", file, count(len(kept)+len(added), "known finding"), len(fixed), len(added))
	f.remarks(w, run, len(news)-len(added))
	return nil
}

// remarks says what the update has left as it was, and why.
func (f *baselineFlags) remarks(w *world, run *verdict.Run, left int) {
	if !run.Whole() {
		fmt.Fprintln(w.stderr, "the run is not complete, or targets were left out: what it does not show may still be there, and is kept")
	}
	if left > 0 {
		fmt.Fprintf(w.stderr, "%s not added: --accept-new adds what is new\n", count(left, "new finding"))
	}
}

// path returns where the baseline is.
func (f *baselineFlags) path(project *harness.Project) string {
	switch {
	case f.file != "":
		return beside(f.config, f.file)
	case project.BaselineFile != "":
		return project.BaselineFile
	default:
		return beside(f.config, filepath.Join("reports", "baseline.json"))
	}
}

// beside returns a path that is relative to the project's file.
func beside(config, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(config), path)
}

// known reads the baseline. The first one is made by accepting what is new.
func (f *baselineFlags) known(file string) ([]verdict.Known, error) {
	data, err := regular.Read(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && (f.acceptNew || f.common):
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, &harness.UsageError{What: file + ": no such file", Fix: "make the first one with lockstep baseline update --accept-new"}
	case err != nil:
		return nil, err
	}
	known, problems := baseline.Parse(file, data)
	if len(problems) > 0 {
		return nil, problems
	}
	return known, nil
}
