package main

import (
	"context"
	"errors"
	"fmt"
	"io"
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

func siteCommand(w *environment) *cobra.Command {
	var (
		f   diffFlags // site reads runs as lockstep diff does
		out string
	)
	cmd := &cobra.Command{
		Use:   "site folder",
		Short: "Writes the history of a project as a static site",
		Long: `Reads every report.json below a folder, and every run.jsonl without a report.json beside it, and writes a site: index.html
shows how many scenarios match, differ or are unknown, the findings of each candidate by operation, when each finding was first
and last seen, how much of the contract was covered, and how long the candidates took compared with the reference. It leads to a
page for each run, and has a badge for each candidate. A report.html beside report.json is kept if this version of lockstep wrote
it; else the page has no messages. The site needs no server, and loads nothing from elsewhere. It lists files that could not be
read.

Exit codes: 0 the site was written · 2 flags or files are wrong, or there is no run · 3 the command was interrupted.`,
		Example: `  lockstep site history --output public
  lockstep site artifacts -o /srv/www/lockstep`,
		Args: exactly(1, "one folder", "name the folder that contains the reports of all runs"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.site(cmd.Context(), args[0], out, w) },
	}
	f.format, f.color = "text", "auto"
	configFlag(cmd, &f.config)
	cmd.Flags().StringVarP(&out, "output", "o", "site", "the folder for the site")
	return cmd
}

func (f *diffFlags) site(ctx context.Context, folder, out string, w *environment) error {
	trend, err := f.history(ctx, folder, w)
	if err != nil {
		return err
	}
	files := html.Site(trend)
	for _, file := range files {
		if err = ctx.Err(); err != nil {
			return &exitError{exitUnknown, context.Cause(ctx)}
		}
		if err = writeSiteFile(out, folder, file, trend); err != nil {
			return &project.UsageError{What: err.Error(), Fix: "name another folder with --output"}
		}
	}
	fmt.Fprintf(w.stdout, "%s: %s of %s\n", filepath.Join(out, "index.html"), count(len(files), "file"), count(len(trend.Points), "run"))
	return nil
}

// history reads the runs below a folder.
func (f *diffFlags) history(ctx context.Context, folder string, w *environment) (*report.Trend, error) {
	paths, err := runsBelow(folder)
	if err != nil {
		return nil, &project.UsageError{What: err.Error(), Fix: "name the folder that contains the reports of all runs"}
	}
	var runs []report.Dated
	var left []string
	for _, path := range paths {
		doc, err := f.side(ctx, path, w)
		if ctx.Err() != nil {
			return nil, &exitError{exitUnknown, context.Cause(ctx)}
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
		return nil, &project.UsageError{What: "no run to show in " + folder, Fix: "`lockstep run` writes report.json: keep those of several runs, each in its own folder"}
	}
	return trend, nil
}

// writeSiteFile writes a file of a site. The page that a run wrote has its messages, so it is kept.
func writeSiteFile(out, folder string, file html.File, trend *report.Trend) error {
	path := filepath.Join(out, filepath.FromSlash(file.Name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	write := file.Write
	if file.Run >= 0 {
		own := filepath.Join(folder, filepath.Dir(filepath.FromSlash(trend.Points[file.Run].Name)), "report.html")
		if content, err := regular.Read(own); err == nil && html.IsPage(content) {
			write = func(w io.Writer) error { _, err := w.Write(content); return err }
		}
	}
	to, err := regular.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(to), to.Close())
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
