package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/internal/regular"
)

// diffFlags are the flags of lockstep diff.
type diffFlags struct {
	config string
	outputFlags
	project *harness.Project // once a run file asks for it
}

func diffCommand(w *world) *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff before after",
		Short: "Lays two runs side by side: what is new, changed, fixed and unchanged",
		Long: `Lays two runs side by side and prints which findings are new, changed, fixed and unchanged, the worst first.
Either side is a run.jsonl, which is judged by the rules and waivers of now, or a report.json, which is taken as it is.
Both must be of the same contract, scenarios, targets and reference, and complete. A finding is the same one when
scenario, place, target, class, kind and fingerprint are; another one of the kind at that place has changed. What a
waiver or the baseline accepts is listed, and decides nothing.

Exit codes: 0 nothing is new or has changed · 1 something is new or has changed · 2 the runs cannot be compared ·
3 a scenario that was judged before could not be judged now.`,
		Example: `  lockstep diff main/run.jsonl reports/run.jsonl
  lockstep diff main/report.json reports/report.json --format markdown
  lockstep diff main/run.jsonl reports/run.jsonl --format json | jq -r '.new[].scenarios[]'`,
		Args: twoRuns,
		RunE: func(cmd *cobra.Command, args []string) error { return f.diff(cmd.Context(), args[0], args[1], w) },
	}
	configFlag(cmd, &f.config)
	fl := cmd.Flags()
	fl.StringVarP(&f.format, "format", "f", "text", "what goes to standard output: text, json or markdown")
	fl.StringVar(&f.color, "color", "auto", "colour: auto, always, never")
	fl.StringVar(&f.baseline, "baseline", "", "the file with the findings that are known, relative to lockstep.yaml (default the project's)")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "print all findings, also those that are unchanged")
	return cmd
}

func twoRuns(_ *cobra.Command, args []string) error {
	if len(args) == 2 {
		return nil
	}
	return &harness.UsageError{What: fmt.Sprintf("diff takes two runs, and here are %d", len(args)), Fix: "lockstep diff before/run.jsonl after/run.jsonl"}
}

func (f *diffFlags) validate() error {
	if !slices.Contains([]string{"text", "json", "markdown"}, f.format) {
		return fmt.Errorf("--format is %q: write text, json or markdown", f.format)
	}
	return f.outputFlags.validate()
}

func (f *diffFlags) diff(ctx context.Context, before, after string, w *world) error {
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
	if err := harness.Comparable(old, before, now, after); err != nil {
		return err
	}
	for _, text := range diffNotes(old, before, now, after) {
		fmt.Fprintf(w.stderr, "note: %s\n", text)
	}
	d := report.Compare(old, before, now, after)
	return ending(d.Verdict(), f.print(d, w))
}

func (f *diffFlags) print(d *report.Diff, w *world) error {
	switch f.format {
	case "json":
		return report.DiffJSON(w.verbatim, d)
	case "markdown":
		return report.DiffMarkdown(w.stdout, d)
	default:
		return report.DiffText(w.stdout, d, f.paint(w, w.terminal))
	}
}

// side reads one of the runs: a report.json, or a run.jsonl, which is judged.
func (f *diffFlags) side(ctx context.Context, path string, w *world) (*report.Document, error) {
	file, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &harness.UsageError{What: path + ": no such file", Fix: "name the run.jsonl or the report.json of a run"}
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 1<<20)
	if head, _ := in.Peek(len(runFileBegins)); !bytes.Equal(head, []byte(runFileBegins)) {
		doc, err := report.Read(in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return doc, nil
	}
	if f.project == nil {
		if f.project, err = f.load(f.config); err != nil {
			return nil, err
		}
	}
	result, err := f.project.Judge(ctx, in, &harness.JudgeOptions{Today: w.today(), Environ: w.environ})
	switch {
	case err != nil:
		return nil, unreadable(path, err)
	case result.Incomplete != "":
		return nil, &exitError{exitUnknown, fmt.Errorf("%s: %s", path, result.Incomplete)}
	}
	return result.Document(f.project), nil
}

// runFileBegins is how a run file begins, and a report does not.
const runFileBegins = `{"lockstep":`

// diffNotes says what else may have made the runs different.
func diffNotes(old *report.Document, before string, now *report.Document, after string) []string {
	var out []string
	if old.Sums.Rules != now.Sums.Rules {
		out = append(out, fmt.Sprintf("%s and %s are judged by two states of lockstep.yaml", before, after))
	}
	if old.Version != now.Version {
		out = append(out, fmt.Sprintf("%s is judged by lockstep %s, %s by %s", before, old.Version, after, now.Version))
	}
	return out
}
