package harness

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// drive runs the scenarios: as many at a time as there are jobs. Those that want targets of their own come first, because they
// take longest. Their targets start while other scenarios run.
func (e *execution) drive(ctx context.Context) {
	shared := e.newFleet(ctx, e.sharing(), mostReplacements)
	defer shared.stop()
	var running sync.WaitGroup
	defer running.Wait()
	ahead := newHeadStarts(e.opts.Jobs, runtime.GOMAXPROCS(0))
	queue := make(chan turn, cap(ahead.room))
	running.Go(func() {
		defer close(queue)
		for _, i := range e.order() {
			if ctx.Err() != nil {
				return
			}
			t := turn{scenario: i, judge: e.unfit(i)}
			if t.judge == nil && e.scenarios[i].Fresh {
				t.own = e.freshFleet(ctx, i)
				t.started = ahead.start(t.own)
			}
			queue <- t
		}
	})
	for t := range queue {
		e.places.take()
		running.Go(func() {
			defer e.places.leave()
			switch {
			case t.judge != nil && ctx.Err() == nil:
				t.judge()
			case t.own != nil:
				defer ahead.end()
				e.fresh(ctx, t)
			default:
				e.one(ctx, t.scenario, func() (*fleet, func()) { return shared, func() {} })
			}
		})
	}
}

// A turn is a scenario, and its own fleet, if it wants one.
type turn struct {
	scenario int
	judge    func() // in the place of a run, when it cannot be run
	own      *fleet
	started  <-chan struct{} // closed when the fleet has started, or failed to
}

// order returns the scenarios as they are started: those that are wanted first, and of these and of the others those with
// targets of their own before the rest.
func (e *execution) order() []int {
	rank := func(i int) int {
		s, rank := e.scenarios[i], 0
		if !slices.Contains(e.opts.First, s.ID) {
			rank = 2
		}
		if !s.Fresh {
			rank++
		}
		return rank
	}
	out := make([]int, len(e.scenarios))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}

// unfit returns what judges a scenario that cannot be run here, and nil for one that can.
func (e *execution) unfit(i int) (judge func()) {
	s, recording := e.scenarios[i], e.opts.Against
	inapplicable := func(why string) func() { return func() { e.judge(i, nil, why) } }
	running := slices.IndexFunc(e.opts.live(e.targets), func(t Target) bool { return t.Spec.URL != "" })
	if running >= 0 && s.Fresh {
		return inapplicable(fmt.Sprintf("it needs newly started targets, and %s is a server that already runs", e.opts.live(e.targets)[running].Spec.Name))
	}
	if recording != nil {
		if why := recording.stale(s); why != "" {
			return func() { e.judge(i, e.unwalked(s, why, nil), "") }
		}
		if why := recording.notApplicable[s.ID]; why != "" {
			return inapplicable(why)
		}
	}
	if running >= 0 && s.Directory {
		return inapplicable(fmt.Sprintf("it speaks of the target's directory, and %s is a server that already runs", e.opts.live(e.targets)[running].Spec.Name))
	}
	return nil
}

// freshFleet returns a fleet for one run of a scenario.
func (e *execution) freshFleet(ctx context.Context, i int) *fleet {
	f := e.newFleet(ctx, e.scenarios[i:i+1], 0)
	f.setUp(e.scenarios[i].Setup)
	return f
}

// fresh runs a scenario on targets of its own. The first run is made on those that were started ahead.
func (e *execution) fresh(ctx context.Context, t turn) {
	<-t.started
	next := t.own
	defer func() { next.stop() }()
	e.one(ctx, t.scenario, func() (*fleet, func()) {
		f := next
		next = e.freshFleet(ctx, t.scenario)
		return f, f.stop
	})
}

// one runs a scenario, as often as is wanted, each time on the fleet that there is for it.
func (e *execution) one(ctx context.Context, i int, provide func() (*fleet, func())) {
	if ctx.Err() != nil {
		return
	}
	c := &Case{Scenario: e.scenarios[i]}
	for n := 1; n <= max(1, e.opts.Repeat); n++ {
		f, release := provide()
		ts := e.walk(ctx, i, n, f)
		release()
		if ts == nil { // lockstep itself has failed, which is its judgement
			return
		}
		for _, t := range ts {
			if e.opts.Repeat > 1 {
				t.Run = n
			}
			c.add(t)
		}
		if ctx.Err() != nil {
			e.mu.Lock() // what an interrupt cut short is not judged
			defer e.mu.Unlock()
			e.cut = append(e.cut, i)
			return
		}
	}
	defer e.catch(i)
	e.conclusive(i, c)
}

// catch leaves a scenario in which lockstep itself fails without a judgement, and the others as they are.
func (e *execution) catch(i int) {
	if cause := recover(); cause != nil {
		e.failedAt(i, cause)
	}
}

// walk runs a scenario on a fleet for the n-th time. It returns nil when lockstep itself fails.
func (e *execution) walk(ctx context.Context, i, n int, f *fleet) []*transcript.Transcript {
	defer e.catch(i)
	targets, absent := f.start()
	var ts []*transcript.Transcript
	if absent != nil {
		ts = unusable(e.scenarios[i], e.opts.live(e.targets), absent)
	} else {
		options := e.runOptions(e.scenarios[i])
		options.Seed += uint64(n - 1) // another target may start a step
		options.Aside = e.places.aside
		ts = run.Scenario(ctx, e.scenarios[i], targets, options)
	}
	e.redact(ts)
	return e.opts.Against.join(e.scenarios[i], ts)
}

// sharing returns the scenarios that share their targets.
func (e *execution) sharing() []*scenario.Scenario {
	return slices.DeleteFunc(slices.Clone(e.scenarios), func(s *scenario.Scenario) bool { return s.Fresh })
}

// unusable are the transcripts of a scenario whose targets did not start.
func unusable(s *scenario.Scenario, targets []Target, broken []error) []*transcript.Transcript {
	out := make([]*transcript.Transcript, len(targets))
	for i, t := range targets {
		out[i] = &transcript.Transcript{Scenario: s.ID, Target: t.Spec.Name, Started: time.Now()}
		if err := broken[i]; err != nil {
			out[i].Unusable, out[i].Log = err.Error(), logOf(err)
		}
	}
	return out
}
