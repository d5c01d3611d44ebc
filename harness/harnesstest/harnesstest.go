// Package harnesstest runs a project inside a Go test.
package harnesstest

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Test runs a project inside a test. Every scenario is a subtest, which fails when the targets differ or when the
// scenario could not be judged. A scenario that does not apply is skipped. file is the project's lockstep.yaml. Nil
// options mean to run everything.
func Test(t *testing.T, file string, options *engine.Options) {
	t.Helper()
	p, err := project.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	result, err := engine.Run(t.Context(), p, withEnviron(options))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range result.Scenarios {
		t.Run(s.ID, func(t *testing.T) { check(t, &s) })
	}
	checkRun(t, result)
}

// checkRun fails a test for what is about the run as a whole.
func checkRun(t testing.TB, result *engine.Result) {
	t.Helper()
	for i := range result.Waivers {
		if w := &result.Waivers[i]; w.State == verdict.Stale {
			t.Error(staleText(w))
		}
	}
	if g := result.Gate; g != nil && g.State == coverage.GateMissed {
		t.Errorf("%s:%d: less of the contract is reached than is demanded: %s", g.File, g.Line, g)
	}
	switch judged := len(result.Scenarios) - result.Totals.NotApplicable; {
	case result.Incomplete != "":
		t.Error(result.Incomplete)
	case judged == 0 && !result.AllowEmpty:
		t.Error("nothing was judged; Options.AllowEmpty accepts that") // if all subtests were skipped, the test would look green
	}
}

// withEnviron adds the environment of the test to options without one.
func withEnviron(options *engine.Options) *engine.Options {
	var out engine.Options
	if options != nil {
		out = *options
	}
	if out.Environ == nil {
		out.Environ = os.Environ()
	}
	return &out
}

func check(t testing.TB, s *verdict.Scenario) {
	t.Helper()
	for _, f := range s.Findings {
		say := t.Errorf
		if f.Accepted() {
			say = t.Logf
		}
		say("%s:%d: %s", s.File, f.Line, f)
	}
	for _, r := range s.Reasons {
		text := r.String()
		if len(r.Log) > 0 {
			text += "\n" + strings.Join(r.Log, "\n")
		}
		switch s.Verdict {
		case verdict.NotApplicable:
			t.Skip(text)
		default:
			t.Errorf("%s:%d: %s", s.File, cmp.Or(r.Line, s.Line), text)
		}
	}
}

// staleText says that a waiver is not needed any more.
func staleText(w *verdict.WaiverUse) string {
	return fmt.Sprintf("%s:%d: waiver %s is stale: what it accepts does not occur any more; remove it", w.File, w.Line, w.ID)
}
