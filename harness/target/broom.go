//go:build unix

package target

import (
	"os"
	"syscall"
)

// A broom takes something away when the harness has gone without doing so: a shell that waits for the end of a pipe, like
// the guard of a group, and in a group of its own, since the guard kills all of the target's.
type broom struct {
	process *os.Process
	leash   *os.File
}

// The guard kills the target at the same moment. What that writes or starts until then is for the second time.
const (
	broomScript = `trap '' HUP INT QUIT TERM USR1 USR2 ALRM PIPE TSTP TTIN TTOU
read -r _; sweep "$1"; sleep 1; sweep "$1"`
	// A directory.
	sweepDirectory = `sweep() { rm -rf -- "$1"; }
`
	// What a target has started outside of its group, by the mark in its environment. While some is found it may go on
	// starting more.
	sweepStrays = `sweep() {
	while found=$(grep -ls "$1" /proc/[0-9]*/environ); [ -n "$found" ]; do
		for file in $found; do pid=${file#/proc/}; kill -KILL "${pid%/environ}" 2>/dev/null; done
	done
}
`
)

// newBroom starts a broom that calls a sweep with an argument.
func newBroom(sweep, argument string) (*broom, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	collar, leash, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer collar.Close()
	process, err := startChild("/bin/sh", []string{"sh", "-c", sweep + broomScript, "sh", argument}, &os.ProcAttr{
		Dir:   "/",
		Env:   []string{"PATH=/usr/bin:/bin"},
		Files: []*os.File{collar, null, null},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		leash.Close()
		return nil, err
	}
	return &broom{process, leash}, nil
}

// dismiss ends the broom before it sweeps.
func (b *broom) dismiss() {
	if b == nil {
		return
	}
	_ = b.process.Kill()
	_, _ = waitChild(b.process) // how a killed process ended is no news
	b.leash.Close()
}
