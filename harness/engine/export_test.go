package engine

import (
	"context"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/runqueue"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Walk runs one scenario on targets that already run, the reference first, and judges it. Unlike Run, it needs no
// sockets, so it works with a fake clock.
func Walk(ctx context.Context, p *project.Project, s *scenario.Scenario, targets []*run.Target) *verdict.Scenario {
	var none *Options
	defaults := none.withDefaults()
	e := &execution{
		judgement: newJudgement(p, &defaults, []*scenario.Scenario{s}, &Result{Alone: len(targets) == 1}),
		outputs:   &outputs{written: map[int]bool{}},
	}
	opts := e.runOptions(s)
	opts.Processors = func(time.Duration) (runqueue.Use, bool) { return runqueue.Use{}, false } // they are not faked
	e.judge(0, run.Scenario(ctx, s, targets, opts), "")
	return e.judgement.verdicts[0]
}

// Break adds a step to a scenario that makes lockstep panic. The change lasts as long as the returned script is
// referenced.
func Break(s *scenario.Scenario) *scenario.Script {
	script := s.Script()
	script.Steps = append([]scenario.Step{{ID: "0", Line: 1, Do: (*scenario.Hangup)(nil)}}, script.Steps...)
	return script
}
