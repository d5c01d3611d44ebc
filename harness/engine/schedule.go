package engine

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/engine/pool"
	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// maxRestarts is how often a shared server that has ended is restarted. A server that always ends has then shown
// enough, and must not keep a long run busy with restarts.
const maxRestarts = 3

// drive runs the scenarios, as many at the same time as there are jobs. Those with their own targets come first,
// because they take longest. Their targets start while other scenarios run.
func (e *execution) drive(ctx context.Context) {
	shared := e.newPool(ctx, e.sharedScenarios(), maxRestarts)
	defer shared.Stop()
	var running sync.WaitGroup
	defer running.Wait()
	ahead := newPrestarts(e.opts.Jobs, runtime.GOMAXPROCS(0))
	queue := make(chan job, cap(ahead.room))
	running.Go(func() {
		defer close(queue)
		for _, i := range e.order() {
			if ctx.Err() != nil {
				return
			}
			t := job{scenario: i, judge: e.cannotRun(i)}
			if t.judge == nil && e.judgement.scenarios[i].Fresh {
				t.pool = e.freshPool(ctx, e.judgement.scenarios[i])
				t.started = ahead.start(t.pool)
			}
			queue <- t
		}
	})
	for t := range queue {
		e.jobs.acquire()
		running.Go(func() {
			defer e.jobs.release()
			switch {
			case t.judge != nil && ctx.Err() == nil:
				t.judge()
			case t.pool != nil:
				defer ahead.end()
				e.fresh(ctx, t)
			default:
				e.runScenario(ctx, t.scenario, func() (*pool.Pool, func()) { return shared, func() {} })
			}
		})
	}
}

// A job is a scenario that is next to run, with its own targets if it needs some.
type job struct {
	scenario int
	judge    func() // called instead of a run, when the scenario cannot run
	pool     *pool.Pool
	started  <-chan struct{} // closed when the pool has started, or failed to
}

// order returns the scenarios in the order in which they start. Those in Options.First come first. Within both groups,
// those with their own targets come first.
func (e *execution) order() []int {
	rank := func(i int) int {
		s, rank := e.judgement.scenarios[i], 0
		if !slices.Contains(e.opts.First, s.ID) {
			rank = 2
		}
		if !s.Fresh {
			rank++
		}
		return rank
	}
	out := make([]int, len(e.judgement.scenarios))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}

// cannotRun returns a function that judges a scenario which cannot run here. It returns nil for one that can.
func (e *execution) cannotRun(i int) (judge func()) {
	s, recording := e.judgement.scenarios[i], e.opts.Against
	inapplicable := func(why string) func() { return func() { e.judge(i, nil, why) } }
	if why := project.Lacking(s, e.targets); why != "" {
		return inapplicable(why)
	}
	unsuited := unsuited(e.opts.live(e.targets), s)
	if unsuited != "" && s.Fresh {
		return inapplicable(unsuited)
	}
	if recording != nil {
		if why := recording.StaleReason(s); why != "" {
			return func() { e.judge(i, e.notRun(s, why, nil), "") }
		}
		if why := recording.NotApplicable(s); why != "" {
			return inapplicable(why)
		}
	}
	if unsuited != "" {
		return inapplicable(unsuited)
	}
	return nil
}

// unsuited says why targets do not suit a scenario. It returns "" when they do.
func unsuited(targets []project.Target, s *scenario.Scenario) string {
	running := slices.IndexFunc(targets, func(t project.Target) bool { return t.Spec.URL != "" })
	need := ""
	switch {
	case running < 0:
		return ""
	case s.Fresh:
		need = "it needs newly started targets"
	case s.Directory:
		need = "it uses the target's directory"
	default:
		return ""
	}
	return fmt.Sprintf("%s, but %s is a server that is already running", need, targets[running].Spec.Name)
}

// newPool returns a pool of targets for scenarios. It restarts each server that has ended at most this many times.
func (e *execution) newPool(ctx context.Context, scenarios []*scenario.Scenario, restarts int) *pool.Pool {
	return pool.New(ctx, e.opts.live(e.targets), pool.Options{
		Environ: e.opts.Environ, Program: e.opts.Program, MaxBody: e.judgement.project.Limits.Body, Stubs: e.judgement.project.Stubs, Restarts: restarts,
		Directories: slices.ContainsFunc(scenarios, func(s *scenario.Scenario) bool { return s.Directory }),
		Observer:    observer{e.opts.Monitor, e}, Log: e.opts.Log,
	})
}

