package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/target"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
)

// AdoptOrphans is for a program that starts no processes but by this package: on Linux, what targets leave behind becomes
// its child and is found and ended with them, even when it has dropped everything that shows whose it was.
func AdoptOrphans() { target.AdoptOrphans() }

// A fleet is one server of each target. It starts when it is first needed.
type fleet struct {
	ctx    context.Context
	e      *execution
	dirs   bool // a scenario wants every target to have a directory
	once   sync.Once
	berths []berth // of the targets, in their order
}

// mostReplacements is how often a shared server that has ended is started again. One that always ends has then shown
// what there is to see, and does not keep a long run busy with starts.
const mostReplacements = 3

// newFleet returns a fleet for scenarios, whose servers are replaced so many times each when they end.
func (e *execution) newFleet(ctx context.Context, scenarios []*scenario.Scenario, replacements int) *fleet {
	live := e.opts.live(e.targets)
	f := &fleet{ctx: ctx, e: e, berths: make([]berth, len(live))}
	f.dirs = slices.ContainsFunc(scenarios, func(s *scenario.Scenario) bool { return s.Directory })
	for i := range f.berths {
		f.berths[i].fleet, f.berths[i].spec, f.berths[i].left = f, live[i], replacements
	}
	return f
}

// start brings up all targets at once, when called first, and returns them. Later it brings up again those that have
// ended since. When one is not there, errs has its error in its place, and the others are of no use either.
func (f *fleet) start() (targets []*run.Target, errs []error) {
	f.once.Do(func() {
		var wg sync.WaitGroup
		for i := range f.berths {
			wg.Go(f.berths[i].first)
		}
		wg.Wait()
	})
	targets, errs = make([]*run.Target, len(f.berths)), make([]error, len(f.berths))
	for i := range f.berths {
		targets[i], errs[i] = f.berths[i].ready()
	}
	if errors.Join(errs...) != nil {
		return nil, errs
	}
	return targets, nil
}

// stop ends all targets at once and waits until nothing of them is left.
func (f *fleet) stop() {
	var wg sync.WaitGroup
	for i := range f.berths {
		wg.Go(f.berths[i].clear)
	}
	wg.Wait()
}

// A berth is the place of one target in a fleet: the server that is there now, and those that were before.
type berth struct {
	fleet *fleet
	spec  Target

	mu    sync.Mutex // guards what follows
	ship  *ship      // nil: none has come up
	err   error      // of the last start
	left  int        // how often a server that has ended is replaced from now on
	ended []*ship    // before this one
	dir   *target.Directory

	upstreams upstreams
}

// first starts the first server.
func (b *berth) first() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.launch()
}

// ready returns the server that is there. One that has ended is replaced before, as long as there are replacements.
func (b *berth) ready() (*run.Target, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ship != nil && b.ship.hasEnded() && b.fleet.ctx.Err() == nil && b.left > 0 {
		b.left--
		b.fleet.e.opts.Log.Warn("target has ended and is started again",
			"target", b.spec.Spec.Name, "status", b.ship.ExitStatus(), "starts_left", b.left)
		b.ship.end(b.fleet) // whatever it has started and left
		b.launch()
	}
	if b.err != nil {
		return nil, b.err
	}
	return b.ship.ready, nil
}

func (b *berth) launch() {
	if b.err = b.provide(); b.err != nil {
		return
	}
	s, err := b.fleet.launch(b.spec, b.dir, b.upstreams)
	if b.err = err; err != nil {
		return
	}
	if b.ship != nil {
		b.ended = append(b.ended, b.ship)
	}
	b.ship = s
}

// provide makes what all servers of the berth have, one after the other: the upstreams that they call, and a directory if
// they are to have one.
func (b *berth) provide() (err error) {
	if b.upstreams == nil {
		if b.upstreams, err = b.fleet.e.startStubs(b.spec.Spec.Name); err != nil {
			return err
		}
	}
	if b.dir != nil || b.spec.Spec.URL != "" || !b.fleet.dirs && !b.spec.Spec.UsesDirectory() {
		return nil
	}
	if b.dir, err = target.NewDirectory(""); err != nil {
		return fmt.Errorf("start target %q: directory: %w", b.spec.Spec.Name, err)
	}
	return nil
}

