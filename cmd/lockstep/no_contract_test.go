//go:build unix

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// without writes a project without a contract: two scenarios, one of which expects nothing. The targets answer GET / with
// these texts.
func without(t *testing.T, answers ...string) testProject {
	t.Helper()
	dir := t.TempDir()
	p := testProject{dir, dir + "/lockstep.yaml"}
	text := "scenarios: scenarios\nreference: old\ntargets:\n"
	for i, answer := range answers {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(answer))
		}))
		t.Cleanup(server.Close)
		text += "  " + []string{"old", "new"}[i] + ": {url: " + server.URL + ", ready: {get: /}}\n"
	}
	p.write(t, "lockstep.yaml", text)
	p.write(t, "scenarios/plain.yaml", "scenario: plain\nwhy: It answers\nsource: README\nsteps:\n  - http: GET /\n")
	p.write(t, "scenarios/expects.yaml", "scenario: expects\nwhy: It answers with 200\nsource: README\nsteps:\n  - http: GET /\n    expect: {status: 200}\n")
	return p
}

func TestAProjectWithoutAContractIsComparedAndSaysWhatWasNotJudged(t *testing.T) {
	p := without(t, `{"a":1}`, `{"a":2}`)
	o := p.do(t, "run")
	if o.code != exitDiffer || !strings.Contains(o.stdout, " · no contract · old (reference), new · ") ||
		!strings.Contains(o.stdout, "\ncontract      none: nothing was judged by a contract\n") ||
		!strings.Contains(o.stdout, "\nblame         differ: not in the contract 2\n") || strings.Contains(o.stdout, "silent") {
		t.Errorf("run: %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	for file, want := range map[string]string{
		"junit.xml": `name="contract" value="none: nothing was judged by a contract"`, "report.html": "none: nothing was judged by a contract", "report.json": `"contract": ""`,
	} {
		if got := p.read("reports/" + file); !strings.Contains(got, want) {
			t.Errorf("%s does not contain %s", file, want)
		}
	}
	if o := p.do(t, "judge"); o.code != exitDiffer {
		t.Errorf("judge: %+v", o)
	}
	if o := p.do(t, "lint"); o.code != exitMatch {
		t.Errorf("lint: %+v", o)
	}
	if o := p.do(t, "coverage"); o.code != exitUsage || !strings.Contains(o.stderr, "lockstep.yaml names no contract, so there is no coverage\n\tfix: name the OpenAPI document: contract: openapi.yaml") {
		t.Errorf("coverage: %+v", o)
	}
}

func TestWithoutAContractOneTargetIsJudgedByExpectationsAlone(t *testing.T) {
	doc := without(t, `{"a":1}`).judged(t)
	got := map[string]verdict.Verdict{}
	for _, s := range doc.Scenarios {
		got[s.ID] = s.Verdict
	}
	if got["plain"] != verdict.Unknown || got["expects"] != verdict.Match || doc.Verdict != verdict.Unknown {
		t.Errorf("%v, run %v: a scenario that nothing judges is unknown", got, doc.Verdict)
	}
	o := without(t, `{"a":1}`).do(t, "run", "expects")
	if want := "match: old meets all expectations in 1 scenario; there is no contract\n"; o.code != exitMatch || !strings.HasSuffix(o.stdout, want) {
		t.Errorf("run: %d\n%s, want %q at its end", o.code, o.stdout, want)
	}
}

func TestADemandOfCoverageNeedsAContract(t *testing.T) {
	p := without(t, "{}")
	p.write(t, "lockstep.yaml", p.read("lockstep.yaml")+"coverage: {operations: 100%}\n")
	o := p.do(t, "run")
	if o.code != exitUsage || !strings.Contains(o.stderr, "lockstep.yaml:5:1: coverage is that of a contract, and this project has none\n  5 | coverage: {operations: 100%}\n    | ^\n\tfix: name the OpenAPI document: contract: openapi.yaml") {
		t.Errorf("run: %+v", o)
	}
}
