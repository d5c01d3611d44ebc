//go:build unix

package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
)

// A process is a command that the harness has started, with all its descendants.
//
// It owns five goroutines. await waits for the process, two read its output, the group listens to its guard, and
// supervise ends everything, once. When ended is closed, they have all returned, unless err says that a process still
// exists.
type process struct {
	group   *group
	mark    string   // in the environment of all its descendants
	strays  *cleaner // kills descendants that leave the group; nil on systems where they cannot be found
	leader  *os.Process
	outputs [2]*outputReader
	log     *logTail
	program *handover // of a program; nil for a server, whose output goes to the log
	input   *os.File  // writes to the standard input of a program
	usage   usageMeter
	leaving atomic.Bool // processesAlive does not count it any more

	exited chan struct{} // closed when the leader has exited and its output is in the log, or has been read
	state  *os.ProcessState

	stop      context.CancelCauseFunc // asks supervise to end everything
	skipGrace context.CancelFunc      // ends the grace early
	ended     chan struct{}           // closed when supervise has returned; err is set before
	err       error
}

var (
	errStopped   = errors.New("stopped")
	errGuardLost = errors.New("the guard process has ended")
)

// startProcess runs a command in a group. The process lives until ctx ends or end is called. startProcess takes over
// the group, even if the command cannot be started.
func startProcess(ctx context.Context, c command, g *group) (*process, error) {
	p := &process{
		group:   g,
		mark:    newMark(),
		log:     newLogTail(c.log),
		program: c.program,
		exited:  make(chan struct{}),
		ended:   make(chan struct{}),
	}
	if err := p.execute(c); err != nil {
		g.signal(syscall.SIGKILL) // the guard is the only member
		g.dismiss()
		p.strays.dismiss()
		return nil, err
	}
	processesAlive.Add(1)
	life, stop := context.WithCancelCause(ctx)
	patience, skipGrace := context.WithCancel(context.WithoutCancel(ctx))
	p.stop, p.skipGrace = stop, skipGrace
	go p.await()
	go p.supervise(life, patience, c.stop)
	return p, nil
}

func (p *process) execute(c command) error {
	stdin, err := p.openInput()
	if err != nil {
		return err
	}
	defer stdin.Close()
	var to sink = p.log
	if p.program != nil {
		to = p.program
	}
	if runtime.GOOS == "linux" {
		if p.strays, err = newCleaner(killStrays, p.mark); err != nil {
			return err
		}
	}
	files := []*os.File{stdin}
	for i, stream := range []Stream{Stdout, Stderr} {
		output, end, err := newOutputReader(stream, to)
		if err != nil {
			p.closePipes()
			return err
		}
		defer end.Close()
		p.outputs[i] = output
		files = append(files, end)
	}
	p.leader, err = startChild(c.path, c.argv, &os.ProcAttr{
		Dir:   c.dir,
		Env:   append(c.env, p.mark),
		Files: files,
		Sys:   p.group.attributes(),
	})
	if err != nil {
		p.closePipes()
		return c.execFailed(err)
	}
	return nil
}

// openInput returns what the process reads: nothing, or what is written to p.input.
func (p *process) openInput() (stdin *os.File, err error) {
	if p.program == nil {
		return os.Open(os.DevNull)
	}
	stdin, p.input, err = os.Pipe()
	return stdin, err
}

// await waits for the leader.
func (p *process) await() {
	p.state, _ = waitChild(p.leader) // nothing else waits for this child
	if p.input != nil {
		p.input.Close() // otherwise a write could wait for another process that has the pipe
	}
	for _, output := range p.outputs {
		output.catchUp()
	}
	close(p.exited)
	if p.program != nil {
		p.program.drop() // what other processes write now
	}
}

// members returns the pids of the group's processes, without the guard.
func (p *process) members(ctx context.Context) ([]int, error) {
	pids, err := members(ctx, p.group.id)
	return slices.DeleteFunc(pids, func(pid int) bool { return pid == p.group.id }), err
}

// status returns how the process ended. It must not be called before the process has ended.
func (p *process) status() string {
	return p.state.String()
}

// supervise waits until the process has to end, and ends it. There is no grace once patience has ended.
func (p *process) supervise(life, patience context.Context, stop Stop) {
	defer close(p.ended)
	defer p.stop(nil)
	defer p.skipGrace()
	select {
	case <-life.Done():
	case <-p.group.guardDied:
		// The target may have killed its own group, or the system was out of memory and killed the guard. Without a
		// guard, the target could outlive the harness.
		p.log.note(errGuardLost.Error() + ": killing the target")
		p.skipGrace()
	}
	p.err = p.shutDown(patience, stop)
	p.strays.dismiss()
}

