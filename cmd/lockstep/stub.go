package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness"
	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/stub/mcp"
)

// stubCommand has the stub servers that targets start or call. It is hidden, because usually scenarios start them.
func stubCommand(w *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "stub",
		Short:   "Stands in for what targets start or ask: an MCP server, a model",
		Example: "  lockstep stub mcp\n  lockstep stub openai --script model.yaml",
		Hidden:  true,
		Args:    knownSubcommand,
		RunE: func(*cobra.Command, []string) error {
			return &harness.UsageError{What: "no command of lockstep stub", Fix: "`lockstep stub mcp` is an MCP server, and `lockstep stub openai --script model.yaml` a model"}
		},
	}
	cmd.AddCommand(mcpCommand(w))
	for _, u := range upstreams {
		cmd.AddCommand(upstreamCommand(w, u.kind, u.is))
	}
	return cmd
}

// upstreams are the stubs that can be started by hand.
var upstreams = []struct{ kind, is string }{
	{"openai", "a model with the API of OpenAI"},
	{"anthropic", "a model with the API of Anthropic"},
	{"http", "a server of HTTP"},
}

// upstreamCommand starts a stub, to try out a server by hand.
func upstreamCommand(w *environment, kind, is string) *cobra.Command {
	var script string
	var port uint16
	cmd := &cobra.Command{
		Use:   kind,
		Short: "Is " + is + ", which answers as a script says",
		Long: "Is " + is + `, which answers as a script says: a YAML file with a list of rules, as scenarios have them
under stubs. A request gets the answer of the first rule that means it and is not used up, and 501 when there is none.
Listens on 127.0.0.1, says where, and answers up to 1000 requests, until it gets SIGINT or SIGTERM.`,
		Example: fmt.Sprintf("  lockstep stub %[1]s --script rules.yaml\n  lockstep stub %[1]s --script rules.yaml --port 8400", kind),
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if script == "" {
				return &harness.UsageError{What: "no --script", Fix: "name a file with rules, such as `- {answer: {" + plainAnswer[kind] + "}, times: any}`"}
			}
			return engine.ServeStub(cmd.Context(), kind, script, port, func(url string) { fmt.Fprintf(w.stdout, "listening on %s\n", url) })
		},
	}
	cmd.Flags().StringVar(&script, "script", "", "the file with the rules")
	cmd.Flags().Uint16Var(&port, "port", 0, "the port to listen on; a free one when it is 0")
	return cmd
}

// plainAnswer is the shortest answer of each kind.
var plainAnswer = map[string]string{"openai": "text: Hello", "anthropic": "text: Hello", "http": "json: {}"}

func mcpCommand(w *environment) *cobra.Command {
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
			return mcp.Serve(cmd.Context(), w.stdin, w.verbatim, opts)
		},
	}
	cmd.Flags().StringVar(&opts.Record, "record", "", "the file that gets what the client sends, a line of JSON for each message")
	return cmd
}
