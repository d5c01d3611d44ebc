// Command lockstep runs one script against two servers and shows exactly where they differ.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/lockstep-dev/lockstep/harness/target"
	"github.com/lockstep-dev/lockstep/internal/legible"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	defer stop()
	context.AfterFunc(ctx, stop) // restores the default handling, so that a second signal kills the program
	signal.Notify(make(chan os.Signal, 1), writeErrorSignals()...)
	target.AdoptOrphans()
	program, _ := os.Executable() // if it fails, targets look for lockstep in their PATH
	os.Exit(run(ctx, os.Args[1:], &environment{
		program: program,
		stdin:   os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(), getenv: os.Getenv,
		terminal:      term.IsTerminal(int(os.Stdout.Fd())),
		errorTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		width:         width, now: time.Now,
	}))
}

// endSignals are the signals that end a run cleanly. A program started with nohup ignores the end of its terminal
// (SIGHUP).
func endSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// width returns the number of columns of the terminal at standard error, or 0 if unknown.
func width() int {
	columns, _, _ := term.GetSize(int(os.Stderr.Fd()))
	return columns
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string, w *environment) int {
	own := *w
	w = &own
	out := &output{to: w.stdout}
	w.verbatim, w.stdout, w.stderr = out, legible.NewWriter(out), legible.NewWriter(w.stderr)
	root := rootCommand(w)
	root.SetArgs(args)
	err := out.exitFor(root.ExecuteContext(ctx))
	if err == nil {
		return exitMatch
	}
	printError(w.stderr, err)
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	return exitUsage
}
