//go:build unix

package target

import (
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// children are the processes that this package has started and not yet waited for. Any other child of this program was
// adopted, see AdoptOrphans.
var children = struct {
	sync.RWMutex
	pids map[int]bool
}{pids: map[int]bool{}}

// processesAlive counts the targets' processes, from their start until their groups have been killed.
var processesAlive atomic.Int32

// startChild is os.StartProcess. The child is in children before isChild can be asked about it.
func startChild(path string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
	children.Lock()
	defer children.Unlock()
	child, err := os.StartProcess(path, argv, attr)
	if err == nil {
		children.pids[child.Pid] = true
	}
	return child, err
}

// startShell starts a shell in a process group of its own. It reads from a pipe whose other end only the harness has, so
// that a read ends when the harness does. The shell writes to stdout; nil is /dev/null.
func startShell(script, argument string, stdout *os.File) (shell *os.Process, writeEnd *os.File, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	defer null.Close()
	if stdout == nil {
		stdout = null
	}
	readEnd, writeEnd, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer readEnd.Close()
	shell, err = startChild("/bin/sh", []string{"sh", "-c", script, "sh", argument}, &os.ProcAttr{
		Dir:   "/", // so that it keeps no directory in use
		Env:   []string{"PATH=/usr/bin:/bin"},
		Files: []*os.File{readEnd, stdout, null},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		writeEnd.Close()
		return nil, nil, err
	}
	return shell, writeEnd, nil
}

// waitChild waits for a child of startChild.
func waitChild(child *os.Process) (*os.ProcessState, error) {
	state, err := child.Wait()
	children.Lock()
	defer children.Unlock()
	delete(children.pids, child.Pid)
	return state, err
}

func isChild(pid int) bool {
	children.RLock()
	defer children.RUnlock()
	return children.pids[pid]
}
