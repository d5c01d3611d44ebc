package agentsdk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// TransportOptions say how a CLI is started.
type TransportOptions struct {
	CLIPath       string            // default: claude, in PATH
	Args          []string          // after the four that every session needs
	Cwd           string            // default: that of this program
	Env           map[string]string // added to the environment of this program
	CleanEnv      bool              // use Env alone
	MaxLineBytes  int               // the longest line of the CLI, default 64 MiB; negative means no limit
	ShutdownGrace time.Duration     // from the end of the input to SIGTERM, default 2 s
	KillGrace     time.Duration     // from SIGTERM to SIGKILL, default 5 s
	Stderr        func(string)      // gets what the CLI writes to standard error
}

// baseArgs make the CLI speak the protocol.
var baseArgs = []string{"--output-format", "stream-json", "--verbose", "--input-format", "stream-json"}

// stderrTail is how much of standard error is kept for errors.
const stderrTail = 8 << 10

// A SubprocessTransport runs the CLI as a child process. The child ends with this program, even if that is killed: its input
// ends, and on Linux it is killed too.
type SubprocessTransport struct {
	o       TransportOptions
	exited  chan struct{} // closed when the process was waited for; state is set before that
	state   *os.ProcessState
	drained chan struct{} // closed when standard error has ended
	told    chan struct{} // closed when the callback has got all of it
	writing chan struct{} // has one element while no write is in progress

	mu        sync.Mutex
	process   *os.Process // nil before Connect
	stdin     *os.File
	stdout    *os.File
	stderr    *os.File
	tail      []byte
	closed    bool
	stopped   bool // Close has sent a signal
	reading   bool
	callbacks serial
}

// NewSubprocessTransport returns a transport that Connect starts.
func NewSubprocessTransport(o TransportOptions) *SubprocessTransport {
	o.MaxLineBytes = cmp.Or(o.MaxLineBytes, 64<<20)
	o.ShutdownGrace = cmp.Or(o.ShutdownGrace, 2*time.Second)
	o.KillGrace = cmp.Or(o.KillGrace, 5*time.Second)
	t := &SubprocessTransport{o: o, exited: make(chan struct{}), drained: make(chan struct{}), told: make(chan struct{}), writing: make(chan struct{}, 1)}
	t.writing <- struct{}{}
	return t
}

// Connect starts the process. The error is a *CLINotFoundError or a *CLIConnectionError.
func (t *SubprocessTransport) Connect(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.process != nil || t.closed {
		return &InvalidStateError{what: "connect a second time"}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	cmd, err := t.command()
	if err != nil {
		return err
	}
	var ours, theirs []*os.File
	for range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(append(ours, theirs...))
			return connectionError("start the CLI", err)
		}
		ours, theirs = append(ours, r), append(theirs, w)
	}
	ours[0], theirs[0] = theirs[0], ours[0] // the CLI reads from the first
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	started := make(chan error)
	go t.run(cmd, started)
	err = <-started
	closeAll(theirs)
	if err != nil {
		closeAll(ours)
		return t.startError(cmd, err)
	}
	t.process, t.stdin, t.stdout, t.stderr = cmd.Process, ours[0], ours[1], ours[2]
	go t.drain(t.stderr)
	return nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // a pipe
	}
}

// run starts the process and waits for it, on one thread. On Linux, a child can be killed when its parent ends, but that
// means the thread that has started it: so the thread must live as long as the child.
func (t *SubprocessTransport) run(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = cmd.Wait() // the state says it all
	t.mu.Lock()    // Connect may not have returned
	defer t.mu.Unlock()
	t.state = cmd.ProcessState
	t.bound(t.stdout)
	t.bound(t.stderr)
	close(t.exited)
}

// bound ends the reading of a pipe that a process of the CLI still keeps open.
func (t *SubprocessTransport) bound(f *os.File) {
	if t.o.ShutdownGrace > 0 {
		_ = f.SetReadDeadline(time.Now().Add(t.o.ShutdownGrace)) // it may be closed
	}
}

// A boundedPipe ends a while after the process has exited, also if another process keeps it open. What is in it can still
// be read.
type boundedPipe struct{ *os.File }

func (p boundedPipe) Read(buffer []byte) (int, error) {
	n, err := p.File.Read(buffer)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		_ = p.SetReadDeadline(time.Now().Add(50 * time.Millisecond)) // it may be closed
		n, err = p.File.Read(buffer)
	}
	return n, err
}

