package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/stub/mcp"
)

// stubCommand has the stub servers that targets start or call. It is hidden, because usually scenarios start them.
func stubCommand(w *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "stub",
		Short:   "Acts as a server that targets start or call: an MCP server, a model",
		Example: "  lockstep stub mcp\n  lockstep stub openai --script model.yaml",
		Hidden:  true,
		Args:    knownSubcommand,
		RunE: func(*cobra.Command, []string) error {
			return &project.UsageError{What: "stub needs a command", Fix: "`lockstep stub mcp` is an MCP server, `lockstep stub openai --script model.yaml` is a model"}
		},
	}
	cmd.AddCommand(mcpCommand(w), programCommand(w), browserCommand())
	for _, u := range upstreams {
		cmd.AddCommand(upstreamCommand(w, u.kind, u.is, u.otherwise))
	}
	return cmd
}

// upstreams are the stubs that can be started by hand, and what they do if no rule matches.
var upstreams = []struct{ kind, is, otherwise string }{
	{"openai", "a model with the OpenAI API", "the status is 501"},
	{"anthropic", "a model with the Anthropic API", "the status is 501"},
	{"http", "an HTTP server", "the status is 501"},
	{"oauth", "an authorization server", "it registers clients, asks no user, and issues tokens"},
	{"otlp", "a collector of OpenTelemetry", "it accepts exports, and GET / lists what is in them"},
}

// upstreamCommand starts a stub, to try out a server by hand.
func upstreamCommand(w *environment, kind, is, otherwise string) *cobra.Command {
	var script string
	var port uint16
	cmd := &cobra.Command{
		Use:   kind,
		Short: "Is " + is + " that responds as a script says",
		Long: "Is " + is + ` that responds as a script says. The script is a YAML file with a list of rules, in the format that
scenarios use under stubs. The first rule that matches a request and is not used up responds; without one, ` + otherwise + `.
Listens on 127.0.0.1, prints the address, and serves up to 1000 requests, until it gets SIGINT or SIGTERM.`,
		Example: fmt.Sprintf("  lockstep stub %[1]s --script rules.yaml\n  lockstep stub %[1]s --script rules.yaml --port 8400", kind),
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if script == "" && plainAnswer[kind] != "" {
				return &project.UsageError{What: "--script is missing", Fix: "name a file with rules, such as `- {answer: {" + plainAnswer[kind] + "}, times: any}`"}
			}
			return engine.ServeStub(cmd.Context(), kind, script, port, func(url string) { fmt.Fprintf(w.stdout, "listening on %s\n", url) })
		},
	}
	cmd.Flags().StringVar(&script, "script", "", "the file with the rules")
	cmd.Flags().Uint16Var(&port, "port", 0, "the port to listen on; 0 means a free one")
	return cmd
}

// plainAnswer is the shortest answer of each kind that does not respond by itself.
var plainAnswer = map[string]string{"openai": "text: Hello", "anthropic": "text: Hello", "http": "json: {}"}

// browserCommand stands in for the browser that a target opens, for example to have a user sign in.
func browserCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "browser URL",
		Short: "Opens a page as a browser would: follows its redirections, and runs no script",
		Long: `Opens a page as a browser would, follows its redirections, and exits. It runs no script, keeps no cookie, and shows
nothing. Targets that start a browser can start it instead. Waits 30 seconds at most.`,
		Example: "  lockstep stub browser 'http://127.0.0.1:8400/authorize?client_id=…'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), 30*time.Second)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, args[0], nil)
			if err != nil {
				return &project.UsageError{What: err.Error(), Fix: "give the address of a page, such as http://127.0.0.1:8400/"}
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return fmt.Errorf("open the page: %w", err)
			}
			defer resp.Body.Close()
			_, err = io.Copy(io.Discard, resp.Body)
			return err
		},
	}
}

func mcpCommand(w *environment) *cobra.Command {
	opts := &mcp.Options{Version: engine.Version, Getenv: w.getenv}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Runs an MCP server on standard input and output, with tools for scenarios",
		Long: `Runs an MCP server on standard input and output, which targets under test can use as an extension. Its tools:
echo, slow, fail, explode, ask, big, env, image, resource. It exits when its input ends.`,
		Example: `  lockstep stub mcp
  lockstep stub mcp --record calls.mcp    writes down what the client sends`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return mcp.Serve(cmd.Context(), w.stdin, w.verbatim, opts)
		},
	}
	cmd.Flags().StringVar(&opts.Record, "record", "", "the file to which each message of the client is written, as a line of JSON")
	return cmd
}

// programCommand is what the executable of a stub starts: a process that does what a scenario says.
func programCommand(w *environment) *cobra.Command {
	var url string
	var env []string
	cmd := &cobra.Command{
		Use:   "program",
		Short: "Is the program that a scenario plays, when a target starts it",
		Long: `Is the program that a scenario plays. The executable of a stub of the kind stdio starts it, with the address of the
stub. It passes its arguments, its input and signals on, and does what the scenario says.`,
		Example: "  lockstep stub program --url http://127.0.0.1:8400/token -- --version",
		RunE: func(cmd *cobra.Command, args []string) error {
			if url == "" {
				return &project.UsageError{What: "--url is missing", Fix: "start the file whose path is ${{ stub.name }}, for a stub of the kind stdio"}
			}
			return playProgram(context.WithoutCancel(cmd.Context()), w, url, args, env)
		},
	}
	cmd.Flags().StringVar(&url, "url", "", "the address of the stub")
	cmd.Flags().StringArrayVar(&env, "env", nil, "a variable to tell the stub")
	return cmd
}
