package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/mcp/connector"
	"github.com/lockstep-dev/lockstep/server/mcp/developer"
	pathsettings "github.com/lockstep-dev/lockstep/server/settings"
)

func mcpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "mcp <name>",
		Short: "Be an MCP server over standard input and output",
		Long: `Be one of the MCP servers that the server itself brings along, over standard input and output, until its input ends. It is
what an extension of the type builtin runs. The one that is built is developer.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			built, known := connector.Builtins[extension.Key(args[0])]
			switch {
			case !known:
				return fmt.Errorf("unknown MCP server %q: the one that is built is developer", args[0])
			case !built:
				return fmt.Errorf("the MCP server %s is not built: the one that is built is developer", args[0])
			}
			directory, err := os.Getwd()
			if err != nil {
				return &failure{err}
			}
			places, err := pathsettings.Locate(os.LookupEnv)
			if err != nil {
				return &failure{err}
			}
			if err := developer.Serve(cmd.Context(), os.Stdin, os.Stdout, developer.Setting{Directory: directory, Config: places.Config, Env: os.Environ()}); err != nil {
				return &failure{err}
			}
			return nil
		},
	}
}

// executable returns the path of this program, or "" if it is unknown.
func executable() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}
