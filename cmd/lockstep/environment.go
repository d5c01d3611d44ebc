package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/internal/regular"
)

// The exit codes (docs/reports.md).
const (
	exitMatch   = 0 // every verdict is match or waived
	exitDiffer  = 1 // some difference, violation or shortfall is not accepted, a waiver is stale, or coverage is too low
	exitUsage   = 2 // flags or a file are wrong; nothing was started
	exitUnknown = 3 // nothing differs, but a scenario could not be judged, the run is incomplete, or an output could not be written
)

// environment is what the program uses of the outside world.
type environment struct {
	program        string // the path of this program
	stdin          io.Reader
	stdout, stderr io.Writer
	verbatim       io.Writer // stdout without filtering of control characters, for machine formats and commands of CI systems
	environ        []string
	getenv         func(string) string
	terminal       bool       // stdout is a terminal
	errorTerminal  bool       // stderr is a terminal
	width          func() int // the number of columns of stderr
	now            func() time.Time
}

// today returns the date that decides which waivers have expired.
func (w *environment) today() time.Time {
	if w.now == nil {
		return time.Now()
	}
	return w.now()
}

// masked returns an environment whose output masks a project's secrets.
func (w *environment) masked(p *project.Project) *environment {
	out := *w
	out.stdout, out.stderr, out.verbatim = p.Cover(w.stdout, w.environ), p.Cover(w.stderr, w.environ), p.Cover(w.verbatim, w.environ)
	return &out
}

// An exitError ends the program with an exit code. Its message, if any, has not been printed yet. Every other error
// means that flags or files are wrong, and that nothing was started.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// printError prints an error. Mistakes in files start with file and line, where editors look for them. The line and a
// caret under its place follow.
func printError(w io.Writer, err error) {
	said := err.Error()
	if problems, ok := errors.AsType[scenario.Problems](err); ok {
		text.WriteProblems(w, problems, regular.Read)
		said = count(len(problems), "mistake")
	}
	if said != "" {
		fmt.Fprintf(w, "lockstep: %s\n", said)
	}
}

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
