package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/files/logfile"
	"github.com/lockstep-dev/lockstep/server/handlers/diagnostics"
	pathsettings "github.com/lockstep-dev/lockstep/server/settings"
)

// run runs a command line and returns the exit status. It stops when ctx ends.
func run(ctx context.Context, args []string, env lookup, stdout, stderr io.Writer) int {
	root := rootCommand(env)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintf(stderr, "agentd: %s\n", line)
	}
	if errors.As(err, new(*failure)) {
		return exitFailed
	}
	return exitUsage
}

// A failure is an error that occurs after all flags, variables and files were found correct.
type failure struct{ error }

func (f *failure) Unwrap() error { return f.error }

func rootCommand(env lookup) *cobra.Command {
	root := &cobra.Command{
		Use:   "agentd",
		Short: "An agent server whose clients execute tools for the model",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown command %q: the command that serves is `agentd agent`", args[0])
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			return errors.New("no command: the one that serves is `agentd agent`, and `agentd agent --help` explains it")
		},
		Version:       diagnostics.Version,
		SilenceErrors: true, // run prints them, with the program's name
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("agentd {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w (`%s --help` lists the flags)", err, cmd.CommandPath())
	})
	root.AddCommand(agentCommand(env), mcpCommand(), guardCommand())
	for _, cmd := range root.Commands() {
		cmd.Version = root.Version // decision S46
	}
	return root
}

func agentCommand(env lookup) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Serve until SIGINT or SIGTERM",
		Long: `Serve the agent server's HTTP API until SIGINT or SIGTERM.

When the server is ready it prints one line to standard output and nothing else:

    listening on http://127.0.0.1:3000

Logs go to standard error. The first signal stops the server gracefully, within five seconds and with status 0; a second
one ends it at once with status 1. A bad flag, variable or configuration value ends it with status 2 before it listens.

A setting is taken from its flag, else from its environment variable, else from the configuration file, else it has its
default. An empty variable counts as not set. The file is JSON; keys that are not listed here are ignored:

    {"clientTools": {"defaultTimeout": 30000, "keepaliveInterval": 30000, "maxTools": 1000, "maxClients": 10000,
                     "permission": "allow", "rateLimit": {"calls": 100, "windowMs": 60000}},
     "hooks": {"before": [], "after": []}, "allowedOrigins": []}

Only the default configuration file may be missing.

Environment:
` + environmentHelp(),
		Example: `  agentd agent
  agentd agent --port 0 --directory /home/me/project
  GOOSE_PORT=8080 AGENTD_DEFAULT_TIMEOUT=5000 agentd agent`,
		Args: cobra.NoArgs,
	}
	flags := addFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		insecure, err := cmd.Flags().GetBool(insecureFlag)
		if err != nil {
			return err
		}
		s, err := readSettings(flags, insecure, env)
		if err != nil {
			return err
		}
		ctx := cmd.Context()
		if endsWithInput, err := cmd.Flags().GetBool(stdinFlag); err != nil {
			return err
		} else if endsWithInput {
			ctx = untilEnd(ctx, cmd.InOrStdin())
		}
		return serve(ctx, s, env, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

var errInputEnded = errors.New("standard input has ended")

// untilEnd returns a context that ends when the input does. What the input has is ignored.
func untilEnd(ctx context.Context, input io.Reader) context.Context {
	ctx, stop := context.WithCancelCause(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, input) // an input that cannot be read has ended
		stop(errInputEnded)
	}()
	return ctx
}

// serve serves with the settings until ctx ends.
func serve(ctx context.Context, s settings, env lookup, stdout, stderr io.Writer) error {
	if err := makeDirectories(s.directories, env); err != nil {
		return &failure{err}
	}
	log := logfile.Open(s.directories.ServerLogs(), time.Now(), stderr)
	defer log.Close()
	if s.secretKey == defaultSecret {
		fmt.Fprintf(log, "warning: %s is %q, which every page in a browser and every program on this machine knows; set another secret\n",
			secretVariable, defaultSecret)
	}
	environment := os.Environ() // before telemetry changes it
	observed, err := startTelemetry(env, log)
	if err != nil {
		return &failure{err}
	}
	srv, err := server.New(server.Config{
		Directory:         s.directory,
		Directories:       s.directories,
		Env:               pathsettings.Lookup(env),
		Environment:       environment,
		Executable:        executable(),
		Guard:             guard(),
		MaxActiveAgents:   s.maxActiveAgents,
		SecretKey:         s.secretKey,
		DefaultTimeout:    s.defaultTimeout,
		KeepaliveInterval: s.keepaliveInterval,
		MaxBodyBytes:      s.maxBody,
		BodyGrace:         s.bodyGrace,
		Bounds:            s.bounds,
		RateLimit:         &s.rateLimit,
		Permissions:       s.permissions,
		Access:            s.origins,
		Hooks:             s.hooks,
		HookErrors:        asFile(stderr),
		Pages:             stderr,
		Log:               slog.New(observed.Handler(slog.NewTextHandler(log, nil))),
		Telemetry:         observed,
	})
	if err != nil {
		return &failure{err}
	}
	network := "tcp"
	if host, err := netip.ParseAddr(s.host); err == nil && host.Is4() {
		network = "tcp4" // 0.0.0.0 would otherwise include IPv6 addresses (decision S36)
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, network, net.JoinHostPort(s.host, strconv.Itoa(s.port)))
	if err != nil {
		return &failure{errors.Join(err, srv.Close())}
	}
	if _, err := fmt.Fprintf(stdout, "listening on http://%s\n", address(s.host, ln)); err != nil {
		ln.Close()
		srv.Close()
		return &failure{fmt.Errorf("say where the server listens: %w", err)}
	}
	if err := srv.Serve(ctx, ln); err != nil {
		return &failure{err}
	}
	return nil
}

// asFile returns a writer that is a file, which processes can have as their standard error. For another writer it returns nil.
func asFile(w io.Writer) *os.File {
	f, _ := w.(*os.File)
	return f
}

// makeDirectories creates the directories. Its error names the variable that sets their root (decision S49).
func makeDirectories(d pathsettings.Directories, env lookup) error {
	err := d.Make()
	if root, _ := env("GOOSE_PATH_ROOT"); err != nil && root != "" {
		return fmt.Errorf("GOOSE_PATH_ROOT is %q: %w", root, err)
	}
	return err
}

// address returns the address of a listener, with the host as the user wrote it.
func address(host string, ln net.Listener) string {
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		return ln.Addr().String()
	}
	return net.JoinHostPort(host, port)
}
