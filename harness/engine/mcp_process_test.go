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
	"github.com/lockstep-dev/lockstep/harness/lab/mutaterun"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// hosts is a project of two processes that have each sent something to an MCP server.
func hosts(t *testing.T, rules, ownRules string, said ...string) *project.Project {
	t.Helper()
	slow(t)
	self := testfile.Program(t)
	var config strings.Builder
	config.WriteString("contract: openapi.yaml\nscenarios: scenarios\nreference: right\nlimits: {step: 60s, scenario: 60s, settle: 1s}\ntargets:\n")
	for i, name := range []string{"right", "wrong"} {
		fmt.Fprintf(&config, "  %s:\n    command: [%q, \"${{ host }}:${{ port }}\"]\n    env: {%s: host, %s: %q, %s: \"${{ directory }}\", GORACE: atexit_sleep_ms=0}\n    ready: {get: /health, within: 60s}\n    stop: 100ms\n",
			name, self, roleVariable, saidVariable, said[i], homeVariable)
	}
	dir := t.TempDir()
	if err := faux.WriteAsking(dir); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "lockstep.yaml")
	fauxproject.Add(t, file, "lockstep.yaml", config.String()+rules)
	fauxproject.Add(t, file, "scenarios/ask.yaml", "") // replaces the project's own scenario
	if err := os.RemoveAll(filepath.Join(dir, "scenarios")); err != nil {
		t.Fatal(err)
	}
	fauxproject.Add(t, file, "scenarios/host.yaml", "scenario: host\nwhy: The target sends messages to an MCP server\nsource: here\nisolate: fresh\n"+ownRules+
		"steps:\n  - {http: GET /health, query: {home: \"${{ directory }}\"}}\n")
	return fauxproject.Load(t, file)
}

// said is one line of a record.
func said(method, body string) string {
	return fmt.Sprintf(`{"at":"2026-11-20T22:40:00Z","method":%q,"body":%s}`, method, body) + "\n"
}

func TestRulesForMessagesToAnMCPServer(t *testing.T) {
	gone := func(reason string) string {
		return said("initialize", "{}") + said("notifications/cancelled", `{"requestId":1,"reason":"`+reason+`"}`)
	}
	rule := func(of string) string {
		return "compare: {mcp: {" + of + ": {volatile: [{at: $.reason, kind: text, because: a test}]}}}\n"
	}
	const call, differs = "notifications/cancelled", "difference value tools.notifications/cancelled request body /reason"
	for _, tc := range []struct {
		name, project, own string
		ref, cand          string
		want, unused       []string
	}{
		{"without a rule", "", "", gone("a"), gone("b"), []string{differs}, nil},
		{"of the project", rule(call), "", gone("a"), gone("b"), nil, nil},
		{"of the scenario", "", rule(call), gone("a"), gone("b"), nil, nil},
		{"of the server", rule("tools " + call), "", gone("a"), gone("b"), nil, nil},
		{"of another server", rule("tool " + call), "", gone("a"), gone("b"), []string{differs}, []string{"lockstep.yaml volatile $.reason of tool notifications/cancelled"}},
		{"of another method", "", rule("tools/call"), gone("a"), gone("b"), []string{differs}, []string{"host.yaml volatile $.reason of tools/call"}},
		{"that is not needed, and applies", rule(call), "", gone("a"), gone("a"), nil, nil},
		{"parameters that are left out", "", "", `{"at":"2026-11-20T22:40:00Z","method":"ping"}` + "\n", said("ping", "{}"), nil, nil},
		{"parameters that are null", "", "", said("ping", "null"), said("ping", "{}"), []string{"difference type tools.ping request body"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := hosts(t, tc.project, tc.own, tc.ref, tc.cand)
			file, result := fauxproject.Record(t, p, engine.Options{Environ: os.Environ()})
			isJudgedAgain(t, p, file, result)
			var got, unused []string
			for _, f := range findings(&result.Scenarios[0]) {
				got = append(got, f.Class+" "+f.Kind+" "+f.Step+" "+f.Place)
			}
			if d := cmp.Diff(tc.want, got); d != "" || (result.Verdict == verdict.Match) != (len(tc.want) == 0) {
				t.Errorf("%s (-want +got):\n%s%v", result.Verdict, d, result.Scenarios[0].Reasons)
			}
			for _, r := range result.Unused {
				unused = append(unused, filepath.Base(r.File)+" "+r.Rule)
			}
			if d := cmp.Diff(tc.unused, unused); d != "" {
				t.Errorf("rules that never applied (-want +got):\n%s", d)
			}
		})
	}
}

func TestMutantsOfMessagesToAnMCPServerAreFound(t *testing.T) {
	all := said("initialize", `{"protocolVersion":"2025-03-26"}`) + said("tools/call", `{"name":"echo","arguments":{"n":1.5,"a":["x"]}}`) +
		said("tools/call", `{"name":"slow"}`) + said("ping", "{}")
	p := hosts(t, "", "", all, all)
	file, result := fauxproject.Record(t, p, engine.Options{Environ: os.Environ()})
	if result.Verdict != verdict.Match {
		t.Fatalf("the run is %s: %v", result.Verdict, result.Scenarios[0].Findings)
	}
	score, err := mutaterun.Run(t.Context(), p, file, &mutaterun.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range append(score.FalseAlarms, score.Survivors...) {
		t.Errorf("%s at %s, %s → %s: %s%s", c.Operator, c.Place, c.Before, c.After, c.Hidden, c.Found)
	}
	for _, name := range []string{"upstream/forgotten", "upstream/twice", "upstream/swapped", "upstream/mcp-method", "upstream/mcp-bare", "string/other", "string/shorter"} {
		if row := score.Operator(name); row.Judged == 0 || row.Found != row.Judged {
			t.Errorf("%s: %d of %d were found", name, row.Found, row.Judged)
		}
	}
	for _, name := range []string{"upstream/method", "upstream/query", "upstream/header-value"} {
		if row := score.Operator(name); row.Judged != 0 {
			t.Errorf("%s: %d were judged, and a record has no such thing", name, row.Judged)
		}
	}
}
