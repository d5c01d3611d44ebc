package engine

import (
	"cmp"
	"context"
	"runtime/debug"
	"time"

	"github.com/lockstep-dev/lockstep/harness/engine/pool"
	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A Session is a run whose scenarios are code: each comes when its test runs, and says its steps one by one. All of them
// share the targets, which start with the first scenario. Scenarios may run at the same time.
type Session struct {
	run    *execution
	shared *pool.Pool
	cancel context.CancelFunc // ends the targets
}

// Begin begins a session. It starts nothing yet. The targets end with ctx at the latest.
func Begin(ctx context.Context, p *project.Project, options *Options) (*Session, error) {
	opts := options.withDefaults()
	if err := checkSession(&opts); err != nil {
		return nil, err
	}
	targets, alone, err := p.ChooseTargets(opts.Targets, opts.Reference)
	if err != nil {
		return nil, err
	}
	if err := prepare(p, &opts, targets); err != nil {
		return nil, err
	}
	result := &Result{Started: time.Now(), Seed: opts.Seed, Jobs: opts.Jobs, Alone: alone, Code: true}
	result.Partial, result.AllowEmpty = isPartial(p, project.TargetNames(targets), alone), opts.AllowEmpty
	e := &execution{judgement: newJudgement(p, &opts, nil, result), opts: opts, targets: targets, jobs: newJobLimit(opts.Jobs)}
	if e.outputs, err = openOutputs(e, nil); err != nil {
		return nil, err
	}
	opts.Monitor.Begin(0, project.TargetNames(targets)...)
	ctx, cancel := context.WithCancel(ctx)
	return &Session{run: e, shared: e.newPool(ctx, nil, maxRestarts), cancel: cancel}, nil
}

// checkSession rejects options that need scenarios which can run again, or which are known before they run.
func checkSession(o *Options) error {
	usage := func(what string) error {
		return &project.UsageError{What: what + " is not for scenarios in Go", Fix: "leave it out; go test has -run and -count"}
	}
	switch {
	case len(o.Select.Paths)+len(o.Select.Tags)+len(o.Select.Skip)+len(o.Select.Names)+len(o.First) > 0:
		return usage("a selection of scenarios")
	case o.Shard != project.Shard{}:
		return usage("a shard")
	case o.Repeat > 1, o.Confirm > 0:
		return usage("a repetition")
	case o.Record != nil, o.Against != nil:
		return usage("a recording")
	}
	return nil
}

// Scenario runs a scenario and judges it. perform says the steps, see [run.Stepwise]. It is not called when the scenario
// does not apply, or when a target cannot be started.
func (s *Session) Scenario(ctx context.Context, sc *scenario.Scenario, perform func(*run.Stepper) (cut string)) verdict.Scenario {
	e := s.run
	i := e.judgement.expect(sc)
	c := &runfile.Case{Scenario: sc, NotApplicable: cmp.Or(project.Lacking(sc, e.targets), unsuited(e.targets, sc))}
	if c.NotApplicable == "" {
		s.observe(ctx, c, perform)
	}
	e.judgeCase(i, c)
	e.judgement.mu.Lock()
	defer e.judgement.mu.Unlock()
	return *e.judgement.verdicts[i]
}

// observe adds to a case what the targets do.
func (s *Session) observe(ctx context.Context, c *runfile.Case, perform func(*run.Stepper) (cut string)) {
	e := s.run
	defer func() {
		if cause := recover(); cause != nil { // lockstep itself panicked
			v := internalError(c.Scenario, cause)
			e.opts.Log.Error("scenario broke", "scenario", c.Scenario.ID, "err", cause, "stack", string(debug.Stack()))
			c.Transcripts = e.notRun(c.Scenario, v.Reasons[0].Text, v.Reasons[0].Log)
		}
	}()
	targets := s.shared
	if c.Scenario.Fresh {
		targets = e.freshPool(ctx, c.Scenario)
		defer targets.Stop()
	}
	var ts []*transcript.Transcript
	if running, absent := targets.Start(); absent != nil {
		ts = unusableTranscripts(c.Scenario, e.targets, absent)
	} else {
		ts = run.Stepwise(ctx, c.Scenario, running, e.runOptions(c.Scenario), perform)
	}
	e.judgement.project.Secrets.Redact(ts, e.opts.Environ)
	c.Transcripts = ts
}

// End stops the targets and returns the judgement of all scenarios. No scenario may be running.
func (s *Session) End(ctx context.Context) (*Result, error) {
	s.shared.Stop()
	s.cancel()
	s.run.judgement.conclude(ctx, "")
	return s.run.judgement.result, s.run.outputs.close(s.run.judgement.result)
}
