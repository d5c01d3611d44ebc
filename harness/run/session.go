package run

import (
	"cmp"
	"context"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A session is one run of a scenario on all targets.
type session struct {
	opts     *Options
	script   *scenario.Script
	drivers  []*driver
	random   *rand.Rand
	recorded recording
	asked    notifier // notifies when a request to an upstream has begun or ended
}

func newSession(sc *scenario.Scenario, targets []*Target, opts *Options) *session {
	s := &session{opts: opts, script: sc.Script(), random: seeded(opts.Seed, sc.ID), recorded: recording{cmp.Or(opts.Recorded, &transcript.Transcript{})}}
	for _, t := range targets {
		s.drivers = append(s.drivers, newDriver(sc, s.script, t, opts, &s.asked))
	}
	return s
}

// seeded returns the random source of a scenario. It depends only on the seed and the scenario, not on what else runs.
func seeded(seed uint64, id string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(id))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

func (s *session) runs() []*targetRun {
	runs := make([]*targetRun, len(s.drivers))
	for i, d := range s.drivers {
		runs[i] = d.targetRun
	}
	return runs
}

// each runs f for all drivers at the same time and waits. Chance decides which one starts first.
func (s *session) each(f func(*driver)) {
	if len(s.drivers) == 1 {
		f(s.drivers[0])
		return
	}
	var wg sync.WaitGroup
	for _, i := range s.random.Perm(len(s.drivers)) {
		wg.Go(func() { f(s.drivers[i]) })
	}
	wg.Wait()
}

// step runs one step on all targets. Before a step that closes something, the drivers agree on what has arrived until
// then.
func (s *session) step(ctx context.Context, st *scenario.Step) {
	switch do := st.Do.(type) {
	case *scenario.Hangup:
		if do.How != scenario.HalfClose {
			s.awaitWindows(ctx, do.Name)
			s.settleStream(ctx, do.Name)
			s.settleCall(ctx, do.Name)
		}
	case *scenario.Kill: // closes all streams at once
		s.settleStreams(ctx)
		s.settleCalls(ctx)
		for _, d := range s.drivers {
			for _, st := range d.streams.all() {
				st.killed = true
			}
		}
	}
	s.each(func(d *driver) { d.t.Steps = append(d.t.Steps, d.do(ctx, st)...) })
}

// awaitWindows waits until the last window of a stream is over, or of all streams without a name.
func (s *session) awaitWindows(ctx context.Context, stream string) {
	var until time.Time
	for _, d := range s.drivers {
		for _, window := range d.t.Windows {
			if end := d.t.Started.Add(window.To); (stream == "" || window.Stream == stream) && end.After(until) {
				until = end
			}
		}
	}
	if wait := time.Until(until); wait > 0 {
		waiting.Sleep(ctx, wait)
	}
}

// names returns the names of all drivers without repetition, in the order of their first occurrence.
func (s *session) names(of func(*driver) []string) []string {
	var names []string
	for _, d := range s.drivers {
		for _, name := range of(d) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// watchExits records which processes have exited. A process that may be exiting is watched for a while.
func (s *session) watchExits() {
	var watched []*driver
	for _, d := range s.drivers {
		if d.process.mayEnd() {
			watched = append(watched, d)
		} else {
			d.process.noteExit()
		}
	}
	if len(watched) == 0 {
		return
	}
	s.opts.yieldWhile(func() {
		ctx, cancel := context.WithTimeout(context.Background(), exitGrace)
		defer cancel()
		for _, d := range watched {
			select {
			case <-d.target.Process.Exited():
			case <-ctx.Done():
			}
			d.process.noteExit()
		}
	})
}
