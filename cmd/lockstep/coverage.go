package main

import (
	"bufio"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/report/jsonreport"
	"github.com/lockstep-dev/lockstep/harness/report/text"
)

// coverageFlags are the flags of lockstep coverage.
type coverageFlags struct {
	config string
	json   bool
	outputFlags
}

func coverageCommand(w *environment) *cobra.Command {
	f := coverageFlags{outputFlags: outputFlags{format: "text"}}
	cmd := &cobra.Command{
		Use:   "coverage [run file]",
		Short: "Prints how much of the contract a run covered, and what it never reached",
		Long: `Reads a run file, without any server, and prints how often each operation answered with each status. It then lists
what the contract declares and the run never reached: operations, content types, statuses, error codes, events,
properties, enum values and alternatives of schemas, each with its line in the contract. The run file is
reports/run.jsonl beside lockstep.yaml unless you name another. It must be complete, and the contract and the scenarios
must not have changed since the run.

Exit codes: 0 the coverage was printed · 2 flags or files are wrong · 3 the command was interrupted.`,
		Example: `  lockstep coverage
  lockstep coverage nightly/run.jsonl --json | jq '.schemas[].properties[]? | select(.seen | not)'`,
		Args: atMostOne("run file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.print(cmd.Context(), runFile(f.config, args), w)
		},
	}
	configFlag(cmd, &f.config)
	cmd.Flags().StringVar(&f.color, "color", "auto", "colour: auto, always, never")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the coverage as JSON, in the format of report.json")
	return cmd
}

func (f *coverageFlags) print(ctx context.Context, path string, w *environment) error {
	if err := f.validate(); err != nil {
		return err
	}
	p, file, err := openRun(f.config, path, f.load)
	if err != nil {
		return err
	}
	defer file.Close()
	result, err := engine.Judge(ctx, p, bufio.NewReaderSize(file, 1<<20), &engine.JudgeOptions{Today: w.today(), Environ: w.environ})
	if err != nil {
		return runFileError(path, err)
	}
	if result.Incomplete != "" {
		return &exitError{exitUnknown, fmt.Errorf("%s", result.Incomplete)}
	}
	if p.Contract.IsAbsent() {
		return &project.UsageError{What: p.File + " names no contract, so there is no coverage", Fix: "name the OpenAPI document: contract: openapi.yaml"}
	}
	doc := result.Document(p)
	if f.json {
		return jsonreport.WriteCoverage(w.verbatim, doc)
	}
	return text.WriteCoverage(w.stdout, doc, f.paint(w, w.terminal))
}
