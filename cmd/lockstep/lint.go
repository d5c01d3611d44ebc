package main

import (
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/verdict/baseline"
)

// maxNotes is the largest number of notes about the contract that are listed.
const maxNotes = 50

func lintCommand(w *environment) *cobra.Command {
	var config string
	cmd := &cobra.Command{
		Use:   "lint [scenario or folder ...]",
		Short: "Reports every mistake in lockstep.yaml, the contract and the scenarios",
		Long: `Reports every mistake in lockstep.yaml, the contract and the scenarios, with file, line and column, the line itself, and
what to write instead. Starts nothing. Exits with 2 if there is a mistake.

With arguments, which select scenarios as for lockstep run, mistakes in other scenarios are left out.`,
		Example: `  lockstep lint
  lockstep lint client-tools scenarios/items/create.yaml
  lockstep lint --config examples/notes/lockstep.yaml`,
		RunE: func(_ *cobra.Command, paths []string) error {
			defer debug.SetGCPercent(debug.SetGCPercent(400)) // as load does
			p, selected, err := project.LoadSelected(config, paths)
			if err != nil {
				return err
			}
			notes := append(p.Contract.Notes(), coverage.Unconstrained(p.Contract.Document)...)
			for _, note := range notes[:min(maxNotes, len(notes))] {
				fmt.Fprintf(w.stderr, "note: %s\n", note.Error())
			}
			if rest := len(notes) - maxNotes; rest > 0 {
				fmt.Fprintf(w.stderr, "note: and %s more about the contract\n", count(rest, "note"))
			}
			if slices.ContainsFunc(p.Baseline, func(k baseline.Entry) bool { return k.Target == "" }) {
				fmt.Fprintf(w.stderr, "note: %s: some findings name no target, so they count as known for every target\n\tfix: lockstep run with all targets, then lockstep baseline update\n", p.BaselineFile)
			}
			what := count(len(selected), "scenario")
			if len(selected) == 0 && len(paths) > 0 {
				what = "the selected fragments"
			}
			fmt.Fprintf(w.stdout, "%s: no mistakes in %s\n", config, what)
			return nil
		},
	}
	configFlag(cmd, &config)
	return cmd
}
