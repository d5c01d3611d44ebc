//go:build unix

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/contract"
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
	var c contract.Coverage
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