// command finds the executable.
func (t *SubprocessTransport) command() (*exec.Cmd, error) {
	name := cmp.Or(t.o.CLIPath, "claude")
	path, err := exec.LookPath(name)
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrDot):
		return nil, &CLINotFoundError{Path: name, Err: err}
	case err != nil && !isScript(name):
		return nil, connectionError(fmt.Sprintf("%q cannot be started", name), err)
	case err != nil:
		path = name // Node reads it, so it need not be executable
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, connectionError("find the CLI", err)
	}
	args := append(slices.Clone(baseArgs), t.o.Args...)
	if isScript(path) {
		args = append([]string{path}, args...)
		if path, err = exec.LookPath("node"); err != nil {
			return nil, connectionError(fmt.Sprintf("%q needs node", name), err)
		}
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = t.o.Cwd
	cmd.SysProcAttr = childAttributes()
	if t.o.CleanEnv {
		cmd.Env = []string{}
	} else {
		cmd.Env = cmd.Environ()
	}
	for key, value := range t.o.Env {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	return cmd, nil
}

func isScript(path string) bool {
	return slices.Contains([]string{".js", ".mjs", ".cjs"}, strings.ToLower(filepath.Ext(path)))
}

// startError tells a missing working directory from an executable that cannot be started: both are ENOENT.
func (t *SubprocessTransport) startError(cmd *exec.Cmd, err error) error {
	if t.o.Cwd != "" {
		if info, dirErr := os.Stat(t.o.Cwd); dirErr != nil || !info.IsDir() {
			return connectionError(fmt.Sprintf("the working directory %q does not exist", t.o.Cwd), err)
		}
	}
	return connectionError(fmt.Sprintf("%q cannot be started", cmd.Path), err)
}

// drain reads standard error to its end.
func (t *SubprocessTransport) drain(stderr *os.File) {
	defer close(t.drained)
	defer t.callbacks.post(func() { close(t.told) })
	buffer := make([]byte, 32<<10)
	for {
		n, err := boundedPipe{stderr}.Read(buffer)
		if n > 0 {
			text := string(buffer[:n])
			t.mu.Lock()
			t.tail = append(t.tail, text...)
			t.tail = slices.Delete(t.tail, 0, max(0, len(t.tail)-stderrTail))
			t.mu.Unlock()
			if t.o.Stderr != nil {
				t.callbacks.post(func() { t.o.Stderr(text) })
			}
		}
		if err != nil {
			_ = stderr.Close() // a pipe
			return
		}
	}
}

// Stderr returns the end of what the CLI has written to standard error.
func (t *SubprocessTransport) Stderr() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.tail)
}

// Write writes a line. A partial write breaks the protocol, so the transport must be closed after an error.
func (t *SubprocessTransport) Write(ctx context.Context, line []byte) error {
	select {
	case <-t.writing:
		defer func() { t.writing <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	stdin := t.stdin
	t.mu.Unlock()
	if stdin == nil {
		return &CLIConnectionError{Reason: "the CLI is not running", ExitCode: -1}
	}
	_, err := stdin.Write(append(line[:len(line):len(line)], '\n'))
	return err
}

// ReadMessages yields the lines of standard output. At its end it waits for the exit, and yields a *CLIConnectionError if
// that was not an exit with code 0. A line that is too long is a *ControlProtocolError.
func (t *SubprocessTransport) ReadMessages() iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		t.mu.Lock()
		stdout, twice := t.stdout, t.reading
		t.reading = true
		t.mu.Unlock()
		if stdout == nil || twice {
			yield(nil, &InvalidStateError{what: "read the CLI's output, which only works once and after Connect"})
			return
		}
		defer stdout.Close()
		lines := lineReader{from: boundedPipe{stdout}, max: t.o.MaxLineBytes}
		for {
			line, _, err := lines.next()
			if err == errTooLong {
				yield(nil, &ControlProtocolError{Message: fmt.Sprintf("the CLI wrote a line of more than %d bytes: raise MaxLineBytes", t.o.MaxLineBytes)})
				return
			}
			if err != nil {
				break
			}
			if !yield(line, nil) {
				return
			}
		}
		<-t.exited
		<-t.drained
		t.awaitCallbacks()
		if err := t.exitError(); err != nil {
			yield(nil, err)
		}
	}
}

// awaitCallbacks waits until the program has got all of standard error, but not for a callback that waits for the end of
// the session.
func (t *SubprocessTransport) awaitCallbacks() {
	limit := time.NewTimer(max(t.o.ShutdownGrace, 2*time.Second))
	defer limit.Stop()
	select {
	case <-t.told:
	case <-limit.C:
	}
}

// exitError describes an exit that was not with code 0.
func (t *SubprocessTransport) exitError() error {
	if t.state.Success() {
		return nil
	}
	stderr := t.Stderr()
	t.mu.Lock()
	defer t.mu.Unlock()
	return &CLIConnectionError{Reason: "the CLI has ended", ExitCode: t.state.ExitCode(), Signal: signalOf(t.state), Stderr: stderr, stopped: t.stopped}
}

// EndInput closes standard input. It ends a Write that is blocked.
func (t *SubprocessTransport) EndInput() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stdin == nil {
		return nil
	}
	err := t.stdin.Close()
	t.stdin = nil
	return err
}

// Close ends the process: its input ends, and if it does not exit, SIGTERM and SIGKILL follow, the latter at once when ctx
// ends. It returns after the process was waited for.
func (t *SubprocessTransport) Close(ctx context.Context) error {
	_ = t.EndInput() // a pipe
	t.mu.Lock()
	process := t.process
	t.closed = true
	t.mu.Unlock()
	if process == nil {
		return nil
	}
	if !t.exits(ctx, t.o.ShutdownGrace) {
		t.mu.Lock()
		t.stopped = true
		t.mu.Unlock()
		_ = terminate(process) // it may have exited
		if !t.exits(ctx, t.o.KillGrace) {
			_ = process.Kill()
		}
	}
	<-t.exited
	t.mu.Lock()
	if !t.reading {
		_ = t.stdout.Close() // a pipe
	}
	t.mu.Unlock()
	<-t.drained
	return nil
}

// exits waits for the exit. It returns false after the limit, if that is positive, and at the end of ctx.
func (t *SubprocessTransport) exits(ctx context.Context, limit time.Duration) bool {
	var after <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		after = timer.C
	}
	select {
	case <-t.exited:
		return true
	case <-after:
		return false
	case <-ctx.Done():
		return false
	}
}
