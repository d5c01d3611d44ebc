//go:build unix

package engine_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
)

// Both servers keep their items in memory and lose them, so there is no difference.
const restarting = `scenario: process/again
why: What a server has in memory is lost when it starts again
source: openapi.yaml
isolate: fresh
steps:
  - http: POST /items
    json: {shelf: "s-${{ unique }}", name: lamp, tags: []}
    capture: {lamp: $.id}
%s
  - http: GET /items/${{ lamp }}
    expect: {status: 404}
`

func TestProcessesAreStartedAgain(t *testing.T) {
	const (
		restart = "  - restart: target"
		kill    = "  - open: bus\n    sse: GET /events\n    query: {shelf: \"s-${{ unique }}\"}\n  - await: bus\n    match: {event: hello}\n  - kill: target\n  - await: bus\n    end: server\n    within: 2s\n  - restart: target"
	)
	for _, tc := range []struct {
		name, role, steps string
		want              []string
		verdict           verdict.Verdict
	}{
		{"a right one, asked to end", "right", restart, nil, verdict.Match},
		{"a right one, killed", "right", kill, nil, verdict.Match},
		{"one that ends badly", "ends-badly", restart, []string{`difference exit-status 2 exit: exit status 0, exit status 1`}, verdict.Differ},
		{"one that ends badly, killed", "ends-badly", kill, nil, verdict.Match},
		{"one that does not end", "does-not-end", restart, []string{
			`shortfall target-not-stopped 2 exit: to end, terminate target "wrong": still running after SIGTERM: the stop's 100ms were over`}, verdict.Differ},
		{"one that starts only once", "starts-once", restart, []string{
			`shortfall target-not-restarted 2 restart: the target to be ready again, start target "wrong": exited before it was ready: exit status 3`}, verdict.Differ},
	} {
		t.Run(tc.name, func(t *testing.T) {
			slow(t)
			t.Parallel()
			report := ""
			if tc.role == "does-not-end" {
				l := faux.Listen(t)
				report = l.Addr().String()
				defer gone(t, l)
			}
			wrong := strings.Replace(process(t, "wrong", tc.role, report), "env: {", "env: {"+homeVariable+": \"${{ directory }}\", ", 1)
			patient := func(target string) string { return strings.Replace(target, "stop: 100ms", "stop: 60s", 1) }
			if tc.role != "does-not-end" { // on a busy machine, the exit takes time as well
				wrong = patient(wrong)
			}
			file := fauxproject.Write(t, patient(process(t, "right", "right", ""))+wrong)
			fauxproject.Add(t, file, "scenarios/process/again.yaml", fmt.Sprintf(restarting, tc.steps))
			p := fauxproject.Load(t, file)
			var observed bytes.Buffer
			result, err := engine.Run(t.Context(), p, &engine.Options{
				Select: project.Selection{Paths: []string{"process/again"}}, Environ: os.Environ(), RunFile: &observed,
			})
			if err != nil {
				t.Fatal(err)
			}
			isJudgedAgain(t, p, &observed, result)
			s := result.Scenarios[0]
			var got []string
			for _, f := range s.Findings {
				got = append(got, fmt.Sprintf("%s %s %s %s: %s, %s", f.Class, f.Kind, f.Step, f.Place, f.Reference+f.Want, f.Candidate+f.Got))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if s.Verdict != tc.verdict || len(s.Reasons) > 0 {
				t.Errorf("the scenario is %s %v, want %s", s.Verdict, s.Reasons, tc.verdict)
			}
		})
	}
}

func TestAServerThatRunsIsNotStartedAgain(t *testing.T) {
	file := fauxproject.Write(t, fauxproject.Running)
	fauxproject.Add(t, file, "scenarios/process/again.yaml", fmt.Sprintf(restarting, "  - restart: target"))
	result, err := engine.Run(t.Context(), fauxproject.Load(t, file), &engine.Options{
		Targets: []string{"right=" + faux.Serve(t, &faux.Server{}), "wrong=" + faux.Serve(t, &faux.Server{})},
		Select:  project.Selection{Paths: []string{"items", "process/again"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := result.Scenarios[len(result.Scenarios)-1]
	const want = "it needs newly started targets, but right is a server that is already running"
	if s.ID != "process/again" || s.Verdict != verdict.NotApplicable || len(s.Reasons) != 1 || s.Reasons[0].Text != want {
		t.Errorf("%s is %s: %v", s.ID, s.Verdict, s.Reasons)
	}
}
