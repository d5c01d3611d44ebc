// Package target starts a server on a free port, waits until it is ready, keeps its log, and ends it with everything that
// it has started.
//
// A target that the harness starts runs in a process group of its own. The package promises, in this order of importance:
//
//   - No process is left. [Target.Stop] and the end of the context given to [Start] end the whole group, also
//     grandchildren that ignore SIGTERM, that outlive the server or that hold its output open. When the harness itself
//     is killed, even by SIGKILL, a guard process ends the group (see group).
//   - A process can leave the group by setsid or setpgid: a daemon, a job of an interactive shell, Node's "detached". On
//     Linux it is found by its environment and its parents, and ended too (see process.ownProcesses). Elsewhere [Target.Stop]
//     returns an error when such a process still holds the target's output. A process of another user escapes.
//   - A target never waits for its output to be read, and its output never fills memory: both streams are read all the
//     time, and only the last lines are kept.
//   - No goroutine outlives Stop.
//
// To start a target takes process groups and /bin/sh. On systems without them, such as Windows, a target needs a URL.
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

	// The rest is set when the harness has started the target.
	spec    Spec
	environ []string
	port    *port
	dir     *Directory
	ownDir  bool // Start has made it, so Stop removes it

	mu      sync.Mutex
	process *process // nil: the harness did not start it
	// unchecked is why it is not known that the process itself answers on the port.
	unchecked string
}

// running returns the process, the last one if it was started again; nil when the harness has not started it.
func (t *Target) running() *process {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.process
}

// Options are what Start needs to know about the harness. A nil *Options means the zero value.
type Options struct {
	// Environ is the environment of the harness, as os.Environ returns it. A target gets the few variables of it that
	// Spec.Inherit describes. Default: empty, so that a command without a slash is not found and there is no HOME.
	Environ []string
	// Directory is the target's; its maker removes it. Default: when the spec needs one, Start makes one, which Stop removes.
	Directory *Directory
	// Starting is called before each process is started: there is another one when the first has lost its port.
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

// maxStarts is how often a target is started when the free port it was given was taken before it could listen.
const maxStarts = 4

// Start brings up the target that spec describes and returns when it answers as spec.Ready wants it to.
//
// When the context ends, the target ends, as if Stop had been called. Stop must be called in any case: it waits for the
// end.
//
// A mistake in spec, or a failure of the harness to get a port or a process, is a plain error. Everything that the target
// can cause (the command cannot be executed, it exits, it does not get ready) is an *[Error] with the last lines of its
// log. After an error nothing is left running. Start then takes up to Ready.Within, and the time of a Stop.
func Start(ctx context.Context, spec Spec, options *Options) (*Target, error) {
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("target %q: %w", spec.Name, err)
	}
	spec, opts := spec.withDefaults(), options.withDefaults()
	opts.Logger = opts.Logger.With("target", spec.Name)
	deadline := time.Now().Add(spec.Ready.Within) // one bound for all attempts
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

// reach returns a target that already runs.
func reach(ctx context.Context, spec Spec, opts Options, deadline time.Time) (*Target, error) {
	u, err := url.Parse(spec.URL)
	if err != nil {
		return nil, err // Validate has parsed it before
	}
	t := &Target{name: spec.Name, url: *u, log: opts.Logger}
	ctx, cancel := spec.Ready.bound(ctx, deadline)
	defer cancel()
	if err := spec.Ready.await(ctx, u, func() error { return nil }); err != nil {
		return nil, t.failed("reach", err)
	}
	t.log.Debug("target reached")
	return t, nil
}

// launch starts the target once, on a port of its own.
func launch(ctx context.Context, spec Spec, opts Options, deadline time.Time) (*Target, error) {
	port, held, err := reservePort()
	if err != nil {
		return nil, fmt.Errorf("start target %q: free port: %w", spec.Name, err)
	}
	t := &Target{name: spec.Name, log: opts.Logger, spec: spec, environ: opts.Environ, port: port, dir: opts.Directory}
	t.url = url.URL{Scheme: "http", Host: port.address()}
	if err := t.execute(ctx, held, deadline); err != nil {
		port.release()
		return nil, err
	}
	return t, nil
}

// execute starts the target's process, and returns when it is ready or has ended. The listener is closed just before the start.
func (t *Target) execute(ctx context.Context, held net.Listener, deadline time.Time) error {
	defer held.Close()
	filled := t.spec.values(t.port.number, t.dir.Path())
	if t.dir != nil {
		if err := t.dir.writeFiles(t.spec.Files, filled); err != nil {
			return fmt.Errorf("start target %q: %w", t.name, err)
		}
	}
	cmd, err := t.spec.command(filled, t.environ)
	if err != nil {
		return t.failed("start", err)
	}
	bounded, cancel := t.spec.Ready.bound(ctx, deadline)
	guarded, err := newGroup(bounded)
	cancel()
	if err != nil {
		return fmt.Errorf("start target %q: guard process: %w", t.name, err)
	}
	held.Close() // as late as possible: from here on any process can listen there
	process, err := startProcess(ctx, cmd, guarded)
	if err != nil {
		return t.failed("start", err)
	}
	t.mu.Lock()
	t.process = process
	t.mu.Unlock()
	t.log.Debug("target started")
	if err := t.awaitReady(ctx, process, deadline); err != nil {
		t.log.Debug("target not ready", "err", err)
		if stopErr := process.end(context.WithoutCancel(ctx)); stopErr != nil {
			err = fmt.Errorf("%w; stop: %w", err, stopErr)
		}
		return t.failed("start", t.blamePort(err, t.port.number)) // the log is complete now
	}
	t.log.Debug("target ready")
	return nil
}

// errEarlyExit is a process that ended before it was ready.
var errEarlyExit = errors.New("exited before it was ready")

// awaitReady probes until the target is ready, and gives up at once when its process ends.
func (t *Target) awaitReady(ctx context.Context, process *process, deadline time.Time) error {
	ready := t.spec.Ready
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
		// The harness ends the target: an exit or an answer means nothing now.
		if err == nil || errors.Is(err, errEarlyExit) {
			err = context.Cause(ctx)
		}
	case waiting.IsClosed(process.exited):
		// Even when a probe succeeded just now: it was the target's last answer, or another process has its port.
		err = fmt.Errorf("%w: %s", errEarlyExit, process.status())
	case errors.Is(err, syscall.ECONNREFUSED):
		err = fmt.Errorf("%w: it runs, and nothing listens there: ${{ port }} is where it must", err)
	}
	return err
}

