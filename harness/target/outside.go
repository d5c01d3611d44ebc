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

	"github.com/lockstep-dev/lockstep/internal/sockets"
)

// markVariable has a value of its own for each process that the harness starts as a target. What that starts in turn
// inherits it, through setsid and through the deaths of its parents. The value is a UUID, which servers that show their
// environment may show: two UUIDs in one place are bound to each other.
const markVariable = "LOCKSTEP_TARGET"

func newMark() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80 // of version 4 (RFC 9562 §5.4)
	return fmt.Sprintf("%s=%x-%x-%x-%x-%x", markVariable, b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// procs are processes.
type procs []proc

// kin returns the living processes of the target, wherever they have gone: those in its group, those with its mark, and
// those that descend from one of these. Linux alone tells.
func (p *process) kin() (out procs) {
	if runtime.GOOS != "linux" {
		return nil
	}
	all, _ := processes() // without /proc, nobody is known
	inside := map[int]bool{}
	for _, e := range all {
		inside[e.pid] = e.group == p.group.id || p.marked(e)
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

// marked reports whether a process has the target's mark in the environment that it was started with. An orphan without any
// mark that this program has adopted can only come from a target, which is this one when there is no other.
func (p *process) marked(e proc) bool {
	environ, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(e.pid), "environ"))
	if bytes.Contains(environ, []byte(p.mark)) {
		return true
	}
	return adopted(e) && !bytes.Contains(environ, []byte(markVariable+"=")) && p.alone()
}

// alone reports whether no other target's process is alive. A process that is leaving may be told so together with others.
func (p *process) alone() bool {
	itself := int32(1)
	if p.leaving.Load() {
		itself = 0
	}
	return processesAlive.Load() == itself
}

// outside returns the target's processes that are not in its group.
func (p *process) outside() procs {
	return slices.DeleteFunc(p.kin(), func(e proc) bool { return e.group == p.group.id })
}

// stranger returns a process that is not the target's and has one of the sockets; 0 when each socket is the target's, or
// when nobody can tell, for which it returns the reason.
func (p *process) stranger(answering []sockets.Listener) (pid int, unchecked string) {
	var own []int
	for _, e := range p.kin() {
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
		} else if e, alive := look(others[0]); alive && !adopted(e) { // what was adopted comes from a target
			return others[0], ""
		}
	}
	return 0, unchecked
}

// signal sends a signal to processes that are still there.
func (es procs) signal(s syscall.Signal) {
	for _, e := range es {
		found, err := os.FindProcess(e.pid) // on Linux this holds on to the process, whatever becomes of its pid
		if err != nil {
			continue
		}
		if now, alive := look(e.pid); alive && now.started == e.started {
			_ = found.Signal(s)
		}
		found.Release()
	}
}

// reproach says for the log what the target has left.
func (es procs) reproach() string {
	if len(es) == 1 {
		return fmt.Sprintf("1 process outside of the target's process group did not end by itself, and is killed: %s", es[0])
	}
	return fmt.Sprintf("%d processes outside of the target's process group did not end by themselves, and are killed, such as %s", len(es), es[0])
}

// killOutside ends what is outside of the group: what was seen there before, and what is there now.
func (p *process) killOutside(ctx context.Context, before procs) error {
	told := false
	for wait := firstPoll; ; wait = min(2*wait, lastPoll) {
		left := p.outside()
		for _, e := range before {
			if now, alive := look(e.pid); alive && now.started == e.started && !slices.Contains(left, now) {
				left = append(left, now)
			}
		}
		if len(left) == 0 {
			return nil
		}
		if !told {
			told = true
			p.journal.note(left.reproach())
		}
		left.signal(syscall.SIGKILL)
		reapOrphans()
		if !pause(ctx, wait) {
			return fmt.Errorf("process %s: %w", left[0], context.Cause(ctx))
		}
	}
}
