package processgroup

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
)

// A Guard kills processes when this process ends in any way, even by SIGKILL (decision S50). It runs in a process of
// its own, which reads from a pipe what to guard. The pipe ends when this process ends. (A parent-death signal would
// also be sent when only the thread that started the process ends.) A nil Guard guards nothing.
type Guard struct {
	command []string

	mu      sync.Mutex
	process *exec.Cmd      // nil until there is something to guard
	pipe    io.WriteCloser // to the guard's process
	guarded map[int]bool
}

// NewGuard returns a guard whose process runs a command that calls [RunGuard].
func NewGuard(command ...string) *Guard { return &Guard{command: command, guarded: map[int]bool{}} }

// Start starts a command in a session of its own, and guards all processes in it until release is called.
func (g *Guard) Start(cmd *exec.Cmd) (release func(), err error) {
	Separate(cmd)
	if g == nil {
		return func() {}, cmd.Start()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.ready(); err != nil { // first, so that nothing runs unguarded
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

// ready starts the guard's process if it is not running.
func (g *Guard) ready() error {
	if g.process != nil {
		return nil
	}
	cmd := exec.Command(g.command[0], g.command[1:]...)
	cmd.Env, cmd.Dir = []string{}, string(os.PathSeparator) // needs no environment, and must not keep a directory from being removed
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

// tell sends a change to the guard's process. If that has ended, it starts a new one and sends everything.
func (g *Guard) tell(change int) {
	if g.process != nil {
		if _, err := fmt.Fprintln(g.pipe, change); err == nil {
			return
		}
		g.end()
	}
	if len(g.guarded) == 0 || g.ready() != nil {
		return // the next call tries again
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

// Close kills what is still guarded, and ends the guard.
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

// RunGuard is the main function of a guard's process. When its input ends, it kills what is guarded, and returns.
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
