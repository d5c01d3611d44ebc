package project_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// A project whose scenarios are all in Go names no folder. It has nothing to select.
func TestAProjectNeedsNoScenariosInFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lockstep.yaml")
	testfile.Write(t, file, "reference: a\ntargets:\n  a: {program: [a]}\n  b: {program: [b]}\n")
	p, err := project.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Select(project.Selection{})
	if usage, ok := errors.AsType[*project.UsageError](err); !ok || !strings.Contains(usage.Error(), "the project has no scenarios in files") {
		t.Errorf("Select: %v", err)
	}
	draft, problems := scenario.NewDraft(scenario.Place{File: "a_test.go", Line: 3}, "TestA", map[string]any{"why": "it is a test"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	check, problems := project.CheckCode(p, draft.Scenario)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	step, problems := draft.Step(5, map[string]any{"http": "GET /"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	const want = "a_test.go:5: http is a step for servers, but the targets are programs\n\tfix: start the program, and send it a line"
	if got := check.Step(step); got.Error() != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
