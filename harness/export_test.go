package harness

import (
	"context"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/runqueue"
)

// Walk drives one scenario against targets that are there already, the reference first, and judges it. Unlike Run it
// needs no sockets, so it works where the clock is faked.
func (p *Project) Walk(ctx context.Context, s *scenario.Scenario, targets []*run.Target) *verdict.Scenario {
	e := &execution{
		project: p, scenarios: []*scenario.Scenario{s}, judged: make([]*verdict.Scenario, 1), written: map[int]bool{},
		result: &Result{Alone: len(targets) == 1}, coverage: p.Contract.NewCoverage(),
	}
	opts := e.runOptions(s)
	opts.Processors = func(time.Duration) (runqueue.Use, bool) { return runqueue.Use{}, false } // whose clock is not faked
	e.judge(0, run.Scenario(ctx, s, targets, opts), "")
	return e.judged[0]
}

// Beats returns what noise says of heartbeats.
func (p *Project) Beats(cases []*Case) []NoiseBeat {
	s := &survey{project: p, out: &Noise{}, cases: cases}
	s.beats()
	return s.out.Beats
}

// Choose returns the names and the addresses of the targets that would run, the reference first.
func (p *Project) Choose(wishes []string, reference string) (chosen []string, alone bool, err error) {
	targets, alone, err := p.choose(wishes, reference)
	for _, t := range targets {
		chosen = append(chosen, strings.TrimSpace(t.Spec.Name+" "+t.Spec.URL))
	}
	return chosen, alone, err
}

// Pick returns the ids of the scenarios that would run.
func (p *Project) Pick(sel Selection) ([]string, error) {
	picked, err := p.pick(sel)
	var ids []string
	for _, s := range picked {
		ids = append(ids, s.ID)
	}
	return ids, err
}

// CompareRules returns the rules that hold in a scenario.
func (p *Project) CompareRules(s *scenario.Scenario) *compare.Rules { return compareRules(p.Rules, s) }

// JudgeRecord judges a run file that has been read.
func (p *Project) JudgeRecord(ctx context.Context, r *Record) *Result {
	result, _, err := p.judgeRecord(ctx, r, Options{})
	if err != nil {
		panic(err)
	}
	return result
}

// Break makes a scenario one that this package has not been made for: lockstep panics when it comes to its first step.
// It stays so as long as somebody holds its script.
func Break(s *scenario.Scenario) *scenario.Script {
	script := s.Script()
	script.Steps = append([]scenario.Step{{ID: "0", Line: 1, Do: (*scenario.Hangup)(nil)}}, script.Steps...)
	return script
}
