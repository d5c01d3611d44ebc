// Package target starts a server on a free port, waits until it is ready, keeps its log, and ends it with everything
// that it has started.
//
// A target that the harness starts runs in its own process group. The package promises, in this order of importance:
//
//   - No process is left. [Target.Stop] and the end of the context given to [Start] end the whole group, even
//     grandchildren that ignore SIGTERM, outlive the server or keep its output open. When the harness itself
//     is killed, even by SIGKILL, a guard process ends the group (see group).
//   - A process can leave the group by setsid or setpgid: a daemon, a job of an interactive shell, Node's "detached". On
//     Linux it is found by its environment and its parents, and ended too (see process.ownProcesses). Elsewhere [Target.Stop]
//     returns an error when such a process still keeps the target's output open. A process of another user escapes.
//   - A target never waits for its output to be read, and its output never fills memory. Both streams are read all the
//     time, and only the last lines are kept.
//   - No goroutine outlives Stop.
//
// A target can also be a program that talks over standard input and output. [StartProgram] starts one under the same
// guards. Its output goes to a reader instead of a log.
//
// Starting a target needs process groups and /bin/sh. On systems without them, such as Windows, a target needs a URL.
package target

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"syscall"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
)

// A Target is a server under test that was ready when [Start] returned. Its methods may be called from any goroutine.
type Target struct {
	name string
	url  url.URL
	log  *slog.Logger

	// The other fields are set when the harness has started the target.
	spec    Spec
	environ []string
	port    *port
	dir     *Directory
	ownDir  bool // Start has created the directory, so Stop removes it

	mu      sync.Mutex
	process *process // nil when the harness did not start it
	// unchecked says why it is unknown whether the process itself answers on the port.
	unchecked string
}

// running returns the process: the latest one after restarts, and nil when the harness has not started it.
func (t *Target) running() *process {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.process
}

// Options are what Start needs to know about the harness. A nil *Options means the zero value.
type Options struct {
	// Environ is the environment of the harness, as os.Environ returns it. A target gets only the variables that
	// Spec.Inherit describes. Default: empty, so a command without a slash is not found, and there is no HOME.
	Environ []string
	// Directory is the target's directory; its creator removes it. By default, Start creates one if the spec needs it,
	// and Stop removes that one.
	Directory *Directory
	// Starting is called before each process starts. There is another process when the first one has lost its port.
	Starting func()
	// Logger logs what happens to the target. Default: no log.
	Logger *slog.Logger
}

// withDefaults returns a copy with every default filled in.
func (o *Options) withDefaults() Options {
	var filled Options
	if o != nil {
		filled = *o
	}
	if filled.Starting == nil {
		filled.Starting = func() {}
	}
	if filled.Logger == nil {
		filled.Logger = slog.New(slog.DiscardHandler)
	}
	return filled
}

// maxStarts is how often a target is started when another process takes its port before it can listen.
const maxStarts = 4

// Start starts the target that spec describes and returns when it responds as spec.Ready demands.
//
// When the context ends, the target ends, as if Stop had been called. The caller must call Stop in any case: it waits
// for the end.
//
// A mistake in spec, or a failure of the harness to get a port or a process, is a plain error. Everything that the
// target can cause (the command cannot be executed, it exits, it does not become ready) is an *[Error] with the last
// lines of its log. After an error, nothing is left running. Start then takes up to Ready.Within, and the time of a
// Stop.
func Start(ctx context.Context, spec Spec, options *Options) (*Target, error) {
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("target %q: %w", spec.Name, err)
	}
	if spec.Program {
		return nil, fmt.Errorf("target %q: it is a program: StartProgram starts it", spec.Name)
	}
	spec, opts := spec.withDefaults(), options.withDefaults()
	opts.Logger = opts.Logger.With("target", spec.Name)
	deadline := time.Now().Add(spec.Ready.Within) // one limit for all attempts
	if spec.URL != "" {
		return reach(ctx, spec, opts, deadline)
	}
	own := opts.Directory == nil && spec.UsesDirectory()
	if own {
		made, err := NewDirectory("")
		if err != nil {
			return nil, fmt.Errorf("start target %q: directory: %w", spec.Name, err)
		}
		opts.Directory = made
	}
	for start := 1; ; start++ {
		opts.Starting()
		t, err := launch(ctx, spec, opts, deadline)
		if err == nil {
			t.ownDir = own
			return t, nil
		}
		if start == maxStarts || !lostPort(err) {
			if own {
				err = errors.Join(err, opts.Directory.Remove())
			}
			return nil, err
		}
		if start == 1 {
			opts.Logger.Warn("port was taken before the target could listen; trying others", "err", err)
		}
	}
}

