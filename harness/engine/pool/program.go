package pool

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/target"
)

// A program is a process that a step has started. Its instance has nothing else that runs.
type program struct {
	*target.Program
	instance *instance
}

var errInstanceEnded = errors.New("the target has been stopped")

// prepareProgram makes the instance start a process for each step that asks for one.
func (i *instance) prepareProgram(spec target.Spec, dir *target.Directory) error {
	if err := spec.Validate(); err != nil {
		return fmt.Errorf("target %q: %w", spec.Name, err)
	}
	i.programs = map[*program]bool{}
	options := &target.Options{Environ: i.pool.opts.Environ, Directory: dir, Logger: i.pool.opts.Log}
	i.target.Program = func(ctx context.Context, added run.ProgramOptions) (run.Program, error) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if i.register(nil) != nil {
			return nil, errInstanceEnded
		}
		started, err := target.StartProgram(i.pool.ctx, spec, options, target.ProgramOptions(added))
		if err != nil {
			return nil, err
		}
		p := &program{started, i}
		if err := i.register(p); err != nil {
			p.Drop()
			return nil, errors.Join(err, started.Stop(context.WithoutCancel(i.pool.ctx)))
		}
		return p, nil
	}
	return nil
}

// register adds a program to those that endPrograms stops. It returns an error when that has been called.
func (i *instance) register(p *program) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.programs == nil {
		return errInstanceEnded
	}
	if p != nil {
		i.programs[p] = true
	}
	return nil
}

// Stop ends the program, and waits until nothing of it is left.
func (p *program) Stop(ctx context.Context) error {
	err := p.Program.Stop(ctx)
	p.instance.mu.Lock()
	defer p.instance.mu.Unlock()
	delete(p.instance.programs, p)
	return err
}

// endPrograms stops the programs that no step has stopped. No other starts after that.
func (i *instance) endPrograms() (err error) {
	i.mu.Lock()
	left := i.programs
	i.programs = nil
	i.mu.Unlock()
	for p := range left {
		p.Drop()
		err = errors.Join(err, p.Program.Stop(context.WithoutCancel(i.pool.ctx)))
	}
	return err
}
