// Package code takes the steps of a scenario from a Go function, instead of from a file.
//
//   - Run runs a function with a Client, and judges what the targets did, as for a scenario in a file.
//   - A Client performs one step after the other on all targets. Keys say what a step does, in the words of the files.
//   - Answers are what the targets did in a step.
//   - A Stream is an event stream, a socket or a program that a step has opened.
//
// The function runs in the goroutine of its test, because only that goroutine may end the test. The targets are driven
// by another one, which closes everything when the function has returned, has panicked, or has ended its goroutine.
package code

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Keys are keys of a scenario or of a step with their values, as docs/scenarios.md describes them. A value is anything
// that encoding/json encodes.
type Keys map[string]any

// A Story is a scenario in Go.
type Story struct {
	ID    string // the name of the test
	Keys  Keys   // of the scenario, without its steps; why is required
	Steps func(*Client)
	// Fatal ends the goroutine of the test with an error. It is called for a step that has a mistake.
	Fatal func(error)
	// Failed reports whether the test has failed by itself. Then the scenario is not judged as green.
	Failed func() bool
	// File and Line are the place of the call that names Steps, for a function whose own place is unknown.
	File string
	Line int
}

// Run runs a story on the targets of a session. It returns its verdict also when the steps panic or end their goroutine,
// through report, because then it does not return itself. The error is scenario.Problems when the keys have mistakes.
func Run(ctx context.Context, session *engine.Session, p *project.Project, story *Story, report func(*verdict.Scenario)) error {
	file, line := place(story)
	draft, problems := scenario.NewDraft(scenario.Place{File: shown(file), Line: line}, story.ID, story.Keys)
	if len(problems) > 0 {
		return problems
	}
	check, problems := project.CheckCode(p, draft.Scenario)
	if len(problems) > 0 {
		return problems
	}
	draft.Scenario.Text, _ = os.ReadFile(file) // without it, reports show no excerpts
	c := &Client{story: story, draft: draft, check: check, file: file, work: make(chan func()), done: make(chan struct{})}
	ready := make(chan struct{})
	var v verdict.Scenario
	go func() {
		defer close(c.done)
		v = session.Scenario(ctx, draft.Scenario, func(s *run.Stepper) string {
			c.stepper = s
			close(ready)
			for do := range c.work {
				do()
			}
			return c.cut
		})
	}()
	defer func() {
		close(c.work)
		<-c.done
		report(&v)
	}()
	select {
	case <-ready:
		c.perform()
	case <-c.done: // no step was needed
	}
	return nil
}

// perform runs the steps, and finds out why they end early.
func (c *Client) perform() {
	failed := c.story.Failed()
	c.cut = "the function of the test did not return: it panicked, or ended the test"
	c.story.Steps(c)
	c.cut = ""
	if !failed && c.story.Failed() {
		c.cut = "the test failed by itself"
	}
	problems := append(c.draft.End(), c.check.End()...)
	if err := problems.Err(); err != nil {
		c.cut = "the steps have mistakes"
		c.story.Fatal(err)
	}
}

// A Client performs the steps of a scenario on all targets, one after the other. It may be used in several goroutines,
// but the order of their steps is then left to chance.
type Client struct {
	story   *Story
	stepper *run.Stepper
	file    string // the Go file of the steps
	work    chan func()
	done    chan struct{} // closed when the targets are not driven any more
	cut     string        // why the steps end early; read when work is closed

	mu    sync.Mutex // guards the fields below, and makes steps wait for each other
	draft *scenario.Draft
	check *project.CodeCheck
}

// HTTP sends a request, "POST /notes", and waits for the responses. Its keys are those of an http step: json, headers,
// expect, compare and so on.
func (c *Client) HTTP(request string, with ...Keys) *Answers {
	return c.step(Keys{"http": request}, with)
}

// Do tells the drivers of client libraries to do something. with, in its keys, goes with it.
func (c *Client) Do(name string, with ...Keys) *Answers { return c.step(Keys{"do": name}, with) }

// Open opens an event stream, a socket or a program, which is recorded from then on: Keys{"sse": "GET /feed"},
// Keys{"socket": "/chat"} or Keys{"program": Keys{}}.
func (c *Client) Open(name string, how ...Keys) *Stream {
	c.step(Keys{"open": name}, how)
	return &Stream{client: c, name: name}
}

// Step performs any other step: Keys{"poll": "GET /job", "until": …}, Keys{"kill": "target"}.
func (c *Client) Step(keys ...Keys) *Answers { return c.step(Keys{}, keys) }

// step performs a step. A mistake in it ends the test.
func (c *Client) step(first Keys, others []Keys) *Answers {
	keys := maps.Clone(first)
	for _, k := range others {
		maps.Copy(keys, k)
	}
	line := c.line()
	c.mu.Lock()
	defer c.mu.Unlock()
	st, problems := c.draft.Step(line, keys)
	if len(problems) == 0 {
		problems = c.check.Step(st)
	}
	if err := problems.Err(); err != nil {
		c.story.Fatal(err)
	}
	out := &Answers{client: c, step: st.ID}
	c.drive(func() {
		for _, o := range c.stepper.Step(st) {
			out.all = append(out.all, answer(&o))
		}
	})
	return out
}

// capture gives a name to a value of a step, and returns its expression.
func (c *Client) capture(step string, of scenario.Capture) string {
	line := c.line()
	c.mu.Lock()
	defer c.mu.Unlock()
	of.Name = valueName(of.Path + of.Header)
	of, problems := c.draft.Capture(line, of)
	if err := problems.Err(); err != nil {
		c.story.Fatal(err)
	}
	c.drive(func() { c.stepper.Capture(step, []scenario.Capture{of}) })
	return "${{ " + of.Name + " }}"
}

// drive runs a function in the goroutine that drives the targets, and waits for it.
func (c *Client) drive(do func()) {
	finished := make(chan struct{})
	select {
	case c.work <- func() { defer close(finished); do() }:
		<-finished
	case <-c.done:
		c.story.Fatal(fmt.Errorf("%s: the scenario has ended", c.story.ID))
	}
}

// line returns the line of the innermost call in the file of the steps. Steps in another goroutine have the line of the
// scenario.
func (c *Client) line() int {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if frame.File == c.file {
			return frame.Line
		}
		if !more {
			return c.draft.Scenario.Line
		}
	}
}

// place returns the place of the function with the steps.
func place(story *Story) (file string, line int) {
	if f := runtime.FuncForPC(reflect.ValueOf(story.Steps).Pointer()); f != nil {
		file, line = f.FileLine(f.Entry())
	}
	if !strings.HasSuffix(file, ".go") { // a method value is wrapped in generated code
		return story.File, story.Line
	}
	return file, line
}

// shown returns a file's path as go test shows it: relative to the folder of the package.
func shown(file string) string {
	dir, err := os.Getwd()
	if err != nil {
		return file
	}
	if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return file
}
