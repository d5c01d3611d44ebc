//go:build unix

package target

import (
	"os"
	"sync"
	"sync/atomic"
)

// children are the processes that this package has started itself, and not yet waited for. Whatever else is a child of this
// program was adopted, see AdoptOrphans.
var children = struct {
	sync.RWMutex
	pids map[int]bool
}{pids: map[int]bool{}}

// processesAlive counts the targets' processes, from their start until their groups have been killed.
var processesAlive atomic.Int32

// startChild is os.StartProcess. Nobody sees the child before it is known to be one.
func startChild(path string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
	children.Lock()
	defer children.Unlock()
	child, err := os.StartProcess(path, argv, attr)
	if err == nil {
		children.pids[child.Pid] = true
	}
	return child, err
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
