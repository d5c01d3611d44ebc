package engine

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A judgement collects the results of a run: the verdict of each scenario, how much of the contract was reached, and
// the evidence that reports show.
type judgement struct {
	project   *project.Project
	scenarios []*scenario.Scenario
	accept    *verdict.Acceptance
	monitor   *Monitor
	progress  func(done, of int, s *verdict.Scenario)
	log       *slog.Logger

	mu        sync.Mutex // guards the fields below
	result    *Result
	verdicts  []*verdict.Scenario    // nil for a scenario without a verdict
	constancy *verdict.ConstantCheck // set when all scenarios have been judged
	done      int
	coverage  *coverage.Coverage
	latencies report.Latencies
	undecided undecided
	steps     int // number of steps that are kept
}

// newJudgement returns a judgement for scenarios that have not been judged yet. result has what is known about the run.
func newJudgement(p *project.Project, opts *Options, scenarios []*scenario.Scenario, result *Result) *judgement {
	today := opts.Today
	if today.IsZero() {
		today = result.Started
	}
	return &judgement{
		project: p, scenarios: scenarios, monitor: opts.Monitor, progress: opts.Progress, log: opts.Log, result: result,
		accept:   &verdict.Acceptance{Waivers: p.Waivers, Baseline: p.Baseline, Today: today, Environ: opts.Environ},
		verdicts: make([]*verdict.Scenario, len(scenarios)), coverage: coverage.New(p.Contract.Document),
	}
}

// expect adds a scenario that is going to be judged, and returns its index.
func (j *judgement) expect(s *scenario.Scenario) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.scenarios, j.verdicts = append(j.scenarios, s), append(j.verdicts, nil)
	return len(j.scenarios) - 1
}

// addVerdict stores the verdict of a scenario and reports the progress. The caller holds the mutex.
func (j *judgement) addVerdict(i int, v *verdict.Scenario) {
	j.verdicts[i] = v
	j.done++
	j.monitor.Judged(v.ID, v.Verdict)
	if j.progress != nil {
		j.progress(j.done, len(j.scenarios), v)
	}
}

// addProbe adds the result of a scenario's probe to its verdict.
func (j *judgement) addProbe(i int, c *runfile.Case) {
	probe := JudgeRun(j.project, c, j.result.Alone, nil)
	j.verdicts[i].AddProbe(&probe)
}

// conclude completes the result. When the context has ended before all scenarios were judged, the reason contains
// interrupted.
func (j *judgement) conclude(ctx context.Context, interrupted string) {
	r := j.result
	j.findConstants()
	r.Scenarios = slices.Grow(r.Scenarios, j.done)
	for i, v := range j.verdicts {
		if v != nil {
			r.Add(*v)
			j.verdicts[i] = nil // the result has it now
		}
	}
	if ctx.Err() != nil && j.done < len(j.scenarios) {
		r.Incomplete = fmt.Sprintf("interrupted after %d of %d scenarios: %v%s", j.done, len(j.scenarios), context.Cause(ctx), interrupted)
	}
	r.Took = time.Since(r.Started)
	r.Coverage, r.Latency = *j.coverage, j.latencies.Rows()
	r.Coverage.Uncompared = uncompared(r, j.coverage)
	r.ResolveAccepted(j.accept, project.IDs(j.project.Scenarios))
	r.Unused = unusedRules(j.project, r, j.scenarios)
	r.Gate = coverageGate(j.project, r, len(j.scenarios), j.coverage)
	r.Conclude()
}

// isRed reports whether a run differs or is unknown.
func (j *judgement) isRed(c *runfile.Case) bool {
	return JudgeRun(j.project, c, j.result.Alone, j.accept).Verdict.Red()
}
