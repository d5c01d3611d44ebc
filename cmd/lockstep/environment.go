package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/lockstep-dev/lockstep/harness"
	"github.com/lockstep-dev/lockstep/harness/scenario"
)

// The exit codes.
const (
	exitMatch   = 0 // every verdict is match or waived
	exitDiffer  = 1 // at least one difference, violation or shortfall that is not accepted, a stale waiver, or too little coverage
	exitUsage   = 2 // flags or a file are wrong; nothing was started
	exitUnknown = 3 // none differ, but at least one scenario could not be judged, the run is incomplete, or an output could not be written
)

// environment is what the program touches outside itself.
type environment struct {
	program        string // what runs
	stdin          io.Reader
	stdout, stderr io.Writer
	verbatim       io.Writer // stdout as it is, for what is no text for people, or commands of ours
	environ        []string
	getenv         func(string) string
	terminal       bool       // stdout is one
	errorTerminal  bool       // stderr is one
	width          func() int // columns of stderr
	now            func() time.Time
}

// today is the time that decides which waivers have expired.
func (w *environment) today() time.Time {
	if w.now == nil {
		return time.Now()
	}
	return w.now()
}

// masked returns an environment whose output does not show a project's secrets.
func (w *environment) masked(p *harness.Project) *environment {
	out := *w
	out.stdout, out.stderr, out.verbatim = p.Cover(w.stdout, w.environ), p.Cover(w.stderr, w.environ), p.Cover(w.verbatim, w.environ)
	return &out
}

// An exitError ends the program with a code. Its message, if it has one, has not been printed yet. Every other error
// says that flags or files are wrong, and that nothing was started.
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

// printError says what went wrong. Mistakes in files begin with their places, where editors look for them.
func printError(w io.Writer, err error) {
	text := err.Error()
	if problems, ok := errors.AsType[scenario.Problems](err); ok {
		fmt.Fprintln(w, problems.Error())
		text = count(len(problems), "mistake")
	}
	if text != "" {
		fmt.Fprintf(w, "lockstep: %s\n", text)
	}
}

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
