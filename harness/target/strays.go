//go:build unix

package target

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"github.com/lockstep-dev/lockstep/harness/internal/sockets"
	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
)

// markVariable has a new value for each process that the harness starts as a target. All descendants of the process
// inherit it, even after setsid and when their parents have ended. The value is a UUID, because servers may show their
// environment in a response. Two UUIDs in the same place are bound to each other.
const markVariable = "LOCKSTEP_TARGET"

func newMark() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80 // version 4 (RFC 9562 §5.4)
	return fmt.Sprintf("%s=%x-%x-%x-%x-%x", markVariable, b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

type procs []proc

// ownProcesses returns the living processes of the target: those in its group, those with its mark, and all their
// descendants. It works only on Linux.
func (p *process) ownProcesses() (out procs) {
	if runtime.GOOS != "linux" {
		return nil
	}
	all, _ := processes() // without /proc, none is known
	inside := map[int]bool{}
	for _, e := range all {
		inside[e.pid] = e.group == p.group.id || p.isMarked(e)
	}
	for more := true; more; {
		more = false
		for _, e := range all {
			if !inside[e.pid] && inside[e.parent] {
				inside[e.pid], more = true, true
			}
		}
	}
	for _, e := range all {
		if inside[e.pid] {
			out = append(out, e)
		}
	}
	return out
}

// isMarked reports whether a process started with the target's mark in its environment. An adopted orphan without any
// mark can only come from a target. So it belongs to this target if there is no other.
func (p *process) isMarked(e proc) bool {
	if e.started < p.group.started && !adopted(e) {
		return false // it is older than the target
	}
	environ, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(e.pid), "environ"))
	if bytes.Contains(environ, []byte(p.mark)) {
		return true
	}
	return adopted(e) && !bytes.Contains(environ, []byte(markVariable+"=")) && p.isLast()
}

// isLast reports whether no other target's process is alive. If several targets end at once, it may return true for
// each.
func (p *process) isLast() bool {
	itself := int32(1)
	if p.leaving.Load() {
		itself = 0
	}
	return processesAlive.Load() == itself
}

// outsideGroup returns the target's processes that have left its group.
func (p *process) outsideGroup() procs {
	return slices.DeleteFunc(p.ownProcesses(), func(e proc) bool { return e.group == p.group.id })
}

// foreignListener returns a process that listens on one of the sockets and does not belong to the target. It returns 0
// when all sockets are the target's, and 0 with a reason when the system cannot tell.
func (p *process) foreignListener(answering []sockets.Listener) (pid int, unchecked string) {
	var own []int
	for _, e := range p.ownProcesses() {
		own = append(own, e.pid)
	}
	for i := range answering {
		one := answering[i : i+1]
		if len(sockets.HoldersAmong(own, one)) > 0 {
			continue
		}
		others := sockets.Holders(one)
		if len(others) == 0 {
			unchecked = "a process whose files cannot be seen listens there"
		} else if e, alive := readProc(others[0]); alive && !adopted(e) { // an adopted process comes from a target
			return others[0], ""
		}
	}
	return 0, unchecked
}

// signal sends a signal to the processes that still exist.
func (es procs) signal(s syscall.Signal) {
	for _, e := range es {
		found, err := os.FindProcess(e.pid) // on Linux this refers to the process even if its pid is used again
		if err != nil {
			continue
		}
		if now, alive := readProc(e.pid); alive && now.started == e.started {
			_ = found.Signal(s)
		}
		found.Release()
	}
}

// describe says, for the target's log, which processes the target has left behind.
func (es procs) describe() string {
	if len(es) == 1 {
		return fmt.Sprintf("1 process outside of the target's process group did not end by itself, and is killed: %s", es[0])
	}
	return fmt.Sprintf("%d processes outside of the target's process group did not end by themselves, and are killed, such as %s", len(es), es[0])
}

// killOutsideGroup kills processes outside of the group: those that were seen there before, and those that are there
// now.
func (p *process) killOutsideGroup(ctx context.Context, before procs) error {
	noted := false
	for wait := firstPoll; ; wait = min(2*wait, lastPoll) {
		left := p.outsideGroup()
		for _, e := range before {
			if now, alive := readProc(e.pid); alive && now.started == e.started && !slices.Contains(left, now) {
				left = append(left, now)
			}
		}
		if len(left) == 0 {
			return nil
		}
		if !noted {
			noted = true
			p.log.note(left.describe())
		}
		left.signal(syscall.SIGKILL)
		reapOrphans()
		if !waiting.Sleep(ctx, wait) {
			return fmt.Errorf("process %s: %w", left[0], context.Cause(ctx))
		}
	}
}
