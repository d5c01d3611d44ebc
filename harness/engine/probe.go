package engine

import (
	"context"
	"runtime/debug"

	"github.com/lockstep-dev/lockstep/harness/engine/pool"
	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// probe runs scenarios again, on new processes, when the run could not tell whether their values are constants. Both
// sides run again, because a value is judged by what the other side has in its place. If a target does not start, or
// after an interrupt, the question stays open, and the run lists it.
func (e *execution) probe(ctx context.Context) {
	if e.opts.Against != nil || ctx.Err() != nil {
		return // a recording would only repeat itself
	}
	doubtful := verdict.ProbeCandidates(e.judgement.verdicts)
	if len(doubtful) == 0 {
		return
	}
	var scenarios []*scenario.Scenario
	for _, i := range doubtful {
		scenarios = append(scenarios, e.judgement.scenarios[i])
	}
	f := e.newPool(ctx, scenarios, 0)
	defer f.Stop()
	for _, i := range doubtful {
		e.probeOne(ctx, i, f)
	}
}

func (e *execution) probeOne(ctx context.Context, i int, f *pool.Pool) {
	s := e.judgement.scenarios[i]
	defer func() {
		if cause := recover(); cause != nil {
			e.opts.Log.Error("probe broke", "scenario", s.ID, "err", cause, "stack", string(debug.Stack()))
		}
	}()
	targets, absent := f.Start()
	if absent != nil {
		e.opts.Log.Warn("scenario is not run again: a target is not there", "scenario", s.ID)
		return
	}
	ts := run.Scenario(ctx, s, targets, e.runOptions(s))
	e.judgement.project.Secrets.Redact(ts, e.opts.Environ)
	if ctx.Err() != nil {
		return
	}
	for _, t := range ts {
		t.Probe = true
	}
	e.judgement.addProbe(i, &runfile.Case{Scenario: s, Transcripts: ts})
	e.outputs.write(ts)
}
