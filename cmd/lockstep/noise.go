package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/lab/noise"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
)

// noiseFlags are the flags of lockstep noise.
type noiseFlags struct {
	config    string
	runs      int
	targets   []string
	selection project.Selection
	jobs      int
}

func noiseCommand(w *environment) *cobra.Command {
	var f noiseFlags
	cmd := &cobra.Command{
		Use:   "noise [scenario or folder ...]",
		Short: "Runs the reference against itself, and prints rules for what differs",
		Long: `Runs the reference against itself several times. Whatever differs then says nothing about a candidate: it is noise.
For each place that differs, it prints the strictest volatile rule that holds in all runs, ready for lockstep.yaml,
and the evidence for it. It changes no file and no rule.

Exit codes: 0 there is no noise · 1 there is noise · 2 flags or files are wrong, nothing was started · 3 something
could not be judged.`,
		Example: `  lockstep noise
  lockstep noise --runs 20 client-tools
  lockstep noise --target go --target go`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.selection.Paths = args
			if f.runs < 1 {
				return fmt.Errorf("--runs is %d: write a number above 0", f.runs)
			}
			if err := checkJobs(cmd, f.jobs); err != nil {
				return err
			}
			return f.noise(cmd.Context(), w)
		},
	}
	configFlag(cmd, &f.config)
	fl := cmd.Flags()
	fl.IntVar(&f.runs, "runs", 5, "how many times to run")
	fl.StringArrayVarP(&f.targets, "target", "t", nil, "one of two equal servers; give it twice (default the reference, twice)")
	selectionFlags(cmd, &f.selection)
	jobsFlag(cmd, &f.jobs)
	return cmd
}

func (f *noiseFlags) noise(ctx context.Context, w *environment) error {
	p, err := load(f.config)
	if err != nil {
		return err
	}
	out := outputFlags{format: "text"}
	found, err := noise.Measure(ctx, p, &noise.Options{
		Targets: f.targets, Runs: f.runs, Select: f.selection, Jobs: f.jobs, Environ: w.environ,
		Log:      (&runFlags{output: out}).logger(w.stderr),
		Progress: func(run, of int) { fmt.Fprintf(w.stderr, "run %d of %d\n", run, of) },
	})
	if err != nil {
		return err
	}
	var text strings.Builder
	writeNoise(&text, found)
	_, err = io.WriteString(w.stdout, text.String())
	switch {
	case err == nil && found.Incomplete != "":
		err = errors.New(found.Incomplete)
	case err == nil && found.Scenarios == 0:
		err = errors.New("nothing was judged")
	}
	switch {
	case !found.Silent():
		return &exitError{exitDiffer, err}
	case err != nil || found.Unknown > 0:
		return &exitError{exitUnknown, err}
	}
	return nil
}

// writeNoise writes the report as YAML: the rules, and everything else as comments.
func writeNoise(w io.Writer, n *noise.Report) {
	fmt.Fprintf(w, "# %s against itself: %s, %s of scenarios\n", n.Target, count(n.Runs, "run"), count(n.Scenarios, "result"))
	if len(n.Rules) > 0 {
		fmt.Fprintf(w, "\ncompare:\n  volatile:\n")
	}
	for _, r := range n.Rules {
		fmt.Fprintf(w, "    # %d of %s differ, such as %s and %s\n", r.Differ, count(r.Of, "value"), oneLine(r.Example[0]), oneLine(r.Example[1]))
		fmt.Fprintf(w, "    # in %s\n", firstFew(r.Places))
		writeRule(w, &r.Volatile)
	}
	if len(n.Rest) > 0 {
		fmt.Fprintf(w, "\n# no rule for a single place removes these\n")
	}
	for _, r := range n.Rest {
		fmt.Fprintf(w, "#   %s\n#     %s, in %s\n", oneLine(r.Text), count(r.Times, "time"), firstFew(r.Places))
	}
	if n.Broken > 0 {
		fmt.Fprintf(w, "\n# no noise: both servers break the contract in every run, %s; lockstep run --target %s lists them\n", count(n.Broken, "time"), n.Target)
	}
	switch {
	case n.Unknown > 0:
		fmt.Fprintf(w, "\n# %s could not be judged\n", count(n.Unknown, "result"))
	case n.Silent() && n.Incomplete == "" && n.Scenarios > 0:
		fmt.Fprintf(w, "# there is no noise\n")
	}
	if len(n.Times) > 0 {
		fmt.Fprintf(w, "\n# what holds for times in all runs, and a rule can demand\n")
	}
	for _, t := range n.Times {
		fmt.Fprintf(w, "#   %s\n#     %s, %d of things that had appeared before\n", timeRule(&t.Volatile), count(t.Values, "value"), t.Again)
	}
	if len(n.Beats) > 0 {
		fmt.Fprintf(w, "\n# heartbeats that always come when a stream opens; their rule can demand this with first: 0s\n")
	}
	for _, b := range n.Beats {
		fmt.Fprintf(w, "#   %s: %s\n", b.Operation, count(b.Streams, "stream"))
	}
}

// plainScalar matches texts that YAML reads as a string without quotes.
var plainScalar = regexp.MustCompile(`^[$.\w\[\]*]+$`)

// writeRule writes a rule in the syntax of lockstep.yaml.
func writeRule(w io.Writer, r *scenario.Volatile) {
	at := r.At
	if !plainScalar.MatchString(at) {
		at = strconv.Quote(at)
	}
	fmt.Fprintf(w, "    - at: %s\n      kind: %s\n", at, r.Kind)
	if r.Unit != "" {
		fmt.Fprintf(w, "      unit: %s\n", r.Unit)
	}
	if r.Near != 0 {
		fmt.Fprintf(w, "      near: %ds\n", int(r.Near.Seconds()))
	}
	if r.Tolerance.Amount != "" {
		fmt.Fprintf(w, "      tolerance: %s\n", r.Tolerance.Amount)
	}
	fmt.Fprintf(w, "      because: %s\n", r.Because)
}

// timeRule writes a rule about times on one line.
func timeRule(r *scenario.Volatile) string {
	out := "- {at: " + r.At + ", kind: " + string(r.Kind)
	if r.Stable {
		out += ", stable: true"
	}
	if r.Monotone {
		out += ", monotone: true"
	}
	if r.Digits != "" {
		out += ", digits: " + r.Digits
	}
	return out + ", because: " + r.Because + "}"
}

// oneLine shortens a server's text to one line and escapes invisible characters.
func oneLine(s string) string {
	const most = 300
	quoted := strconv.Quote(s)
	r := []rune(strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`))
	if len(r) > most {
		return string(r[:most]) + "…"
	}
	return string(r)
}

// firstFew lists the first few of many names.
func firstFew(all []string) string {
	const most = 5
	if len(all) <= most {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s, and %d more", strings.Join(all[:most], ", "), len(all)-most)
}
