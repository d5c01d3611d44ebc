package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/target"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
)

// An instance is one server, from its start to its end, or a program that steps start.
type instance struct {
	*target.Target // nil for a program
	pool           *Pool
	name           string
	target         *run.Target
	inflight       inflight

	mu       sync.Mutex
	done     chan struct{}     // closed when inflight is closed; replaced when the server is restarted
	programs map[*program]bool // those that are not stopped; nil for a server
}

func startInstance(p *Pool, spec project.Target, dir *target.Directory, upstreams upstreams) (*instance, error) {
	name, o := spec.Spec.Name, &p.opts
	defer o.Observer.Starting(name)()
	spec.Spec.Values = upstreams.values(o.Program, spec.Spec.Values)
	i := &instance{pool: p, name: name}
	watch := o.Observer.Watch(name)
	i.target = &run.Target{
		Name: name, Header: spec.Header, Directory: dir.Path(), Lockstep: o.Program, Stubs: upstreams,
		Watch: func(a run.Activity) func(run.Outcome) {
			observed, ended := watch(a), i.inflight.begin(a)
			return func(o run.Outcome) { ended(o); observed(o) }
		},
	}
	if spec.Spec.Program {
		return i, i.prepareProgram(spec.Spec, dir)
	}
	return i, i.start(spec.Spec, &target.Options{Environ: o.Environ, Directory: dir, Starting: upstreams.forget, Logger: o.Log})
}

// start starts the server.
func (i *instance) start(spec target.Spec, options *target.Options) (err error) {
	since, o := time.Now().UTC().Round(0), &i.pool.opts
	if i.Target, err = target.Start(i.pool.ctx, spec, options); err != nil {
		return err
	}
	o.Observer.OwnerUnchecked(i.name, i.Unchecked())
	i.target.Client = httpwire.NewClient(i.URL(), &httpwire.Options{MaxBody: o.MaxBody})
	if spec.URL == "" {
		i.target.Process, i.target.Since = process{i}, since
		i.watch()
	}
	return nil
}

// watch closes the list of running steps when the server has ended.
func (i *instance) watch() {
	done, exited := make(chan struct{}), i.Exited()
	i.mu.Lock()
	i.done = done
	i.mu.Unlock()
	go func() {
		defer close(done)
		<-exited
		i.inflight.close()
	}()
}

// waitClosed waits until the list of running steps of an ended server is closed.
func (i *instance) waitClosed() {
	i.mu.Lock()
	done := i.done
	i.mu.Unlock()
	if done != nil { // nil for a server that lockstep did not start: lockstep cannot see its end
		<-done
	}
}

func (i *instance) hasEnded() bool {
	if i.Target == nil { // a program always starts again
		return false
	}
	select {
	case <-i.Exited(): // nil for a server that lockstep did not start
		return true
	default:
		return false
	}
}

// end stops the server and waits until nothing of it is left.
func (i *instance) end() {
	stop := i.endPrograms
	if i.Target != nil {
		stop = func() error { return i.Stop(context.WithoutCancel(i.pool.ctx)) }
	}
	if err := stop(); err != nil {
		i.pool.opts.Log.Warn("stop target", "target", i.name, "err", err)
		return // the process may still run
	}
	i.waitClosed()
}

// process is the view that scenarios have of a target's process.
type process struct{ *instance }

// Restart restarts the server with an empty list of running steps.
func (p process) Restart(ctx context.Context) error {
	before, _ := ctx.Deadline()
	exited := p.Exited()
	err := p.Target.Restart(p.pool.ctx, before)
	select {
	case <-exited:
		p.waitClosed()
		p.inflight.reopen()
		p.watch()
	default: // it could not be stopped, as the error says
	}
	return err
}

func (p process) Log() []string { return logLines(p.Target.Log()) }

// UnderWay may only be called after the process has ended.
func (p process) UnderWay() []string {
	p.waitClosed()
	return p.inflight.texts()
}

// logLines returns a log as reports show it.
func logLines(log []target.Line) []string {
	out := make([]string, len(log))
	for i, l := range log {
		out[i] = fmt.Sprint(l)
	}
	return out
}

// ErrorLog returns the last lines in the log of the target that an error is about.
func ErrorLog(err error) []string {
	if e, ok := errors.AsType[*target.Error](err); ok {
		return logLines(e.Log)
	}
	return nil
}
