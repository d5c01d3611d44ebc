package harness

import (
	"context"

	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Walk drives one scenario against targets that are there already, the reference first, and judges it. Unlike Run it
// needs no sockets, so it works where the clock is faked.
func (p *Project) Walk(ctx context.Context, s *scenario.Scenario, targets []*run.Target) *verdict.Scenario {
	e := &execution{
		project: p, scenarios: []*scenario.Scenario{s}, judged: make([]*verdict.Scenario, 1),
		result: &Result{Alone: len(targets) == 1}, coverage: p.Contract.NewCoverage(),
	}
	e.judge(0, run.Scenario(ctx, s, targets, e.runOptions(s)), "")
	return e.judged[0]
}
