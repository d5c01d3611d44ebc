//go:build unix

package engine_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
)

// furnished is a scenario whose servers refuse to start when their directory has a folder "been".
func furnished(name, more string) string {
	return fmt.Sprintf(`scenario: items/%s
why: A scenario says what its servers start with
source: docs/scenarios.md, Processes
isolate: fresh
table: [{name: own, role: starts-once}]
env: {%s: "${{ row.role }}", %s: "${{ directory }}"}
%s
steps: [{http: GET /health}]
`, name, roleVariable, homeVariable, more)
}

func TestAScenarioSetsUpTheFilesOfItsServers(t *testing.T) {
	file := fauxproject.Write(t, process(t, "right", "right", "")+process(t, "wrong", "exits-at-start", ""))
	fauxproject.Add(t, file, "scenarios/items/env.yaml", furnished("env", ""))
	fauxproject.Add(t, file, "scenarios/items/files.yaml", furnished("files", `files: {been/here: {text: "${{ port }}"}}`))
	result, err := engine.Run(t.Context(), fauxproject.Load(t, file), &engine.Options{
		Select: project.Selection{Paths: []string{"items/env", "items/files"}}, Environ: os.Environ(),
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range result.Scenarios {
		got = append(got, fmt.Sprintf("%s: %s", s.ID, s.Verdict))
	}
	if diff := cmp.Diff([]string{"items/env[own]: match", "items/files[own]: unknown"}, got); diff != "" {
		t.Errorf("scenarios (-want +got):\n%s", diff)
	}
}

func TestFilesOfAScenarioStayInTheDirectory(t *testing.T) {
	file := fauxproject.Write(t, fauxproject.Running)
	fauxproject.Add(t, file, "scenarios/items/files.yaml", furnished("files", "files: {../here: {text: x}}"))
	_, err := project.Load(file)
	want := `files.yaml:7:9: file "../here" is not a path below the directory`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