// reach returns a target for a server that already runs.
func reach(ctx context.Context, spec Spec, opts Options, deadline time.Time) (*Target, error) {
	u, err := url.Parse(spec.URL)
	if err != nil {
		return nil, err // Validate has parsed it already
	}
	t := &Target{name: spec.Name, url: *u, log: opts.Logger}
	ctx, cancel := spec.Ready.bound(ctx, deadline)
	defer cancel()
	if err := spec.Ready.await(ctx, u, func() error { return nil }); err != nil {
		if errors.Is(err, syscall.ECONNREFUSED) {
			err = fmt.Errorf("%w: nothing listens there: start the server, or correct its url", err)
		}
		return nil, t.failed("reach", err)
	}
	t.log.Debug("target reached")
	return t, nil
}

// launch starts the target once, on its own port.
func launch(ctx context.Context, spec Spec, opts Options, deadline time.Time) (*Target, error) {
	port, held, err := reservePort()
	if err != nil {
		return nil, fmt.Errorf("start target %q: free port: %w", spec.Name, err)
	}
	t := &Target{name: spec.Name, log: opts.Logger, spec: spec, environ: opts.Environ, port: port, dir: opts.Directory}
	t.url = url.URL{Scheme: "http", Host: port.address()}
	if err := t.execute(ctx, held, spec.Ready, deadline); err != nil {
		port.release()
		return nil, err
	}
	return t, nil
}

// execute starts the target's process. It returns when the process is ready or has ended. It closes the listener just
// before the start.
func (t *Target) execute(ctx context.Context, held net.Listener, ready Ready, deadline time.Time) error {
	defer held.Close()
	cmd, err := t.prepare(t.spec.values(t.port.number, t.dir.Path()))
	if err != nil {
		return err
	}
	bounded, cancel := ready.bound(ctx, deadline)
	guarded, err := newGroup(bounded)
	cancel()
	if err != nil {
		return fmt.Errorf("start target %q: guard process: %w", t.name, err)
	}
	held.Close() // as late as possible: from now on any process can listen there
	process, err := startProcess(ctx, cmd, guarded)
	if err != nil {
		return t.failed("start", err)
	}
	t.mu.Lock()
	t.process = process
	t.mu.Unlock()
	t.log.Debug("target started")
	if err := t.awaitReady(ctx, process, ready, deadline); err != nil {
		t.log.Debug("target not ready", "err", err)
		if stopErr := process.end(context.WithoutCancel(ctx)); stopErr != nil {
			err = fmt.Errorf("%w; stop: %w", err, stopErr)
		}
		return t.failed("start", t.blamePort(err, t.port.number)) // the log is complete now
	}
	t.log.Debug("target ready")
	return nil
}

// prepare writes the target's files and resolves its command.
func (t *Target) prepare(values map[string]string) (command, error) {
	if t.dir != nil {
		if err := t.dir.writeFiles(t.spec.Files, values); err != nil {
			return command{}, fmt.Errorf("start target %q: %w", t.name, err)
		}
	}
	cmd, err := t.spec.command(values, t.environ)
	if err != nil {
		return command{}, t.failed("start", err)
	}
	return cmd, nil
}

// errEarlyExit means that a process ended before it was ready.
var errEarlyExit = errors.New("exited before it was ready")

// awaitReady probes until the target is ready. It gives up at once when the process ends.
func (t *Target) awaitReady(ctx context.Context, process *process, ready Ready, deadline time.Time) error {
	bounded, cancel := ready.bound(ctx, deadline)
	defer cancel()
	probing, giveUp := context.WithCancelCause(bounded)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-process.exited:
			giveUp(errEarlyExit)
		case <-probing.Done():
		}
	}()
	err := ready.await(probing, &t.url, func() error { return t.checkOwner(process) })
	giveUp(nil)
	<-watched

	switch {
	case ctx.Err() != nil:
		// The harness ends the target, so an exit or a response means nothing now.
		if err == nil || errors.Is(err, errEarlyExit) {
			err = context.Cause(ctx)
		}
	case waiting.IsClosed(process.exited):
		// This holds even if the last probe succeeded: the target died right after it, or another process has its port.
		err = fmt.Errorf("%w: %s%s", errEarlyExit, process.status(), ready.place())
	case errors.Is(err, syscall.ECONNREFUSED):
		err = fmt.Errorf("%w: it runs, and nothing listens there: ${{ port }} is where it must", err)
	}
	return err
}

