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
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// askingProcesses is a project whose targets are processes that find their upstream in their environment.
func askingProcesses(t *testing.T, right, wrong string, scenarios map[string]string) *project.Project {
	t.Helper()
	slow(t)
	self := testfile.Program(t)
	var targets strings.Builder
	for i, role := range []string{right, wrong} {
		fmt.Fprintf(&targets, "  %s:\n    command: [%q, \"${{ host }}:${{ port }}\"]\n    env: {%s: %s, %s: \"${{ stub.llm }}\", GORACE: atexit_sleep_ms=0}\n    ready: {get: /health, within: 60s}\n    stop: 100ms\n",
			[]string{"right", "wrong"}[i], self, roleVariable, role, upstreamVariable)
	}
	before, after, _ := strings.Cut(asking, "targets:\n")
	_, after, _ = strings.Cut(after, "stubs:")
	return askers(t, before+"targets:\n"+targets.String()+"stubs:"+strings.Replace(after, "settle: 100ms", "settle: 1s", 1), scenarios)
}

// A scenario with its own targets gets all requests to their upstreams: those from their start, and those without its
// token.
func TestAFreshScenarioOwnsAllThatItsTargetsAsk(t *testing.T) {
	story := map[string]string{"ask/alone": `
isolate: fresh
stubs: {llm: [{name: answer, answer: {text: "5"}}]}
steps:
  - {http: POST /ask, json: {text: "2 + 3?", upstream: ""}, expect: {json: {answers: ["5"]}}}
`}
	for _, tc := range []struct {
		wrong string
		want  []faux.Finding
	}{
		{"asker", nil},
		{"asker-twice", []faux.Finding{{Class: "difference", Kind: "count", Step: "llm.models", Place: "requests", Reference: "1", Candidate: "2", Blame: "contract silent"}}},
		{"asker-blurts", []faux.Finding{
			{Class: "difference", Kind: "count", Step: "llm.models", Place: "requests", Reference: "1", Candidate: "0", Blame: "contract silent"},
			{Class: "shortfall", Kind: "upstream-unexpected", Step: "llm.unexpected", Place: "request 1", Reference: "no such request", Candidate: `POST /v1/chat/completions {"messages":null,"model":"terse-1"}`, Blame: "candidate"},
		}},
	} {
		p := askingProcesses(t, "asker", tc.wrong, story)
		_, result := fauxproject.Record(t, p, engine.Options{Select: project.Selection{Paths: []string{"ask/alone"}}, Environ: os.Environ()})
		if d := cmp.Diff(tc.want, findings(&result.Scenarios[0])); d != "" {
			t.Errorf("%s (-want +got):\n%s\n%v", tc.wrong, d, result.Scenarios[0].Reasons)
		}
	}
}

// A request that a shared target sends before any scenario runs is reported in the first scenario.
func TestOutputOfASharedTargetIsReported(t *testing.T) {
	p := askingProcesses(t, "asker", "asker-blurts", map[string]string{"ask/shared": `
stubs: {llm: [{name: answer, answer: {text: "5"}}]}
steps:
  - {http: POST /ask, json: {text: "${{ unique }}?", upstream: ""}}
`})
	_, result := fauxproject.Record(t, p, engine.Options{Select: project.Selection{Paths: []string{"ask/shared"}}, Environ: os.Environ()})
	got := findings(&result.Scenarios[0])
	if len(got) != 1 || got[0].Kind != "upstream-unexpected" || got[0].Blame != "candidate" {
		t.Errorf("found: %v %v", got, result.Scenarios[0].Reasons)
	}
}

// A target that is killed disconnects from its upstream. After a restart, it finds the upstream at the same address.
func TestATargetIsKilledWhileItsUpstreamHangs(t *testing.T) {
	p := askingProcesses(t, "asker", "asker", map[string]string{"ask/killed": `
isolate: fresh
stubs:
  llm:
    - {name: silence, answer: {end: hang}}
    - {name: answer, answer: {text: "5"}}
steps:
  - {start: long, http: POST /ask, json: {text: "2 + 3?", upstream: ""}}
  - asked: llm.silence
  - kill: target
  - close: long
  - restart: target
    within: 60s
  - {http: POST /ask, json: {text: "2 + 3?", upstream: ""}, expect: {json: {answers: ["5"]}}}
`})
	_, result := fauxproject.Record(t, p, engine.Options{Select: project.Selection{Paths: []string{"ask/killed"}}, Environ: os.Environ()})
	if s := result.Scenarios[0]; s.Verdict != verdict.Match {
		t.Errorf("%s: %v %v", s.Verdict, s.Findings, s.Reasons)
	}
}
