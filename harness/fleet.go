package harness

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/target"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
)

// A fleet is one server of each target. It starts when it is first needed.
type fleet struct {
	ctx   context.Context
	e     *execution
	once  sync.Once
	ships []*target.Target // nil where one did not start
	ready []*run.Target
	errs  []error // nil when all are up
}

func (e *execution) newFleet(ctx context.Context) *fleet { return &fleet{ctx: ctx, e: e} }

// start brings up all targets at once, when called first, and returns them. When one does not start, errs has its error
// in its place, and the others are of no use either.
func (f *fleet) start() (targets []*run.Target, errs []error) {
	f.once.Do(func() {
		n := len(f.e.targets)
		f.ships = make([]*target.Target, n)
		f.ready = make([]*run.Target, n)
		errs := make([]error, n)
		var wg sync.WaitGroup
		for i := range f.e.targets {
			wg.Go(func() { errs[i] = f.launch(i) })
		}
		wg.Wait()
		if errors.Join(errs...) != nil {
			f.errs = errs
		}
	})
	return f.ready, f.errs
}

func (f *fleet) launch(i int) error {
	spec := f.e.targets[i]
	defer f.e.opts.Monitor.starting(spec.Spec.Name)()
	t, err := target.Start(f.ctx, spec.Spec, &target.Options{Environ: f.e.opts.Environ, Logger: f.e.opts.Log})
	if err != nil {
		return err
	}
	f.ships[i] = t
	f.ready[i] = &run.Target{
		Name: spec.Spec.Name, Header: spec.Header, Watch: f.e.opts.Monitor.watch(spec.Spec.Name),
		Client: httpwire.NewClient(t.URL(), &httpwire.Options{MaxBody: f.e.project.Limits.Body}),
	}
	if spec.Spec.URL == "" {
		f.ready[i].Process = process{t}
	}
	return nil
}

// stop ends all targets at once and waits until nothing of them is left.
func (f *fleet) stop() {
	var wg sync.WaitGroup
	for i := range f.ships {
		wg.Go(func() {
			if f.ready[i] != nil {
				f.ready[i].Client.Close()
			}
			if t := f.ships[i]; t != nil {
				if err := t.Stop(context.WithoutCancel(f.ctx)); err != nil {
					f.e.opts.Log.Warn("stop target", "target", f.e.targets[i].Spec.Name, "err", err)
				}
			}
		})
	}
	wg.Wait()
}

// process shows a run what it may know of a target's process.
type process struct{ *target.Target }

func (p process) Log() []string { return lines(p.Target.Log()) }

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
