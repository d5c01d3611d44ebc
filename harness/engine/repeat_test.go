package engine_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// moody is a project whose candidate gives a different response to every third request for /moody.
func moody(t *testing.T) *project.Project {
	t.Helper()
	serve := func(every int64) string {
		var n atomic.Int64
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			if r.URL.Path == "/moody" && n.Add(1)%every == 0 {
				fmt.Fprint(w, "bad")
				return
			}
			fmt.Fprint(w, "good")
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	dir := t.TempDir()
	const answer = "{get: {responses: {\"200\": {description: ok, content: {text/plain: {schema: {type: string}}}}}}}\n"
	for name, text := range map[string]string{
		"openapi.yaml":         "openapi: 3.0.3\ninfo: {title: moody, version: \"1\"}\npaths:\n  /health: " + answer + "  /moody: " + answer,
		"scenarios/moody.yaml": "scenario: moody\nwhy: It is asked\nsource: here\nsteps: [{http: GET /moody}]\n",
		"scenarios/well.yaml":  "scenario: well\nwhy: It is asked\nsource: here\nsteps: [{http: GET /health}]\n",
		"lockstep.yaml": fmt.Sprintf("contract: openapi.yaml\nscenarios: scenarios\nreference: right\ntargets:\n  right: {url: %q, ready: {get: /health}}\n  wrong: {url: %q, ready: {get: /health}}\n",
			serve(1<<40), serve(3)),
	} {
		testfile.Write(t, filepath.Join(dir, name), text)
	}
	return fauxproject.Load(t, filepath.Join(dir, "lockstep.yaml"))
}

// A scenario that fails rarely is green in most runs, and red when it is repeated.
func TestARepeatedScenarioIsGreenWhenAllOfItsRunsAre(t *testing.T) {
	p := moody(t)
	if result, err := engine.Run(t.Context(), p, nil); err != nil || result.Verdict != verdict.Match {
		t.Fatalf("once: %v, %v", result, err)
	}
	file, result := fauxproject.Record(t, p, engine.Options{Repeat: 5}) // requests 2 to 6; the responses to 3 and 6 are wrong
	want := []*verdict.Repeated{{Of: 5, Differ: 2, Shown: 2}, {Of: 5, Shown: 1}}
	if diff := cmp.Diff(want, []*verdict.Repeated{result.Scenarios[0].Repeated, result.Scenarios[1].Repeated}); diff != "" {
		t.Errorf("repeated (-want +got):\n%s", diff)
	}
	if result.Verdict != verdict.Differ || len(result.Scenarios[0].Findings) != 1 || result.Scenarios[1].Verdict != verdict.Match {
		t.Errorf("the run: %s, %+v", result.Verdict, result.Scenarios)
	}
	isJudgedAgain(t, p, file, result)
	var out strings.Builder
	if err := text.Write(&out, result.Document(p), text.Options{}); err != nil {
		t.Fatal(err)
	}
	if want := "repeated      5 runs of 2 scenarios; flaky: moody (2 of 5 differ)\n"; !strings.Contains(out.String(), want) {
		t.Errorf("the report does not say %q:\n%s", want, out.String())
	}
}

// What is red runs again, and stays red: it is steady, or flaky. Nothing else does.
func TestARedScenarioIsConfirmed(t *testing.T) {
	for _, tc := range []struct {
		name  string
		again *verdict.Repeated
		shown string
	}{
		{"flaky", &verdict.Repeated{Of: 3, Differ: 1, Shown: 1}, "/scenarios/moody.yaml:1  flaky: 1 of 3 differ\n"},
		{"steady", &verdict.Repeated{Of: 3, Differ: 3, Shown: 1}, "/scenarios/moody.yaml:1  steady in 3 runs\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := moody(t)
			dir := filepath.Dir(p.File)
			if tc.name == "steady" {
				testfile.Write(t, filepath.Join(dir, "scenarios/moody.yaml"), "scenario: moody\nwhy: It is asked\nsource: here\nsteps: [{http: GET /moody, expect: {status: 201}}]\n")
				p = fauxproject.Load(t, p.File)
			} else {
				for range 2 { // the third response is wrong
					if _, err := engine.Run(t.Context(), p, nil); err != nil {
						t.Fatal(err)
					}
				}
			}
			file, result := fauxproject.Record(t, p, engine.Options{Confirm: 2})
			if diff := cmp.Diff([]*verdict.Repeated{tc.again, nil}, []*verdict.Repeated{result.Scenarios[0].Repeated, result.Scenarios[1].Repeated}); diff != "" {
				t.Errorf("run again (-want +got):\n%s", diff)
			}
			if result.Verdict != verdict.Differ {
				t.Errorf("the run: %s", result.Verdict)
			}
			isJudgedAgain(t, p, file, result)
			var out strings.Builder
			if err := text.Write(&out, result.Document(p), text.Options{}); err != nil || !strings.Contains(out.String(), tc.shown) {
				t.Errorf("the report does not say %q: %v\n%s", tc.shown, err, out.String())
			}
		})
	}
}

func TestRepeatedShardsAreMerged(t *testing.T) {
	p := moody(t)
	var parts []runfile.Part
	for i := range 2 {
		var file bytes.Buffer
		if _, err := engine.Run(t.Context(), p, &engine.Options{Repeat: 3, Shard: project.Shard{Index: i + 1, Of: 2}, RunFile: &file}); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, runfile.Part{Name: fmt.Sprint(i), File: &file})
	}
	record, err := runfile.Merge(p, parts)
	if err != nil {
		t.Fatal(err)
	}
	var merged bytes.Buffer
	if err := record.Write(&merged); err != nil {
		t.Fatal(err)
	}
	result, err := engine.JudgeFile(t.Context(), p, record, nil)
	if err != nil || result.Verdict != verdict.Differ || *result.Scenarios[0].Repeated != (verdict.Repeated{Of: 3, Differ: 1, Shown: 3}) {
		t.Errorf("merged: %+v, %v", result, err)
	}
	isJudgedAgain(t, p, &merged, result)
}

func TestARecordingHasOneRunOfEachScenario(t *testing.T) {
	p := moody(t)
	if err := engine.Validate(p, &engine.Options{Repeat: 2, Record: &bytes.Buffer{}}); err == nil || !strings.Contains(err.Error(), "a recording has one run of each scenario") {
		t.Errorf("Validate: %v", err)
	}
	tape, _ := record(t, p, engine.Options{}) // the candidate's first response
	result := replay(t, p, tape, engine.Options{Repeat: 2})
	if r := result.Scenarios[0].Repeated; result.Verdict != verdict.Differ || r == nil || *r != (verdict.Repeated{Of: 2, Differ: 1, Shown: 2}) {
		t.Errorf("against a recording: %s, %+v", result.Verdict, r)
	}
}
