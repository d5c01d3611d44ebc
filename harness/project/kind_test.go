package project_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
)

const programs = `scenarios: scenarios
reference: old
stubs: {api: {kind: openai}}
files: {conf: {text: "${{ stub.api }}"}}
targets:
  old: {KIND: ["./tool", "${{ directory }}"], env: {API: "${{ stub.api }}"}, stop: 1s, version: {file: lockstep.yaml}}
  new: {KIND: [tool, "--at=${{ stub.api }}"], inherit: [A], dir: "${{ directory }}"}
`

// asks awaits a request to the stub.
const asks = "stubs: {api: [{name: all, when: {stream: false}, answer: {text: a}}]}\nsteps: [{asked: api.all}]"

// programProject writes a project whose targets are of a kind. Its scenario has the given steps.
func programProject(t *testing.T, kind, steps string) string {
	t.Helper()
	file := fauxproject.Write(t, "")
	fauxproject.Add(t, file, "lockstep.yaml", strings.ReplaceAll(programs, "KIND", kind))
	if err := os.RemoveAll(filepath.Join(filepath.Dir(file), "scenarios")); err != nil {
		t.Fatal(err)
	}
	fauxproject.Add(t, file, "scenarios/one.yaml", "scenario: one\nwhy: It asks its upstream\nsource: here\n"+steps)
	return file
}

func TestTargetsCanBeProgramsAndDrivers(t *testing.T) {
	for _, kind := range []string{"program", "driver"} {
		p := fauxproject.Load(t, programProject(t, kind, asks))
		driver := kind == "driver"
		for i, t1 := range p.Targets {
			if !t1.Spec.Program || t1.Driver != driver || t1.Line != 6+i || len(t1.Spec.Files) != 1 {
				t.Errorf("%s: target %d is %+v", kind, i, t1)
			}
			if err := t1.Spec.Validate(); err != nil {
				t.Errorf("%s: %v", kind, err)
			}
		}
		if p.Scenarios[0].Fresh != driver {
			t.Errorf("%s: the scenario has targets of its own: %t", kind, p.Scenarios[0].Fresh)
		}
		if sums := p.Settings("old"); sums["targets.old."+kind] == "" {
			t.Errorf("a recording does not depend on the %s: %v", kind, sums)
		}
		_, _, err := p.ChooseTargets([]string{"old", "new=http://127.0.0.1:1"}, "")
		want := `target "new=http://127.0.0.1:1" is a server, but those of ` + p.File + " are programs\n\tfix: name a target of that file"
		if err == nil || err.Error() != want {
			t.Errorf("a server among programs: %v, want %s", err, want)
		}
	}
}

func TestStepsForServersAreMistakesForPrograms(t *testing.T) {
	file := programProject(t, "program", "isolate: fresh\nsteps:\n  - {http: GET /health}\n  - {stop: target}\n")
	want := []string{
		"scenarios/one.yaml:6:12: http is a step for servers, but the targets are programs → start the program, and send it a line",
		"scenarios/one.yaml:7: stop is a step for servers, but the targets are programs → send a signal to what a step has started, or close it",
	}
	if diff := cmp.Diff(want, problems(t, file)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestAMissingProgramIsReportedAtItsPlace(t *testing.T) {
	p := fauxproject.Load(t, programProject(t, "program", asks))
	err := p.CheckCommands(p.Targets, []string{"PATH=" + t.TempDir()})
	want := `lockstep.yaml:7:19: command "tool": not found in PATH`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
