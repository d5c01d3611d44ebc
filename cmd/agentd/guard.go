package main

import (
	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/server/mcp/processgroup"
)

// guardCommand ends the processes of extensions when the server is killed. The server starts it.
func guardCommand() *cobra.Command {
	const name = "guard"
	return &cobra.Command{
		Use:    name,
		Short:  "End the processes of a server that was killed",
		Hidden: true,
		Args:   cobra.NoArgs,
		Run:    func(cmd *cobra.Command, _ []string) { processgroup.RunGuard(cmd.InOrStdin()) },
	}
}

// guard returns the command line of a guard, or nil if the path of this program is unknown.
func guard() []string {
	path := executable()
	if path == "" {
		return nil
	}
	return []string{path, guardCommand().Name()}
}
