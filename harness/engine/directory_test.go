//go:build unix

package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// homely is a scenario in which the client sends the server the path of the server's own directory.
const homely = `scenario: items/home
why: A name that is a path is kept
source: openapi.yaml
steps:
  - http: POST /items
    json: {shelf: "s-${{ unique }}", name: "${{ directory }}/lamp", tags: []}
    capture: {lamp: $.id}
  - http: GET /items/${{ lamp }}
    expect: {json: {$.name: "${{ directory }}/lamp"}}
`

func TestEveryProcessHasADirectoryWhenAScenarioSpeaksOfIt(t *testing.T) {
	slow(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	file := fauxproject.Write(t, process(t, "right", "right", "")+process(t, "wrong", "right", ""))
	fauxproject.Add(t, file, "scenarios/items/home.yaml", homely)
	p := fauxproject.Load(t, file)
	result, err := engine.Run(t.Context(), p, &engine.Options{Select: project.Selection{Paths: []string{"items"}}, Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	if result.Totals.Match != 3 || len(result.Scenarios) != 3 {
		t.Errorf("totals %+v, want three that match: %+v", result.Totals, result.Scenarios)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestAScenarioThatSpeaksOfADirectoryDoesNotApplyToAServerThatRuns(t *testing.T) {
	file := fauxproject.Write(t, fauxproject.Running)
	fauxproject.Add(t, file, "scenarios/items/home.yaml", homely)
	result, err := engine.Run(t.Context(), fauxproject.Load(t, file), &engine.Options{
		Targets: []string{"right=" + faux.Serve(t, &faux.Server{}), "wrong=" + faux.Serve(t, &faux.Server{})},
		Select:  project.Selection{Paths: []string{"items"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range result.Scenarios {
		got = append(got, fmt.Sprintf("%s: %s %v", s.ID, s.Verdict, s.Reasons))
	}
	want := []string{
		"items/every-step: match []",
		"items/home: not-applicable [it uses the target's directory, but right is a server that is already running]",
		"items/story: match []",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("scenarios (-want +got):\n%s", diff)
	}
}

func TestANameThatAScenarioGivesItselfIsItsOwn(t *testing.T) {
	file := fauxproject.Write(t, fauxproject.Running)
	fauxproject.Add(t, file, "scenarios/items/home.yaml", strings.Replace(homely, "steps:", "vars: {directory: /x}\nsteps:", 1))
	p := fauxproject.Load(t, file)
	for _, s := range p.Scenarios {
		if s.Directory {
			t.Errorf("%s speaks of the directory of the target", s.ID)
		}
	}
}

func TestFilesOfAProjectAndOfItsTargets(t *testing.T) {
	file := fauxproject.Write(t, process(t, "right", "right", ""))
	fauxproject.Add(t, file, "settings/a.yaml", "${{ port }}")
	text := testfile.Text(t, file)
	right := "files: {a.yaml: {text: \"${{ port }}\"}, b/c: settings/a.yaml}\n    dir: ${{ directory }}\n    command:"
	changed := strings.Replace(text, "command:", right, 1) + "files: {a.yaml: settings/a.yaml, d: {text: ''}}\n"
	changed = strings.Replace(changed, "reference: right\ntargets:", "reference: right\ntargets:\n  beside: {command: [bin/serve, \"${{ port }}\"], dir: \"${{ directory }}\", ready: {get: /health}}", 1)
	fauxproject.Add(t, file, "lockstep.yaml", changed)
	p := fauxproject.Load(t, file)
	var got []string
	for _, target := range p.Targets {
		got = append(got, target.Spec.Name+" in "+target.Spec.Dir+" "+strings.TrimPrefix(target.Spec.Command[0], filepath.Dir(file)))
		for _, f := range target.Spec.Files {
			got = append(got, fmt.Sprintf("%s %q %t", f.Path, f.Data, f.Text))
		}
	}
	self, _ := os.Executable()
	want := []string{
		"beside in ${{ directory }} /bin/serve", `a.yaml "${{ port }}" false`, `d "" true`,
		"right in ${{ directory }} " + self, `a.yaml "${{ port }}" true`, `b/c "${{ port }}" false`, `d "" true`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
}
