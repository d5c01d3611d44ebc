package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/jsonreport"
	"github.com/lockstep-dev/lockstep/harness/report/markdown"
	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// diffFlags are the flags of lockstep diff.
type diffFlags struct {
	config string
	outputFlags
	project *project.Project // loaded for the first run file
}

func diffCommand(w *environment) *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff before after",
		Short: "Compares two runs: which findings are new, changed, fixed and unchanged",
		Long: `Compares two runs and prints which findings are new, changed, fixed and unchanged, the worst first.
Each side is a run.jsonl, which is judged by the current rules and waivers, or a report.json, which is used as it is.
Both runs must be complete and have the same contract, scenarios, targets and reference. A finding is unchanged if its
scenario, place, target, class, kind and fingerprint are the same. It has changed if only the fingerprint is different.
Findings that a waiver or the baseline accepts are listed, but do not affect the exit code.

Exit codes: 0 no finding is new or has changed · 1 a finding is new or has changed · 2 the runs cannot be compared ·
3 a scenario that was judged before could not be judged now.`,
		Example: `  lockstep diff main/run.jsonl reports/run.jsonl
  lockstep diff main/report.json reports/report.json --format markdown
  lockstep diff main/run.jsonl reports/run.jsonl --format json | jq -r '.new[].scenarios[]'`,
		Args: exactly(2, "two runs", "write lockstep diff before/run.jsonl after/run.jsonl"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.diff(cmd.Context(), args[0], args[1], w) },
	}
	configFlag(cmd, &f.config)
	fl := cmd.Flags()
	fl.StringVarP(&f.format, "format", "f", "text", "the format of the output: text, json or markdown")
	fl.StringVar(&f.color, "color", "auto", "colour: auto, always, never")
	fl.StringVar(&f.baseline, "baseline", "", "the file with the known findings, relative to lockstep.yaml (default the project's)")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "print all findings, including unchanged ones")
	return cmd
}

func (f *diffFlags) validate() error {
	if !slices.Contains([]string{"text", "json", "markdown"}, f.format) {
		return fmt.Errorf("--format is %q: write text, json or markdown", f.format)
	}
	return f.outputFlags.validate()
}

func (f *diffFlags) diff(ctx context.Context, before, after string, w *environment) error {
	if err := f.validate(); err != nil {
		return err
	}
	old, err := f.side(ctx, before, w)
	if err != nil {
		return err
	}
	now, err := f.side(ctx, after, w)
	if err != nil {
		return err
	}
	if err := checkComparable(old, before, now, after); err != nil {
		return err
	}
	for _, text := range diffNotes(old, before, now, after) {
		fmt.Fprintf(w.stderr, "note: %s\n", text)
	}
	d := report.Compare(old, before, now, after)
	return exitFor(d.Verdict(), f.print(d, w))
}

func (f *diffFlags) print(d *report.Diff, w *environment) error {
	switch f.format {
	case "json":
		return jsonreport.WriteDiff(w.verbatim, d)
	case "markdown":
		return markdown.WriteDiff(w.stdout, d)
	default:
		return text.WriteDiff(w.stdout, d, f.paint(w, w.terminal))
	}
}

// side reads one of the two runs. The project is loaded once, for the first run file.
func (f *diffFlags) side(ctx context.Context, path string, w *environment) (*report.Document, error) {
	doc, err := readRun(ctx, w, path, "name the run.jsonl or report.json of a run", func() (_ *project.Project, err error) {
		if f.project == nil {
			f.project, err = f.load(f.config)
		}
		return f.project, err
	})
	if err == nil && doc.Incomplete != "" && ctx.Err() != nil {
		return nil, &exitError{exitUnknown, fmt.Errorf("%s: %s", path, doc.Incomplete)}
	}
	return doc, err
}

// diffNotes returns what other than the targets may explain a difference between the runs.
func diffNotes(old *report.Document, before string, now *report.Document, after string) []string {
	var out []string
	if old.Sums.Rules != now.Sums.Rules {
		out = append(out, fmt.Sprintf("%s and %s were judged with different versions of lockstep.yaml", before, after))
	}
	if old.Version != now.Version {
		out = append(out, fmt.Sprintf("%s was judged by lockstep %s, %s by %s", before, old.Version, after, now.Version))
	}
	return out
}

// checkComparable reports why two judged runs cannot be compared: something other than the targets would explain
// their differences. The error is a *UsageError.
func checkComparable(before *report.Document, beforeName string, after *report.Document, afterName string) error {
	for _, side := range []struct {
		doc  *report.Document
		name string
	}{{before, beforeName}, {after, afterName}} {
		switch {
		case side.doc.Sums == nil:
			return &project.UsageError{What: side.name + " does not say which contract and scenarios it was made with", Fix: "name the run.jsonl of that run instead"}
		case side.doc.Incomplete != "":
			return &project.UsageError{What: fmt.Sprintf("%s comes from an incomplete run: %s", side.name, side.doc.Incomplete), Fix: "run it again"}
		}
	}
	const fix = "run both with the same files"
	switch a, b := targetNames(before), targetNames(after); {
	case before.Sums.Contract != after.Sums.Contract:
		return &project.UsageError{What: fmt.Sprintf("%s and %s were made with different contracts", beforeName, afterName), Fix: fix}
	case before.Sums.Scenarios != after.Sums.Scenarios:
		return &project.UsageError{What: fmt.Sprintf("%s and %s were made with different scenarios", beforeName, afterName), Fix: fix}
	case !slices.Equal(a, b) || before.Alone != after.Alone:
		return &project.UsageError{What: fmt.Sprintf("%s has the targets %s, but %s has %s", beforeName, roles(a, before.Alone), afterName, roles(b, after.Alone)), Fix: "run both with the same targets and the same reference"}
	case !overlap(before, after):
		return &project.UsageError{What: fmt.Sprintf("%s and %s have no scenario in common", beforeName, afterName), Fix: "name runs that select some of the same scenarios"}
	}
	return nil
}

func targetNames(d *report.Document) []string {
	out := make([]string, len(d.Totals.Targets))
	for i, t := range d.Totals.Targets {
		out[i] = t.Name
	}
	return out
}

// roles names the targets, and says which one is the reference.
func roles(names []string, alone bool) string {
	if alone || len(names) == 0 {
		return strings.Join(names, ", ") + " alone"
	}
	return names[0] + " (reference), " + strings.Join(names[1:], ", ")
}

// overlap reports whether some scenario is in both runs.
func overlap(a, b *report.Document) bool {
	ids := map[string]bool{}
	for i := range a.Scenarios {
		ids[a.Scenarios[i].ID] = true
	}
	return slices.ContainsFunc(b.Scenarios, func(s verdict.Scenario) bool { return ids[s.ID] })
}
