package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/html"
	"github.com/lockstep-dev/lockstep/internal/regular"
)

func trendCommand(w *environment) *cobra.Command {
	var (
		f   diffFlags // trend reads runs as lockstep diff does
		out string
	)
	cmd := &cobra.Command{
		Use:   "trend folder",
		Short: "Writes an HTML page with the history of a project",
		Long: `Reads every report.json below a folder, and every run.jsonl without a report.json beside it, and shows the history on
one page: how many scenarios match, differ or are unknown, how much of the contract was covered, and how long the
candidates took compared with the reference. The page loads nothing and has no scripts. It lists files that could not be read.

Exit codes: 0 the page was written · 2 flags or files are wrong, or there is no run · 3 the command was interrupted.`,
		Example: `  lockstep trend history --output trend.html
  lockstep trend artifacts > public/trend.html`,
		Args: exactly(1, "one folder", "name the folder that contains the reports of all runs"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.trend(cmd.Context(), args[0], out, w) },
	}
	f.format, f.color = "text", "auto"
	configFlag(cmd, &f.config)
	cmd.Flags().StringVarP(&out, "output", "o", "-", "the file for the page; - for standard output")
	return cmd
}

func (f *diffFlags) trend(ctx context.Context, folder, out string, w *environment) error {
	paths, err := runsBelow(folder)
	if err != nil {
		return &project.UsageError{What: err.Error(), Fix: "name the folder that contains the reports of all runs"}
	}
	var runs []report.Dated
	var left []string
	for _, path := range paths {
		doc, err := f.side(ctx, path, w)
		if ctx.Err() != nil {
			return &exitError{exitUnknown, context.Cause(ctx)}
		}
		name := path
		if short, fault := filepath.Rel(folder, path); fault == nil {
			name = filepath.ToSlash(short)
		}
		if err != nil {
			text, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), path+": "), "\n")
			left = append(left, name+": "+text)
			continue
		}
		runs = append(runs, report.Dated{Name: name, Document: doc})
	}
	trend := report.NewTrend(runs)
	trend.Skipped = append(left, trend.Skipped...)
	for _, text := range trend.Skipped {
		fmt.Fprintf(w.stderr, "note: not shown: %s\n", text)
	}
	if len(trend.Points) == 0 {
		return &project.UsageError{What: "no run to show in " + folder, Fix: "`lockstep run` writes report.json: keep those of several runs, each in its own folder"}
	}
	if out == "-" {
		return html.WriteTrend(w.verbatim, trend)
	}
	err = regular.CheckOutput(out)
	var file *os.File
	if err == nil {
		file, err = os.Create(out)
	}
	if err != nil {
		return &project.UsageError{What: err.Error(), Fix: "name another file with --output"}
	}
	return errors.Join(html.WriteTrend(file, trend), file.Close())
}

// runsBelow returns the reports in a folder and below. A folder without a report counts with its run file.
func runsBelow(folder string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch d.Name() {
		case "report.json":
			paths = append(paths, path)
		case "run.jsonl":
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), "report.json")); errors.Is(err, fs.ErrNotExist) {
				paths = append(paths, path)
			}
		}
		return nil
	})
	return paths, err
}
