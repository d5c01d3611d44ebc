// Package pool keeps one server of each target running while scenarios need it.
//
// A pool has a slot for each target. A slot holds the instance that runs now and replaces one that has ended. An instance
// lists the steps that it has under way, which every finding about its crash shows.
package pool

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/target"
)

// Options say what the servers of a pool are started with. All but Directories and Restarts are needed.
type Options struct {
	Environ []string       // the environment that they inherit the usual variables from
	Program string         // lockstep's own, which targets start by ${{ lockstep }}
	MaxBody int64          // bytes of a body that are kept
	Stubs   []project.Stub // the upstreams that each target gets
	// Directories gives every target a directory, also those that do not ask for one.
	Directories bool
	// Restarts is how often a server that has ended is started again.
	Restarts int
	Observer Observer
	Log      *slog.Logger
}

// An Observer hears what a pool does.
type Observer interface {
	// Starting is called when a target is being started; the function that it returns, when that is over.
	Starting(target string) (done func())
	// OwnerUnchecked is called with a target of which it is not known that its own process answers on its port, and why.
	// The reason is "" when it is known.
	OwnerUnchecked(target, why string)
	// Watch returns what hears of the target's steps.
	Watch(target string) run.Watch
}

// A Pool has one server of each target. It starts them when they are first needed.
type Pool struct {
	ctx   context.Context
	opts  Options
	once  sync.Once
	slots []slot // in the order of the targets
}

// New returns a pool whose servers live as long as ctx at most.
func New(ctx context.Context, targets []project.Target, opts Options) *Pool {
	p := &Pool{ctx: ctx, opts: opts, slots: make([]slot, len(targets))}
	for i := range p.slots {
		p.slots[i].pool, p.slots[i].spec, p.slots[i].restarts = p, targets[i], opts.Restarts
	}
	return p
}

// Start starts all targets at once when it is first called, and returns them. Later calls start those again that have ended
// since. When one cannot be started, errs has its error in its place, and there are no targets.
func (p *Pool) Start() (targets []*run.Target, errs []error) {
	p.once.Do(func() { p.each((*slot).startFirst) })
	targets, errs = make([]*run.Target, len(p.slots)), make([]error, len(p.slots))
	for i := range p.slots {
		targets[i], errs[i] = p.slots[i].ready()
	}
	if errors.Join(errs...) != nil {
		return nil, errs
	}
	return targets, nil
}

// Stop ends all targets at once and waits until nothing of them is left.
func (p *Pool) Stop() { p.each((*slot).stop) }

func (p *Pool) each(do func(*slot)) {
	var wg sync.WaitGroup
	for i := range p.slots {
		wg.Go(func() { do(&p.slots[i]) })
	}
	wg.Wait()
}

// Configure adds the environment and the files of a scenario to what the targets start with.
func (p *Pool) Configure(s scenario.Setup) {
	for i := range p.slots {
		spec := &p.slots[i].spec.Spec
		spec.Over, spec.Files = map[string]string{}, slices.Clone(spec.Files)
		for _, v := range s.Env {
			spec.Over[v.Name] = v.Text
		}
		for _, v := range s.Files {
			spec.Files = slices.DeleteFunc(spec.Files, func(file target.File) bool { return file.Path == v.Name })
			spec.Files = append(spec.Files, target.File{Path: v.Name, Data: []byte(v.Text), Text: true})
		}
	}
}