// clear ends the server that is there, and waits until nothing is left of it, of those before, of their upstreams and
// of their directory.
func (b *berth) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range append(b.ended, b.ship) {
		if s != nil {
			s.ready.Client.Close()
			s.end(b.fleet)
		}
	}
	b.upstreams.close()
	if err := b.dir.Remove(); err != nil {
		b.fleet.e.opts.Log.Warn("remove directory", "target", b.spec.Spec.Name, "err", err)
	}
}

// A ship is one server, from its start to its end.
type ship struct {
	*target.Target
	name  string
	ready *run.Target
	roll  roll

	mu   sync.Mutex
	done chan struct{} // closed when the roll is; another one when the server is started again
}

func (f *fleet) launch(spec Target, dir *target.Directory, upstreams upstreams) (*ship, error) {
	name, monitor := spec.Spec.Name, f.e.opts.Monitor
	defer monitor.starting(name)()
	spec.Spec.Values = upstreams.values(f.e.opts.Program, spec.Spec.Values)
	since := time.Now().UTC().Round(0)
	t, err := target.Start(f.ctx, spec.Spec, &target.Options{Environ: f.e.opts.Environ, Directory: dir, Starting: upstreams.forget, Logger: f.e.opts.Log})
	if err != nil {
		return nil, err
	}
	f.e.unchecked(name, t.Unchecked())
	s := &ship{Target: t, name: name}
	shown := monitor.watch(name)
	s.ready = &run.Target{
		Name: name, Header: spec.Header, Directory: dir.Path(), Lockstep: f.e.opts.Program, Stubs: upstreams,
		Client: httpwire.NewClient(t.URL(), &httpwire.Options{MaxBody: f.e.project.Limits.Body}),
		Watch: func(a run.Activity) func(run.Outcome) {
			show, note := shown(a), s.roll.begin(a)
			return func(o run.Outcome) { note(o); show(o) }
		},
	}
	if spec.Spec.URL == "" {
		s.ready.Process, s.ready.Since = process{s, f}, since
		s.watch()
	}
	return s, nil
}

// watch closes the roll when the server has ended.
func (s *ship) watch() {
	done, exited := make(chan struct{}), s.Exited()
	s.mu.Lock()
	s.done = done
	s.mu.Unlock()
	go func() {
		defer close(done)
		<-exited
		s.roll.close()
	}()
}

// settled waits until the roll of a server that has ended is closed.
func (s *ship) settled() {
	s.mu.Lock()
	done := s.done
	s.mu.Unlock()
	if done != nil { // nobody can see the end of what somebody else has started
		<-done
	}
}

// hasEnded reports whether the server's process is no more.
func (s *ship) hasEnded() bool {
	select {
	case <-s.Exited(): // nil for one that somebody else has started
		return true
	default:
		return false
	}
}

// end ends the server and waits until nothing is left of it.
func (s *ship) end(f *fleet) {
	if err := s.Stop(context.WithoutCancel(f.ctx)); err != nil {
		f.e.opts.Log.Warn("stop target", "target", s.name, "err", err)
		return // it may not even have ended
	}
	s.settled()
}

// process shows a run what it may know of a target's process, and do to it.
type process struct {
	*ship
	fleet *fleet
}

// Restart starts the server again. Its roll begins anew.
func (p process) Restart(ctx context.Context) error {
	before, _ := ctx.Deadline()
	exited := p.Exited()
	err := p.Target.Restart(p.fleet.ctx, before)
	select {
	case <-exited:
		p.settled()
		p.roll.reopen()
		p.watch()
	default: // it cannot be ended, which the error says
	}
	return err
}

func (p process) Log() []string { return lines(p.Target.Log()) }

// UnderWay is only to be called when the process has ended.
func (p process) UnderWay() []string {
	p.settled()
	return p.roll.underWay()
}

// lines returns a log as reports show it.
func lines(log []target.Line) []string {
	out := make([]string, len(log))
	for i, l := range log {
		out[i] = fmt.Sprint(l)
	}
	return out
}

// logOf returns the last lines of the target that an error is about.
func logOf(err error) []string {
	if e, ok := errors.AsType[*target.Error](err); ok {
		return lines(e.Log)
	}
	return nil
}
