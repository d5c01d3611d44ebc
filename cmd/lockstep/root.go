package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/project"
)

func rootCommand(w *environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "lockstep",
		Short: "Runs one script against two servers and shows exactly where they differ",
		Long: `lockstep runs one script against two servers and shows exactly where they differ.

An OpenAPI document is the contract, scenarios are the script, and lockstep.yaml says which servers run.
lockstep compares their responses: statuses, headers, JSON, event streams. For each difference it shows
both values, and what the contract says about each side.`,
		Example: `  lockstep init openapi.yaml              a first project, with a scenario for each operation
  lockstep run                            all scenarios against all targets of lockstep.yaml
  lockstep run client-tools --jobs 2      the scenarios below scenarios/client-tools, two at a time
  lockstep run --target go                one target alone, against the contract
  lockstep judge                          the last run again, without any server
  lockstep lint                           every mistake in lockstep.yaml, the contract and the scenarios`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Version:           engine.Version,
		Args:              knownCommand,
		PersistentPreRunE: noEmptyFlags,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(w.stderr)
			if err := cmd.Help(); err != nil {
				return err
			}
			return &project.UsageError{What: "missing command", Fix: "`lockstep run` compares servers, `lockstep lint` checks files, `lockstep --help` lists all commands"}
		},
	}
	root.SetOut(w.stdout)
	root.SetErr(w.stderr)
	root.SetVersionTemplate("lockstep {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.DisableDefaultCmd = true // replaced below by one with examples
	addGroup(root, "Every day:", runCommand(w), judgeCommand(w), viewCommand(w), watchCommand(w), lintCommand(w), listCommand(w), explainCommand(w), initCommand(w))
	addGroup(root, "In CI:", mergeCommand(w), baselineCommand(w), waiveCommand(w), coverageCommand(w), diffCommand(w), siteCommand(w))
	addGroup(root, "Laboratory:", mutateCommand(w), noiseCommand(w))
	root.AddCommand(versionCommand(w), completionCommand(w), stubCommand(w))
	completions(root)
	examplesFirst(root)
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Example = "  lockstep help run"
		help.Args = knownCommand // cobra's own would explain the program when a command does not exist
	}
	return root
}

// addGroup adds commands that help lists under a title.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	root.AddCommand(commands...)
}

func versionCommand(w *environment) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Prints the version",
		Example: "  lockstep version",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintf(w.stdout, "lockstep %s\n", engine.Version)
			return nil
		},
	}
}
