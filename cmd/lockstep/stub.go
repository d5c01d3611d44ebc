package main

import (
	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness"
	"github.com/lockstep-dev/lockstep/harness/stub/mcp"
)

// stubCommand holds what targets under test start, and nobody types: help does not list it.
func stubCommand(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "stub",
		Short:   "Stands in for what targets start: an MCP server",
		Example: "  lockstep stub mcp",
		Hidden:  true,
		Args:    knownSubcommand,
		RunE: func(*cobra.Command, []string) error {
			return &harness.UsageError{What: "no command of lockstep stub", Fix: "`lockstep stub mcp` is an MCP server"}
		},
	}
	cmd.AddCommand(mcpCommand(w))
	return cmd
}

func mcpCommand(w *world) *cobra.Command {
	opts := &mcp.Options{Version: harness.Version, Getenv: w.getenv}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Is an MCP server over standard input and output, with tools for scenarios",
		Long: `Is an MCP server over standard input and output, for targets under test to use as their extension. Its tools:
echo, slow, fail, explode, ask, big, env, image, resource. Ends when its input does.`,
		Example: `  lockstep stub mcp
  lockstep stub mcp --record calls.mcp    what the client sends is written down`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return mcp.Serve(cmd.Context(), w.stdin, w.stdout, opts)
		},
	}
	cmd.Flags().StringVar(&opts.Record, "record", "", "the file that gets what the client sends, a line of JSON for each message")
	return cmd
}
