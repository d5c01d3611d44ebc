//go:build unix

package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
)

// A process is a command that the harness has started, with everything that came of it.
//
// It owns five goroutines. await waits for the process, two taps read its output, the group listens to its guard, and
// live ends everything: it alone goes down the ladder, once, whoever asks. When ended is closed they have all returned,
// unless err says that a process is still there.
type process struct {
	group   *group
	mark    string // in the environment of everything that it starts
	strays  *broom // of what it starts outside of the group; nil where that cannot be found
	leader  *os.Process
	taps    [2]*tap
	journal *journal
	census  census
	leaving atomic.Bool // it is no longer among processesAlive

	exited chan struct{} // closed when the leader has ended and its output is in the journal
	state  *os.ProcessState

	stop  context.CancelCauseFunc // asks live to begin
	hurry context.CancelFunc      // cuts the grace short
	ended chan struct{}           // closed when live has returned; err is set before
	err   error
}

var (
	errStopped   = errors.New("stopped")
	errGuardLost = errors.New("the guard process has ended")
)

// startProcess executes a command in a group of its own. The process lives until ctx ends or end is called. The group
// belongs to the process from here on, also when it cannot be started.
func startProcess(ctx context.Context, c command, g *group) (*process, error) {
	p := &process{
		group:   g,
		mark:    newMark(),
		journal: newJournal(c.log),
		exited:  make(chan struct{}),
		ended:   make(chan struct{}),
	}
	if err := p.execute(c); err != nil {
		g.signal(syscall.SIGKILL) // there is only the guard
		g.dismiss()
		p.strays.dismiss()
		return nil, err
	}
	processesAlive.Add(1)
	life, stop := context.WithCancelCause(ctx)
	patience, hurry := context.WithCancel(context.WithoutCancel(ctx))
	p.stop, p.hurry = stop, hurry
	go p.await()
	go p.live(life, patience, c.stop)
	return p, nil
}

// execute starts the command, and the taps on its output.
func (p *process) execute(c command) error {
	stdin, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer stdin.Close()
	if runtime.GOOS == "linux" {
		if p.strays, err = newBroom(sweepStrays, p.mark); err != nil {
			return err
		}
	}
	files := []*os.File{stdin}
	for i, stream := range []Stream{Stdout, Stderr} {
		tap, end, err := newTap(stream, p.journal)
		if err != nil {
			p.closeTaps()
			return err
		}
		defer end.Close()
		p.taps[i] = tap
		files = append(files, end)
	}
	p.leader, err = startChild(c.path, c.argv, &os.ProcAttr{
		Dir:   c.dir,
		Env:   append(c.env, p.mark),
		Files: files,
		Sys:   p.group.attributes(),
	})
	if err != nil {
		p.closeTaps()
		return c.execFailed(err)
	}
	return nil
}

// await collects the leader.
func (p *process) await() {
	defer close(p.exited)
	p.state, _ = waitChild(p.leader) // it is our child and nobody else waits for it
	for _, t := range p.taps {
		t.catchUp()
	}
}

// members returns the pids of the group's processes, the guard's aside.
func (p *process) members(ctx context.Context) ([]int, error) {
	pids, err := members(ctx, p.group.id)
	return slices.DeleteFunc(pids, func(pid int) bool { return pid == p.group.id }), err
}

// status is only to be called when the process has exited.
func (p *process) status() string {
	return p.state.String()
}

// live waits until the process has to end, and ends it; without a grace when patience has ended.
func (p *process) live(life, patience context.Context, stop Stop) {
	defer close(p.ended)
	defer p.stop(nil)
	defer p.hurry()
	select {
	case <-life.Done():
	case <-p.group.lost:
		// The target may have killed its own group, or the system has picked the guard. Nothing is left to run that
		// would survive the harness.
		p.journal.note(errGuardLost.Error() + ": killing the target")
		p.hurry()
	}
	p.err = p.descend(patience, stop)
	p.strays.dismiss()
}

// descend is the ladder. The rung before its first, closing stdin, is taken from the start: a target has none.
func (p *process) descend(patience context.Context, stop Stop) error {
	outside := p.outside() // while their parents can be asked
	p.group.signal(syscall.SIGTERM)
	outside.signal(syscall.SIGTERM)
	if p.strayed() {
		_ = p.leader.Signal(syscall.SIGTERM)
	}
	grace, cancel := context.WithTimeout(patience, stop.Grace)
	p.settle(grace)
	cancel()

	killed, cancel := context.WithTimeoutCause(context.Background(), stop.Kill, fmt.Errorf("still there %s after SIGKILL", stop.Kill))
	defer cancel()
	_ = p.leader.Kill() // it is in the group, unless it has strayed
	err := p.group.kill(killed)
	// Of processes that end at once, each has left before it looks, so the last one sees that it is alone.
	p.leaving.Store(true)
	processesAlive.Add(-1)
	err = errors.Join(err, p.killOutside(killed, outside))
	select {
	case <-p.exited:
	case <-killed.Done():
		if err == nil {
			err = fmt.Errorf("process %d: %w", p.leader.Pid, context.Cause(killed))
		}
		return err // its goroutines cannot be waited for, and go on until the kernel lets go of it
	}
	if p.closeTaps() && err == nil {
		err = errors.New("a process that it started has left its process group and still holds its output")
	}
	return err
}

// strayed reports whether the leader has left the group: setsid(1) does that without a fork. As our own child it can be
// ended all the same, but for as long as the harness lives to do it.
func (p *process) strayed() bool {
	if closed(p.exited) {
		return false
	}
	group, err := syscall.Getpgid(p.leader.Pid)
	return err == nil && group != p.group.id
}

// settle waits until the group has ended by itself, or for ctx to end, or the guard. Not only for the leader: what ran
// in front of the real server, an npm or a shell, can be gone while the server is still putting its files in order.
func (p *process) settle(ctx context.Context) {
	select {
	case <-p.exited:
	case <-p.group.lost:
		return
	case <-ctx.Done():
		return
	}
	for wait := firstPoll; p.group.hasOthers(ctx) || len(p.outside()) > 0; wait = min(2*wait, lastPoll) {
		if !pause(ctx, wait) || closed(p.group.lost) {
			return
		}
	}
}

// closeTaps ends the reading of the output and reports whether somebody can still write to it.
func (p *process) closeTaps() (held bool) {
	for _, t := range p.taps {
		if t != nil && t.close() {
			held = true
		}
	}
	return held
}

// names are those of the signals that steps send.
var names = map[syscall.Signal]string{syscall.SIGTERM: "SIGTERM", syscall.SIGKILL: "SIGKILL"}

// terminate sends the leader a signal that ends it, and waits until it has.
func (p *process) terminate(ctx context.Context, signal syscall.Signal) (status string, err error) {
	if closed(p.exited) {
		return p.status(), fmt.Errorf("it had already ended: %s", p.status())
	}
	if err := p.leader.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return "", err
	}
	select {
	case <-p.exited:
		return p.status(), nil
	case <-ctx.Done():
		return "", fmt.Errorf("still running after %s: %w", names[signal], context.Cause(ctx))
	}
}

// end goes down the ladder, or waits for the one who does; when ctx ends, without further grace.
func (p *process) end(ctx context.Context) error {
	p.stop(errStopped)
	select {
	case <-p.ended:
	case <-ctx.Done():
		p.hurry()
		<-p.ended
	}
	return p.err
}
