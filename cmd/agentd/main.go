// Command agentd is the agent server in Go. docs/server.md describes it.
//
//	agentd agent --port 3000
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// Exit statuses.
const (
	exitOK     = 0 // stopped by a signal
	exitFailed = 1 // could not listen or serve, or got a second signal to stop
	exitUsage  = 2 // a bad flag, variable or configuration value; nothing was started
)

var errSignal = errors.New("stopped by a signal")

func main() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, stop := context.WithCancelCause(context.Background())
	status := make(chan int, 1)
	go func() { status <- run(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr) }()
	os.Exit(wait(signals, stop, status))
}

// wait returns the exit status of the run. The first signal stops the server gracefully; the second ends it at once.
func wait(signals <-chan os.Signal, stop context.CancelCauseFunc, status <-chan int) int {
	select {
	case code := <-status:
		return code
	case <-signals:
		stop(errSignal)
	}
	select {
	case code := <-status:
		return code
	case <-signals:
		return exitFailed
	}
}