// shutDown asks all processes of the target to exit, and then kills those that are left.
func (p *process) shutDown(patience context.Context, stop Stop) error {
	outside := p.outsideGroup() // listed now, because it is found by its parents, which may exit
	p.group.signal(syscall.SIGTERM)
	outside.signal(syscall.SIGTERM)
	if p.leaderLeftGroup() {
		_ = p.leader.Signal(syscall.SIGTERM)
	}
	grace, cancel := context.WithTimeout(patience, stop.Grace)
	p.awaitEnd(grace)
	cancel()

	killed, cancel := context.WithTimeoutCause(context.Background(), stop.Kill, fmt.Errorf("still there %s after SIGKILL", stop.Kill))
	defer cancel()
	_ = p.leader.Kill() // the leader is in the group, unless it has left it
	err := p.group.kill(killed)
	// If several targets end at once, all of them stop being counted before killOutsideGroup. So the last one takes all
	// orphans.
	p.leaving.Store(true)
	processesAlive.Add(-1)
	err = errors.Join(err, p.killOutsideGroup(killed, outside))
	select {
	case <-p.exited:
	case <-killed.Done():
		if err == nil {
			err = fmt.Errorf("process %d: %w", p.leader.Pid, context.Cause(killed))
		}
		return err // its goroutines run until the kernel ends the process
	}
	if p.closePipes() && err == nil {
		err = errors.New("a process that it started has left its process group and still holds its output")
	}
	return err
}

// leaderLeftGroup reports whether the leader has left the group, as setsid(1) does without a fork. The harness can
// still kill it, because it is a child of the harness.
func (p *process) leaderLeftGroup() bool {
	if waiting.IsClosed(p.exited) {
		return false
	}
	group, err := syscall.Getpgid(p.leader.Pid)
	return err == nil && group != p.group.id
}

// awaitEnd waits until all processes of the target have exited by themselves, or ctx or the guard has ended. The leader
// can be an npm or a shell that exits while the real server still writes its files.
func (p *process) awaitEnd(ctx context.Context) {
	select {
	case <-p.exited:
	case <-p.group.guardDied:
		return
	case <-ctx.Done():
		return
	}
	for wait := firstPoll; p.group.hasOthers(ctx) || len(p.outsideGroup()) > 0; wait = min(2*wait, lastPoll) {
		if !waiting.Sleep(ctx, wait) || waiting.IsClosed(p.group.guardDied) {
			return
		}
	}
}

// closePipes ends the readers of the output and reports whether a process can still write to it.
func (p *process) closePipes() (held bool) {
	if p.input != nil {
		p.input.Close()
	}
	for _, output := range p.outputs {
		if output != nil && output.close() {
			held = true
		}
	}
	return held
}

// signals are those that may be sent to a program.
var signals = map[string]syscall.Signal{
	"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP,
	"SIGUSR1": syscall.SIGUSR1, "SIGUSR2": syscall.SIGUSR2, "SIGKILL": syscall.SIGKILL,
}

// signalLeader sends a signal to the leader alone.
func (p *process) signalLeader(name string) error {
	signal, known := signals[name]
	if !known {
		return fmt.Errorf("signal %q is not one of %s", name, strings.Join(slices.Sorted(maps.Keys(signals)), ", "))
	}
	err := p.leader.Signal(signal)
	if errors.Is(err, os.ErrProcessDone) {
		err = errors.New("the program has exited")
	}
	return err
}

// exit returns how the leader ended. It must not be called before the leader has ended.
func (p *process) exit() (status int, signal string) {
	if how, ok := p.state.Sys().(syscall.WaitStatus); ok && how.Signaled() {
		return 0, cmp.Or(unix.SignalName(how.Signal()), fmt.Sprintf("signal %d", how.Signal()))
	}
	return p.state.ExitCode(), ""
}

var signalNames = map[syscall.Signal]string{syscall.SIGTERM: "SIGTERM", syscall.SIGKILL: "SIGKILL"}

// terminate sends the leader a signal that ends it, and waits for its exit.
func (p *process) terminate(ctx context.Context, signal syscall.Signal) (status string, err error) {
	if waiting.IsClosed(p.exited) {
		return p.status(), fmt.Errorf("it had already ended: %s", p.status())
	}
	if err := p.leader.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return "", err
	}
	select {
	case <-p.exited:
		return p.status(), nil
	case <-ctx.Done():
		return "", fmt.Errorf("still running after %s: %w", signalNames[signal], context.Cause(ctx))
	}
}

// end ends the process and waits for it. When ctx ends, the grace ends too.
func (p *process) end(ctx context.Context) error {
	p.stop(errStopped)
	select {
	case <-p.ended:
	case <-ctx.Done():
		p.skipGrace()
		<-p.ended
	}
	return p.err
}