// A fixedPortError means that a server wants another port than the given one. Another start would not help.
type fixedPortError struct {
	err    error
	wanted int
}

func (e *fixedPortError) Error() string {
	return fmt.Sprintf("%v: it wants port %d, which is taken, and not the one it is given: "+
		"the server does not use ${{ port }} everywhere it listens", e.err, e.wanted)
}

func (e *fixedPortError) Unwrap() error { return e.err }

// blamePort extends the error of an early exit when the log shows that the server did not use the given port.
func (t *Target) blamePort(err error, given int) error {
	if other := otherPort(t.Log(), given); other != 0 && errors.Is(err, errEarlyExit) {
		return &fixedPortError{err, other}
	}
	return err
}

// lostPort reports whether a start failed because another process took the port while it was free.
func lostPort(err error) bool {
	var failed *Error
	var fixed *fixedPortError
	return errors.Is(err, errEarlyExit) && !errors.As(err, &fixed) && errors.As(err, &failed) && saysAddressInUse(failed.Log)
}

// URL returns the base URL of the target, without a slash at the end: "http://127.0.0.1:41873".
func (t *Target) URL() *url.URL {
	u := t.url
	return &u
}

// Exited returns a channel that is closed when the started process has exited for any reason and all its output so far
// is in the log. Its children may still run. For a target given by its URL, the channel is nil.
func (t *Target) Exited() <-chan struct{} {
	if p := t.running(); p != nil {
		return p.exited
	}
	return nil
}

// ExitStatus returns how the process ended: "exit status 1", "signal: killed". It is empty before that.
func (t *Target) ExitStatus() string {
	p := t.running()
	if p == nil || !waiting.IsClosed(p.exited) {
		return ""
	}
	return p.status()
}

// Log returns the last lines that the target wrote, oldest first, both streams in the order in which they arrived. It
// includes a last line without a line end. It may be called while the target runs and after Stop.
func (t *Target) Log() []Line {
	if p := t.running(); p != nil {
		return p.log.last()
	}
	return nil
}

// errNotOurs is why a target given by its URL cannot be stopped.
var errNotOurs = errors.New("the harness did not start it")

// Terminate sends SIGTERM to the started process alone, as a service manager would. It returns the exit status when the
// process has exited by itself. It returns an error if the process still runs when ctx ends, or had ended before. The
// caller must still call Stop.
func (t *Target) Terminate(ctx context.Context) (status string, err error) {
	return t.signal(ctx, "terminate", syscall.SIGTERM)
}

// signal sends a signal that ends the process, and waits for its end.
func (t *Target) signal(ctx context.Context, doing string, signal syscall.Signal) (status string, err error) {
	p := t.running()
	if p == nil {
		return "", t.failed(doing, errNotOurs)
	}
	status, err = p.terminate(ctx, signal)
	if err != nil {
		return status, t.failed(doing, err)
	}
	t.log.Debug("target ended", "signal", signal.String())
	return status, nil
}

// Stop ends the target and everything that it has started, and waits for the end:
//
//  1. It sends SIGTERM to the whole process group.
//  2. It waits up to Stop.Grace for the group to end, or less when ctx ends sooner.
//  3. It sends SIGKILL to what is left of the group, repeatedly until nothing is left, for up to Stop.Kill.
//  4. It waits for the guard, the readers of the log and every other goroutine of the target.
//
// If the context has already ended, Stop kills the target at once. Stop can be called several times, even concurrently;
// every call waits for the end and returns its result. An error means that a process still exists. For a target given
// by its URL, Stop does nothing.
func (t *Target) Stop(ctx context.Context) error {
	p := t.running()
	if p == nil {
		return nil
	}
	err := p.end(ctx)
	if t.port != nil { // a program has none
		t.port.release()
	}
	if t.ownDir {
		err = errors.Join(err, t.dir.Remove())
	}
	if err != nil {
		return t.failed("stop", err)
	}
	t.log.Debug("target stopped")
	return nil
}

func (t *Target) failed(doing string, err error) error {
	return &Error{Target: t.name, Doing: doing, Err: err, Log: t.Log()}
}