// A fixedPortError is a server that wants another port than the one it is given. Another start would not help.
type fixedPortError struct {
	err    error
	wanted int
}

func (e *fixedPortError) Error() string {
	return fmt.Sprintf("%v: it wants port %d, which is taken, and not the one it is given: "+
		"the server does not use ${{ port }} everywhere it listens", e.err, e.wanted)
}

func (e *fixedPortError) Unwrap() error { return e.err }

// blamePort adds to an early exit that the server has not used the port it was given, when its log says so.
func (t *Target) blamePort(err error, given int) error {
	if other := otherPort(t.Log(), given); other != 0 && errors.Is(err, errEarlyExit) {
		return &fixedPortError{err, other}
	}
	return err
}

// lostPort reports whether a start failed because another process took the port in the moment when it was free.
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

// Exited returns a channel that is closed when the process that was started has ended, asked or not, and everything it
// had written by then is in the log. Its children may still run. For a target given by its URL the channel is nil.
func (t *Target) Exited() <-chan struct{} {
	if p := t.running(); p != nil {
		return p.exited
	}
	return nil
}

// ExitStatus returns how the process ended: "exit status 1", "signal: killed". It is empty until then.
func (t *Target) ExitStatus() string {
	p := t.running()
	if p == nil || !waiting.IsClosed(p.exited) {
		return ""
	}
	return p.status()
}

// Log returns the last lines the target wrote, oldest first, both streams in the order in which they arrived. A last
// line without a line end is among them. It may be called while the target runs and after it was stopped.
func (t *Target) Log() []Line {
	if p := t.running(); p != nil {
		return p.log.last()
	}
	return nil
}

// errNotOurs is why a target given by its URL cannot be ended.
var errNotOurs = errors.New("the harness did not start it")

// Terminate sends SIGTERM to the process that was started, to it alone as a service manager would, and returns its exit
// status when it has ended by itself. It is an error if it still runs when ctx ends, or if it had ended before. Stop is
// still needed.
func (t *Target) Terminate(ctx context.Context) (status string, err error) {
	return t.signal(ctx, "terminate", syscall.SIGTERM)
}

// signal sends a signal that ends the process, and waits for the end.
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

// Stop ends the target and everything it started, and waits for it:
//
//  1. SIGTERM to the whole process group;
//  2. up to Stop.Grace for the group to end, less when ctx ends sooner;
//  3. SIGKILL to whatever is left of the group, repeated until nothing is, for up to Stop.Kill;
//  4. the guard, the readers of the log and every other goroutine of the target are joined.
//
// With a context that has already ended, the target is killed at once. Stop can be called several times, also at the same
// time; every call waits for the end and returns its result. An error means that a process is still there. For a target
// given by its URL, Stop does nothing.
func (t *Target) Stop(ctx context.Context) error {
	p := t.running()
	if p == nil {
		return nil
	}
	err := p.end(ctx)
	t.port.release()
	if t.ownDir {
		err = errors.Join(err, t.dir.Remove())
	}
	if err != nil {
		return t.failed("stop", err)
	}
	t.log.Debug("target stopped")
	return nil
}

// failed makes an Error of this target.
func (t *Target) failed(doing string, err error) error {
	return &Error{Target: t.name, Doing: doing, Err: err, Log: t.Log()}
}
