//go:build unix

package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

func TestCoverageIsPrintedFromARunFile(t *testing.T) {
	p := two(t, "")
	if o := p.do(t, "coverage"); o.code != exitUsage || !strings.Contains(o.stderr, "run.jsonl: no such file or directory\n\tfix: `lockstep run` writes it") {
		t.Errorf("without a run: %+v", o)
	}
	if o := p.do(t, "run", "items/story"); o.code != exitMatch {
		t.Fatalf("%+v", o)
	}
	o := p.do(t, "coverage")
	for _, want := range []string{
		"contract      operations 5/7 · statuses 6/13 · events 0/4\nschema        15/21 properties · 1/3 enum values\n\n",
		"GET /items                   2                      never\n",
		"never reached: operations 5/7\n  openapi.yaml:6  GET /health\n",
		"  openapi.yaml:17  GET /health 200 application/json status\n",
	} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("it does not say %q:\n%s", want, o.stdout)
		}
	}
	if o.code != exitMatch || o.stderr != "" {
		t.Errorf("%+v", o)
	}
	var c coverage.Coverage
	if o = p.do(t, "coverage", "--json"); json.Unmarshal([]byte(o.stdout), &c) != nil || c.SchemaTotals().String() != "15/21 properties · 1/3 enum values" {
		t.Errorf("--json: %+v", o)
	}
	if o = p.do(t, "coverage", "--color", "pink"); o.code != exitUsage || !strings.Contains(o.stderr, `--color is "pink"`) {
		t.Errorf("%+v", o)
	}
	if o = p.do(t, "coverage", "a", "b"); o.code != exitUsage {
		t.Errorf("%+v", o)
	}
}

// demand adds a demand for coverage to a project. It removes a scenario that cannot run on servers that already run,
// because without it coverage could not be judged.
func (p testProject) demand(t *testing.T, text string) {
	t.Helper()
	testfile.Remove(t, filepath.Join(p.dir, "scenarios", "process", "stop.yaml"))
	p.write(t, "lockstep.yaml", p.read("lockstep.yaml")+"coverage:\n"+text)
}

func TestTooLittleCoverageIsRed(t *testing.T) {
	for _, tc := range []struct {
		name, demand string
		args         []string
		code         int
		says         string
	}{
		{"enough", "  operations: 50%\n", nil, exitMatch, "\ndemanded      operations 85.71% (at least 50%)\n"},
		{"too little", "  statuses: 100%\n", nil, exitDiffer, "but at least 100% is required; never reached:\n    openapi.yaml:"},
		{"a stale exception", "  statuses: 1%\n  except: [{status: GET /items 200, because: it was so}]\n", nil, exitDiffer, "the exception for status GET /items 200 is stale"},
		{"some scenarios", "  statuses: 100%\n", []string{"items/story"}, exitMatch, " scenarios were selected\n"},
		{"by a tag", "  statuses: 100%\n", []string{"--name", "shelf"}, exitMatch, " scenarios were selected\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := two(t, "")
			p.demand(t, tc.demand)
			o := p.do(t, "run", tc.args...)
			if o.code != tc.code || !strings.Contains(o.stdout, tc.says) {
				t.Errorf("exit code %d, want %d, and it should say %q:\n%s%s", o.code, tc.code, tc.says, o.stdout, o.stderr)
			}
			again := p.do(t, "judge")
			if again.code != tc.code || again.stdout != o.stdout {
				t.Errorf("judge: exit code %d, want %d; it says\n%s", again.code, tc.code, again.stdout)
			}
			if failed := strings.Contains(p.read("reports/junit.xml"), `<failure type="coverage"`); failed != (tc.code == exitDiffer) {
				t.Errorf("JUnit has a failure for it: %v", failed)
			}
		})
	}
}

func TestWhatCannotBeJudgedHasNoCoverageToJudge(t *testing.T) {
	p := newProject(t, at("right", faux.Serve(t, &faux.Server{})), exits)
	p.demand(t, "  statuses: 100%\n")
	if o := p.do(t, "run"); o.code != exitUnknown || !strings.Contains(o.stdout, "more scenarios were not judged\n") {
		t.Errorf("%+v", o)
	}
}

func TestLintNotesSchemasThatAdmitAnything(t *testing.T) {
	p := two(t, "")
	if o := p.do(t, "lint"); o.code != exitMatch || strings.Contains(o.stderr, "admits any value") {
		t.Errorf("a contract without such a schema: %+v", o)
	}
	p.write(t, "openapi.yaml", strings.Replace(p.read("openapi.yaml"), "note: {type: string, nullable: true}", "note: {}", 1))
	if o := p.do(t, "lint"); o.code != exitMatch || !strings.Contains(o.stderr, "note: openapi.yaml:148:9: Item/properties/note allows any value\n") {
		t.Errorf("%+v", o)
	}
}
