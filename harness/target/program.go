package target

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
)

// A Program is a process that talks over standard input and output. It has the same guards as a server, see [Target].
//
// Its methods may be called from any goroutine, but only one goroutine may call Read, and one may call Write.
type Program struct {
	target *Target
	output *handover
	closed atomic.Bool // CloseInput was called
}

// ProgramOptions are what one start of a program adds to its [Spec]. Expressions in them are not replaced.
type ProgramOptions struct {
	Args []string          // further arguments, after those of Spec.Command
	Env  map[string]string // replaces variables of Spec.Env. The command is looked up without it, as with Spec.Over
	Dir  string            // the working directory, relative to Spec.Dir. Default: Spec.Dir
}

// StartProgram starts a target with Spec.Program once. It returns as soon as the process runs, because a program does
// not say when it is ready. As with [Start], the program ends with ctx, and the caller must call Stop in any case.
//
// Something must Read until the program has exited, or call Drop.
func StartProgram(ctx context.Context, spec Spec, options *Options, o ProgramOptions) (*Program, error) {
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("target %q: %w", spec.Name, err)
	}
	if !spec.Program {
		return nil, fmt.Errorf("target %q: it is a server, not a program", spec.Name)
	}
	spec, opts := spec.withDefaults(), options.withDefaults()
	p := &Program{
		target: &Target{name: spec.Name, log: opts.Logger.With("target", spec.Name), spec: spec, environ: opts.Environ, dir: opts.Directory},
		output: newHandover(),
	}
	if opts.Directory == nil && spec.UsesDirectory() {
		made, err := NewDirectory("")
		if err != nil {
			return nil, fmt.Errorf("start target %q: directory: %w", spec.Name, err)
		}
		p.target.dir, p.target.ownDir = made, true
	}
	opts.Starting()
	if err := p.start(ctx, o); err != nil {
		if p.target.ownDir {
			err = errors.Join(err, p.target.dir.Remove())
		}
		return nil, err
	}
	return p, nil
}

// guardWithin is how long the guard of a program may take to start, on a busy machine.
const guardWithin = 30 * time.Second

func (p *Program) start(ctx context.Context, o ProgramOptions) error {
	t := p.target
	cmd, err := t.prepare(t.spec.values(0, t.dir.Path()))
	if err != nil {
		return err
	}
	if err := cmd.add(o); err != nil {
		return t.failed("start", err)
	}
	cmd.program = p.output
	bounded, cancel := context.WithTimeoutCause(ctx, guardWithin, fmt.Errorf("not there within %s", guardWithin))
	guarded, err := newGroup(bounded)
	cancel()
	if err != nil {
		return fmt.Errorf("start target %q: guard process: %w", t.name, err)
	}
	if t.process, err = startProcess(ctx, cmd, guarded); err != nil {
		return t.failed("start", err)
	}
	t.log.Debug("program started")
	return nil
}

// add adds what one start has in addition.
func (c *command) add(o ProgramOptions) error {
	c.argv = slices.Concat(c.argv, o.Args)
	for _, name := range slices.Sorted(maps.Keys(o.Env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fmt.Errorf("env: %q is not the name of a variable", name)
		}
		c.env = slices.DeleteFunc(c.env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		c.env = append(c.env, name+"="+o.Env[name])
	}
	if o.Dir == "" {
		return nil
	}
	file := c.file()
	if !filepath.IsAbs(o.Dir) {
		o.Dir = filepath.Join(c.dir, o.Dir)
	}
	absolute, err := filepath.Abs(file) // a relative command stays the one in Spec.Dir
	if err != nil {
		return err
	}
	c.path, c.dir = absolute, o.Dir
	return checkDirectory(c.dir)
}

// Read returns what the program wrote next, and whether it went to standard error. The data is valid until the next
// call. It returns false when the program has exited and all its output has been returned, or after Drop. Other processes may still have the program's output,
// but what they write after its exit is dropped.
func (p *Program) Read() (stderr bool, data []byte, ok bool) {
	if waiting.IsClosed(p.Exited()) {
		return false, nil, false
	}
	select {
	case piece := <-p.output.pieces:
		return piece.stream == Stderr, piece.data, true
	case <-p.Exited():
	case <-p.output.dropped:
	}
	return false, nil, false
}

// Drop says that nothing will call Read any more. What the program writes from now on is dropped.
func (p *Program) Drop() { p.output.drop() }

// Write writes to standard input. It returns an error that says why the program did not take all of it: it did not
// read until ctx ended, it has closed its input, or it has exited.
func (p *Program) Write(ctx context.Context, data []byte) error {
	input := p.target.process.input
	_ = input.SetWriteDeadline(time.Time{}) // on a closed file, Write returns the error
	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(cut)
		_ = input.SetWriteDeadline(time.Unix(1, 0))
	})
	n, err := input.Write(data)
	if !stop() {
		<-cut
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("the program does not read its input: it took %d of %d bytes: %w", n, len(data), context.Cause(ctx))
	default:
		return p.inputError(err)
	}
}

// CloseInput ends standard input.
func (p *Program) CloseInput() error {
	err := p.target.process.input.Close()
	if err != nil {
		err = p.inputError(err)
	}
	p.closed.Store(true)
	return err
}

// inputError says why the input cannot be used.
func (p *Program) inputError(err error) error {
	switch {
	case errors.Is(err, fs.ErrClosed) && p.closed.Load():
		return errors.New("the program's input was closed before")
	case errors.Is(err, fs.ErrClosed):
		return errors.New("the program has exited")
	case errors.Is(err, syscall.EPIPE):
		return errors.New("the program has closed its input")
	}
	return err
}

// Exited returns a channel that is closed when the program has exited and all its output has been read or dropped.
func (p *Program) Exited() <-chan struct{} { return p.target.process.exited }

// Exit returns how the program ended: with a status, or by a signal such as "SIGSEGV". It must not be called before
// Exited is closed.
func (p *Program) Exit() (status int, signal string) { return p.target.process.exit() }

// Signal sends SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 or SIGKILL to the program alone.
func (p *Program) Signal(name string) error { return p.target.process.signalLeader(name) }

// Stop ends the program and everything that it has started, as [Target.Stop] does.
func (p *Program) Stop(ctx context.Context) error {
	return p.target.Stop(ctx)
}