// freshPool returns targets for one run of a scenario.
func (e *execution) freshPool(ctx context.Context, s *scenario.Scenario) *pool.Pool {
	targets := e.newPool(ctx, []*scenario.Scenario{s}, 0)
	targets.Configure(s.Setup)
	return targets
}

// fresh runs a scenario on its own targets. The first run uses those that were started in advance.
func (e *execution) fresh(ctx context.Context, t job) {
	<-t.started
	next := t.pool
	defer func() { next.Stop() }()
	e.runScenario(ctx, t.scenario, func() (*pool.Pool, func()) {
		current := next
		next = e.freshPool(ctx, e.judgement.scenarios[t.scenario])
		return current, current.Stop
	})
}

// A provider returns the targets for one run of a scenario, and a function that releases them.
type provider func() (*pool.Pool, func())

// freshState returns the provider for confirming a red scenario: newly started targets, so that nothing that other
// scenarios have left behind matters. Servers that already run are used again.
func (e *execution) freshState(ctx context.Context, i int, provide provider) provider {
	running := slices.ContainsFunc(e.opts.live(e.targets), func(t project.Target) bool { return t.Spec.URL != "" })
	if running || e.judgement.scenarios[i].Fresh { // the latter has its own anyway
		return provide
	}
	return func() (*pool.Pool, func()) {
		targets := e.freshPool(ctx, e.judgement.scenarios[i])
		return targets, targets.Stop
	}
}

// runScenario runs a scenario as often as Options.Repeat says, and as Options.Confirm says if it is red. provide returns
// the targets of a run, and a function that releases them.
func (e *execution) runScenario(ctx context.Context, i int, provide provider) {
	if ctx.Err() != nil {
		return
	}
	c := &runfile.Case{Scenario: e.judgement.scenarios[i]}
	defer e.recoverScenario(i)
	runs := max(1, e.opts.Repeat)
	for n := 1; n <= runs; n++ {
		targets, release := provide()
		ts := e.runOnce(ctx, i, n, targets)
		release()
		if ts == nil { // lockstep itself panicked, and the scenario has its verdict
			return
		}
		for _, t := range ts {
			if runs > 1 {
				t.Run = n
			}
			c.Add(t)
		}
		if ctx.Err() != nil {
			e.judgement.mu.Lock() // a scenario that an interrupt stopped is not judged
			defer e.judgement.mu.Unlock()
			e.cutShort = append(e.cutShort, i)
			return
		}
		if n == 1 && e.opts.Confirm > 0 && e.judgement.isRed(c) {
			runs += e.opts.Confirm
			provide = e.freshState(ctx, i, provide)
			for _, t := range ts {
				t.Run = n
			}
		}
	}
	e.judgeCase(i, c)
}

// recoverScenario turns a panic of lockstep itself into an unknown scenario, and lets the others run.
func (e *execution) recoverScenario(i int) {
	if cause := recover(); cause != nil {
		e.recordInternalError(i, cause)
	}
}

// runOnce runs a scenario for the n-th time. It returns nil when lockstep itself panics.
func (e *execution) runOnce(ctx context.Context, i, n int, from *pool.Pool) []*transcript.Transcript {
	defer e.recoverScenario(i)
	targets, absent := from.Start()
	var ts []*transcript.Transcript
	if absent != nil {
		ts = unusableTranscripts(e.judgement.scenarios[i], e.opts.live(e.targets), absent)
	} else {
		options := e.runOptions(e.judgement.scenarios[i])
		options.Seed += uint64(n - 1) // so that another target may start a step
		options.YieldWhile = e.jobs.yieldWhile
		ts = run.Scenario(ctx, e.judgement.scenarios[i], targets, options)
	}
	e.judgement.project.Secrets.Redact(ts, e.opts.Environ)
	return e.opts.Against.Join(e.judgement.scenarios[i], ts)
}

func (e *execution) sharedScenarios() []*scenario.Scenario {
	return slices.DeleteFunc(slices.Clone(e.judgement.scenarios), func(s *scenario.Scenario) bool { return s.Fresh })
}

// unusableTranscripts returns the transcripts of a scenario whose targets did not start.
func unusableTranscripts(s *scenario.Scenario, targets []project.Target, broken []error) []*transcript.Transcript {
	out := make([]*transcript.Transcript, len(targets))
	for i, t := range targets {
		out[i] = &transcript.Transcript{Scenario: s.ID, Target: t.Spec.Name, Started: time.Now()}
		if err := broken[i]; err != nil {
			out[i].Unusable, out[i].Log = err.Error(), pool.ErrorLog(err)
		}
	}
	return out
}
