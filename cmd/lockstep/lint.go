package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/verdict/baseline"
)

// maxNotes is the largest number of notes about the contract that are listed.
const maxNotes = 50

func lintCommand(w *environment) *cobra.Command {
	var config string
	cmd := &cobra.Command{
		Use:   "lint",
		Short: "Reports every mistake in lockstep.yaml, the contract and the scenarios",
		Long: `Reports every mistake in lockstep.yaml, the contract and the scenarios, with file, line and column, the line itself, and
what to write instead. Starts nothing. Exits with 2 if there is a mistake.`,
		Example: `  lockstep lint
  lockstep lint --config examples/notes/lockstep.yaml`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			p, err := load(config)
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
			fmt.Fprintf(w.stdout, "%s: no mistakes in %s\n", config, count(len(p.Scenarios), "scenario"))
			return nil
		},
	}
	configFlag(cmd, &config)
	return cmd
}
