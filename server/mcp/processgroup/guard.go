package processgroup

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
)

// A Guard ends processes with this one, however that ends, also by SIGKILL (decision S50). It is a process of its own: it
// reads from a pipe whom it guards, and the end of the pipe is that of this process. (A parent-death signal would come with
// the end of the thread that has started the process.) A nil Guard guards nothing.
type Guard struct {
	command []string

	mu      sync.Mutex
	process *exec.Cmd      // nil until there is something to guard
	pipe    io.WriteCloser // to it
	guarded map[int]bool
}

// NewGuard returns a guard, whose process is a command that calls [RunGuard].
func NewGuard(command ...string) *Guard { return &Guard{command: command, guarded: map[int]bool{}} }

// Start starts a command in a session of its own, and guards all that is in it until release is called.
func (g *Guard) Start(cmd *exec.Cmd) (release func(), err error) {
	Separate(cmd)
	if g == nil {
		return func() {}, cmd.Start()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.ready(); err != nil { // before there is something to guard
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	pid := cmd.Process.Pid
	g.guarded[pid] = true
	g.tell(pid)
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.guarded, pid)
		g.tell(-pid)
	}), nil
}

// ready starts the guard's process, if it does not run.
func (g *Guard) ready() error {
	if g.process != nil {
		return nil
	}
	cmd := exec.Command(g.command[0], g.command[1:]...)
	cmd.Env, cmd.Dir = []string{}, string(os.PathSeparator) // it needs nothing, and keeps nothing from being removed
	Separate(cmd)
	pipe, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("start the guard of processes: %w", err)
	}
	g.process, g.pipe = cmd, pipe
	return nil
}

// tell sends a change to the guard's process. If that has ended, a new one gets all of them.
func (g *Guard) tell(change int) {
	if g.process != nil {
		if _, err := fmt.Fprintln(g.pipe, change); err == nil {
			return
		}
		g.end()
	}
	if len(g.guarded) == 0 || g.ready() != nil {
		return // the next one tries again
	}
	for pid := range g.guarded {
		_, _ = fmt.Fprintln(g.pipe, pid)
	}
}

// end ends the guard's process.
func (g *Guard) end() {
	_ = g.pipe.Close()
	_ = g.process.Wait()
	g.process = nil
}

// Close ends what is still guarded, and the guard.
func (g *Guard) Close() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.guarded)
	if g.process != nil {
		g.end()
	}
}

// RunGuard is what a guard's process does until its input ends.
func RunGuard(in io.Reader) {
	ignoreSignals()
	guarded := map[int]bool{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var change int
		if _, err := fmt.Sscan(lines.Text(), &change); err != nil {
			continue
		}
		if change > 0 {
			guarded[change] = true
		} else {
			delete(guarded, -change)
		}
	}
	killSessions(guarded)
}
