//go:build unix

package target

import (
	"os"
	"syscall"
)

// A broom removes a directory when the harness has gone without doing so: a shell that waits for the end of a pipe, like
// the guard of a group, and in a group of its own, since the guard kills all of the target's.
type broom struct {
	process *os.Process
	leash   *os.File
}

// The guard kills the target at the same moment. What that writes until then is for the second time.
const broomScript = `trap '' HUP INT QUIT TERM USR1 USR2 ALRM PIPE TSTP TTIN TTOU
read -r _; rm -rf -- "$1"; sleep 1; rm -rf -- "$1"`

func newBroom(directory string) (*broom, error) {
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
	process, err := os.StartProcess("/bin/sh", []string{"sh", "-c", broomScript, "sh", directory}, &os.ProcAttr{
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
	_ = b.process.Kill()
	_, _ = b.process.Wait() // how a killed process ended is no news
	b.leash.Close()
}
