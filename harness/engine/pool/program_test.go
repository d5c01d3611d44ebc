//go:build unix

package pool

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/target"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/stdio"
)

// silent is an Observer that is interested in nothing.
type silent struct{}

func (silent) Starting(string) func()        { return func() {} }
func (silent) OwnerUnchecked(string, string) {}
func (silent) Watch(string) run.Watch {
	return func(run.Activity) func(run.Outcome) { return func(run.Outcome) {} }
}

// programPool returns a pool with one target, a shell as a program, and a stub.
func programPool(t *testing.T, script string) *Pool {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	spec := target.Spec{
		Name: "sh", Program: true, Command: []string{"sh", "-c", script, "sh"},
		Env:    map[string]string{"API": "${{ stub.api }}", "AT": "${{ directory }}", "OWN": "no"},
		Files:  []target.File{{Path: "conf", Data: []byte("of the project")}},
		Values: map[string]string{scenario.StubPrefix + "api": ""},
	}
	return New(t.Context(), []project.Target{{Spec: spec}}, Options{
		Environ: os.Environ(), Program: "lockstep", Observer: silent{}, Log: slog.New(slog.DiscardHandler),
		Stubs: []project.Stub{{Name: "api", Kind: stub.HTTP}},
	})
}

// only starts the pool, and returns its target.
func only(t *testing.T, p *Pool) *run.Target {
	t.Helper()
	targets, errs := p.Start()
	if errs != nil {
		t.Fatal(errs)
	}
	return targets[0]
}

// linesOf starts the program, and returns what it writes until its exit.
func linesOf(t *testing.T, of *run.Target, o run.ProgramOptions) (lines []string) {
	t.Helper()
	started, err := of.Program(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	p := stdio.Open(started, nil)
	if err := p.AwaitEnd(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	var s transcript.Stream
	p.Record(&s)
	for _, ev := range s.Events {
		lines = append(lines, ev.Data)
	}
	return lines
}

func TestAProgramTargetStartsAProcessForEachStep(t *testing.T) {
	p := programPool(t, `echo "$API $AT $OWN $1"; cat "$AT/conf"; echo; echo changed >"$AT/conf"`)
	defer p.Stop()
	p.Configure(scenario.Setup{Env: []scenario.Setting{{Name: "OWN", Text: "yes"}}})
	of := only(t, p)
	if of.Client != nil || of.Process != nil || !of.Since.IsZero() {
		t.Errorf("the target has a server: %+v", of)
	}
	start := of.Stubs["api"].URL() + " " + of.Directory
	for i, want := range [][]string{
		{start + " yes a", "of the project", `{"status":0}`},
		{start + " step b", "changed", "", `{"status":0}`}, // the second process has the same directory
	} {
		o := []run.ProgramOptions{{Args: []string{"a"}}, {Args: []string{"b"}, Env: map[string]string{"OWN": "step"}}}[i]
		if got := linesOf(t, of, o); !slices.Equal(got, want) {
			t.Errorf("process %d wrote %q, want %q", i, got, want)
		}
	}
	if again := only(t, p); again != of {
		t.Error("the target has been replaced, although nothing of it can end")
	}
	p.Stop()
	if _, err := os.Stat(of.Directory); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is left: %v", err)
	}
}

func TestAPoolStopsTheProgramsThatNoStepHasStopped(t *testing.T) {
	p := programPool(t, "sleep 1000 & yes")
	of := only(t, p)
	started, err := of.Program(t.Context(), run.ProgramOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p.Stop()
	if !waiting.IsClosed(started.Exited()) {
		t.Error("the program still runs")
	}
	if _, err := of.Program(t.Context(), run.ProgramOptions{}); !errors.Is(err, errInstanceEnded) {
		t.Errorf("a start after the end: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := of.Program(ended, run.ProgramOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a start after its step: %v", err)
	}
}

// A scenario's own files can have what a program does not have.
func TestAProgramTargetIsCheckedBeforeItsFirstStep(t *testing.T) {
	p := programPool(t, "exit 0")
	defer p.Stop()
	p.Configure(scenario.Setup{Files: []scenario.Setting{{Name: "conf", Text: "${{ port }}"}}})
	_, errs := p.Start()
	if err := errors.Join(errs...); err == nil || !strings.Contains(err.Error(), `target "sh": it uses ${{ port }} or ${{ host }}, but a program has neither`) {
		t.Errorf("Start: %v", errs)
	}
}
