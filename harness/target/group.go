//go:build unix

package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
)

// A group is a process group that does not outlive the harness.
//
// Its first member, which gives the group its id, is a guard: a shell that ignores signals and reads from a pipe. Only
// the harness has the write end, and never writes. When the harness ends, in whatever way, the kernel closes the write
// end, the read ends, and the guard kills its whole group, itself included.
//
// No process escapes, for these reasons:
//
//   - The target joins the group between fork and exec (SysProcAttr.Pgid), so it never runs outside of it. If the
//     harness dies in that moment, the forked child still has its own copy of the write end. The exec that closes it comes
//     after the joining, so the guard cannot act too early.
//   - The write end is close-on-exec, like every pipe of package os, so no child of the harness keeps it.
//   - The target starts only after the guard has reported that it ignores signals, so a SIGTERM to the group cannot end
//     the guard.
//   - The guard is waited for last. Until then its pid is in use, even as a zombie's, and so is the group's id. A
//     signal to the group never reaches another program.
//   - On Linux, SIGKILL to a group is atomic with fork: a child that is being forked dies too. Elsewhere the signal is
//     repeated until no member is left.
//
// A group owns one goroutine, which ends with the guard.
type group struct {
	id        int // the id of the group is the guard's pid
	guard     *os.Process
	started   uint64        // when the guard was started, in ticks after the machine's start; 0 when the system cannot tell
	writeEnd  *os.File      // of the pipe that the guard reads
	guardDied chan struct{} // closed when the guard has ended
}

// The guard ignores the signals that programs send to their own group, as in sh's trap 'kill 0' EXIT, and those of a
// terminal. All commands of the second line are built into the shell, so the guard has no children.
const guardScript = `trap '' HUP INT QUIT TERM USR1 USR2 ALRM PIPE TSTP TTIN TTOU
echo ready; read -r _; kill -KILL 0`

// newGroup starts a guard. The caller must end the group with kill.
func newGroup(ctx context.Context) (*group, error) {
	output, outputEnd, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer outputEnd.Close()
	guard, writeEnd, err := startShell(guardScript, "", outputEnd)
	if err != nil {
		output.Close()
		return nil, err
	}
	g := &group{id: guard.Pid, guard: guard, writeEnd: writeEnd, guardDied: make(chan struct{})}
	if itself, alive := readProc(guard.Pid); alive {
		g.started = itself.started
	}
	ready := make(chan struct{})
	outputEnd.Close() // otherwise the output would not end with the guard
	go g.listen(output, ready)
	select {
	case <-ready:
		return g, nil
	case <-g.guardDied:
		err = errors.New("it ended at once")
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	g.signal(syscall.SIGKILL)
	g.dismiss()
	return nil, err
}

// listen closes ready when the guard first writes. It closes guardDied when the guard's output ends, because then it
// has died.
func (g *group) listen(output *os.File, ready chan<- struct{}) {
	defer close(g.guardDied)
	defer output.Close()
	buf := make([]byte, 16)
	if n, _ := output.Read(buf); n == 0 {
		return
	}
	close(ready)
	for {
		if n, _ := output.Read(buf); n == 0 {
			return
		}
	}
}

// attributes let a new process join the group.
func (g *group) attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pgid: g.id}
}

// signal sends a signal to all members. It must not be called after kill has returned nil, because another group can
// have the id by then.
func (g *group) signal(s syscall.Signal) {
	// An error would mean a member that may not be signalled. The caller notices that such a member does not exit.
	_ = syscall.Kill(-g.id, s)
}

// hasOthers reports whether a member other than the guard is alive. It also returns false when the system cannot tell.
func (g *group) hasOthers(ctx context.Context) bool {
	pids, _ := members(ctx, g.id)
	return slices.ContainsFunc(pids, func(pid int) bool { return pid != g.id })
}

// kill kills every member and returns when all are gone. If ctx ends first, the error has the context's cause and names
// the members that are left, and the group stays.
func (g *group) kill(ctx context.Context) error {
	for wait := time.Millisecond; ; wait = min(2*wait, lastPoll) {
		g.signal(syscall.SIGKILL)
		alive, err := members(ctx, g.id)
		switch {
		case err != nil && ctx.Err() == nil:
			g.dismiss()
			return fmt.Errorf("processes were killed, but whether they are gone cannot be seen: %w", err)
		case err == nil && len(alive) == 0:
			g.dismiss()
			return nil
		case !waiting.Sleep(ctx, wait):
			g.writeEnd.Close()
			return fmt.Errorf("process %s: %w", strings.Trim(fmt.Sprint(alive), "[]"), context.Cause(ctx))
		}
	}
}

// dismiss waits for a guard that has been killed. Then the group's id is free.
func (g *group) dismiss() {
	g.writeEnd.Close()
	<-g.guardDied
	_, _ = waitChild(g.guard)
}
