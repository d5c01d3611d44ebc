package main

import (
	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/server/mcp/processgroup"
)

// guardCommand is what the server starts to end the processes of extensions when it is killed.
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

// guard is the command of a guard, empty if this program cannot be found.
func guard() []string {
	path := executable()
	if path == "" {
		return nil
	}
	return []string{path, guardCommand().Name()}
}
