//go:build unix

package engine_test

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/memprocess"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// toolConfig is the lockstep.yaml of the tools.
const toolConfig = `contract: openapi.yaml
scenarios: scenarios
reference: right
targets:
  right: {program: [tool]}
  wrong: {program: [tool]}
compare:
  streams:
    program: {protocol: jsonrpc}
limits: {step: 5s, scenario: 20s, settle: 200ms, events: 800}
`

// programs loads a project of programs. write writes its other files.
func programs(t *testing.T, config string, write func(dir string) error) *project.Project {
	t.Helper()
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, filepath.Join(dir, "lockstep.yaml"), config)
	return fauxproject.Load(t, filepath.Join(dir, "lockstep.yaml"))
}

// toolTarget is a target that runs a tool in memory.
func toolTarget(name string, tool *faux.Tool) *run.Target {
	return &run.Target{Name: name, Program: func(_ context.Context, o run.ProgramOptions) (run.Program, error) {
		return memprocess.Start(tool.Main, o.Args, maps.Clone(o.Env), filepath.Join("/start", o.Dir)), nil
	}}
}

// runTools runs scenarios on two tools in memory, all when there are no ids.
func runTools(t *testing.T, p *project.Project, right, wrong *faux.Tool, ids ...string) *engine.Result {
	t.Helper()
	return runInMemory(t, p, ids, func(*testing.T) []*run.Target {
		return []*run.Target{toolTarget("right", right), toolTarget("wrong", wrong)}
	})
}

// runInMemory runs scenarios on targets of their own, under a fake clock.
func runInMemory(t *testing.T, p *project.Project, ids []string, targets func(t *testing.T) []*run.Target) *engine.Result {
	t.Helper()
	result := &engine.Result{}
	for _, s := range p.Scenarios {
		if len(ids) > 0 && !slices.Contains(ids, s.ID) {
			continue
		}
		synctest.Test(t, func(t *testing.T) { result.Add(*engine.Walk(t.Context(), p, s, targets(t))) })
	}
	result.Conclude()
	return result
}

func TestEveryFaultOfAToolIsFoundAndNamed(t *testing.T) {
	p := programs(t, toolConfig, faux.WriteTooling)
	for _, f := range faux.ToolFaults() {
		t.Run(f.ID+"/in the candidate", func(t *testing.T) {
			t.Parallel()
			isSaidOfAProgram(t, f.In, f.Doc, "", f.Says, runTools(t, p, &faux.Tool{}, &faux.Tool{Fault: f}, showing(p, f.In, f.Also)...))
		})
		t.Run(f.ID+"/in the reference", func(t *testing.T) {
			t.Parallel()
			want := f.Turned
			if want == nil {
				want = turned(f.Says)
			}
			isSaidOfAProgram(t, f.In, f.Doc, "", want, runTools(t, p, &faux.Tool{Fault: f}, &faux.Tool{}, f.In))
		})
	}
}

// showing returns the scenarios that are run to show a fault: one, and its neighbours unless these may show it, too.
func showing(p *project.Project, in string, also bool) []string {
	ids := []string{in}
	folder, _, _ := strings.Cut(in, "/")
	for _, s := range p.Scenarios {
		if s.ID != in && !also && strings.HasPrefix(s.ID, folder+"/") {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// isSaidOfAProgram fails unless there are exactly these findings, in one scenario and in no other. The reason is why one
// side is not like the other; "" for none.
func isSaidOfAProgram(t *testing.T, in, doc, reason string, want []faux.Finding, result *engine.Result) {
	t.Helper()
	shown := false
	for _, s := range result.Scenarios {
		if s.ID != in {
			if s.Verdict != verdict.Match || len(s.Findings)+len(s.Reasons) > 0 {
				t.Errorf("%s is %s: %v %v", s.ID, s.Verdict, s.Findings, s.Reasons)
			}
			continue
		}
		shown = true
		var reasons []string
		for _, r := range s.Reasons {
			reasons = append(reasons, r.Text)
		}
		if s.Verdict != verdict.Differ || strings.Join(reasons, "; ") != reason {
			t.Errorf("%s is %s: %q, want %s: %q", s.ID, s.Verdict, reasons, verdict.Differ, reason)
		}
		if diff := cmp.Diff(sorted(want), findings(&s)); diff != "" {
			t.Errorf("it has the fault %q (-want +got):\n%s", doc, diff)
			for _, f := range findings(&s) {
				t.Logf("GOT %q %q %q %q %q %q %q", f.Class, f.Kind, f.Step, f.Place, f.Reference, f.Candidate, f.Blame)
			}
		}
		for _, f := range s.Findings {
			if f.Scenario != s.ID || f.Line == 0 || f.StepText == "" || f.Text == "" || f.Target == "" {
				t.Errorf("who, where or what is missing: %+v", f)
			}
		}
	}
	if !shown {
		t.Errorf("there is no scenario %s", in)
	}
}

func TestACorrectToolIsNotAccused(t *testing.T) {
	p := programs(t, toolConfig, faux.WriteTooling)
	for i, h := range faux.Habits() {
		plain := &faux.Tool{Style: faux.NewStyle(uint64(1000 + i))}
		if h.Both {
			plain.Habit = h
		}
		other := &faux.Tool{Style: faux.NewStyle(uint64(i)), Habit: h}
		t.Run(h.ID+"/in the candidate", func(t *testing.T) {
			t.Parallel()
			toolsMatch(t, runTools(t, p, plain, other))
		})
		t.Run(h.ID+"/in the reference", func(t *testing.T) {
			t.Parallel()
			toolsMatch(t, runTools(t, p, other, plain))
		})
	}
}

func toolsMatch(t *testing.T, result *engine.Result) {
	t.Helper()
	programsMatch(t, result, 55, 160)
}

// programsMatch fails unless so many scenarios match. events is how many events and exchanges are compared at least.
func programsMatch(t *testing.T, result *engine.Result, scenarios, events int) {
	t.Helper()
	for _, s := range result.Scenarios {
		if s.Verdict != verdict.Match || len(s.Findings)+len(s.Reasons) > 0 {
			t.Errorf("%s is %s: %v %v", s.ID, s.Verdict, s.Findings, s.Reasons)
		}
	}
	c := result.Totals.Compared
	if n, compared := len(result.Scenarios), c.Exchanges+c.Sum(); n != scenarios || compared < events {
		t.Errorf("%d scenarios, %d events and exchanges were compared; want %d and at least %d", n, compared, scenarios, events)
	}
}
