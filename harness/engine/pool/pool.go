// Package pool keeps one server of each target running while scenarios need it.
//
// A pool has a slot for each target. A slot holds the current instance, and replaces one that has ended. An instance
// lists its running steps, which every finding about its crash shows.
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

// Options say what the servers of a pool are started with. All but Directories and Restarts are required.
type Options struct {
	Environ []string       // the environment from which they inherit the usual variables
	Program string         // the lockstep program, which targets start by ${{ lockstep }}
	MaxBody int64          // how many bytes of a body are kept
	Stubs   []project.Stub // the upstreams that each target gets
	// Directories gives every target a directory, even if its command does not ask for one.
	Directories bool
	// Restarts is how often a server that has ended is restarted.
	Restarts int
	Observer Observer
	Log      *slog.Logger
}

// An Observer is notified of what a pool does.
type Observer interface {
	// Starting is called when a target starts. The returned function is called when it is ready or has failed.
	Starting(target string) (done func())
	// OwnerUnchecked is called for each target, with the reason why lockstep cannot tell that the target's own process
	// owns its port. The reason is "" when lockstep can tell.
	OwnerUnchecked(target, why string)
	// Watch returns the function that is notified of the target's steps.
	Watch(target string) run.Watch
}

// A Pool has one server of each target. It starts them when they are first needed.
type Pool struct {
	ctx   context.Context
	opts  Options
	once  sync.Once
	slots []slot // in the order of the targets
}

// New returns a pool whose servers end with ctx at the latest.
func New(ctx context.Context, targets []project.Target, opts Options) *Pool {
	p := &Pool{ctx: ctx, opts: opts, slots: make([]slot, len(targets))}
	for i := range p.slots {
		p.slots[i].pool, p.slots[i].spec, p.slots[i].restarts = p, targets[i], opts.Restarts
	}
	return p
}

// Start starts all targets at once on its first call, and returns them. Later calls restart targets that have ended
// since. errs has an error for each target that cannot be started; then there are no targets.
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

// Stop stops all targets at once and waits until nothing of them is left.
func (p *Pool) Stop() { p.each((*slot).stop) }

func (p *Pool) each(do func(*slot)) {
	var wg sync.WaitGroup
	for i := range p.slots {
		wg.Go(func() { do(&p.slots[i]) })
	}
	wg.Wait()
}

// Configure adds a scenario's environment and files to those that the targets start with.
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
