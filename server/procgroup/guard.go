package procgroup

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

// NewGuard returns a guard, whose process is a command that calls [Stand].
func NewGuard(command ...string) *Guard { return &Guard{command: command, guarded: map[int]bool{}} }

// Watch guards a process that [Separate] has set apart, and all that is in its session, until release is called.
func (g *Guard) Watch(p *os.Process) (release func(), err error) {
	if g == nil {
		return func() {}, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.guarded[p.Pid] = true
	if err := g.tell(p.Pid); err != nil {
		delete(g.guarded, p.Pid)
		return nil, err
	}
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.guarded, p.Pid)
		_ = g.tell(-p.Pid) // one that cannot be told is replaced, and knows nothing of it
	}), nil
}

// tell tells the guard's process of a change, or a new one of all.
func (g *Guard) tell(change int) error {
	if g.process != nil {
		if _, err := fmt.Fprintln(g.pipe, change); err == nil {
			return nil
		}
		g.end()
	}
	if len(g.guarded) == 0 {
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
	for pid := range g.guarded {
		if _, err := fmt.Fprintln(pipe, pid); err != nil {
			return fmt.Errorf("tell the guard of processes: %w", err)
		}
	}
	return nil
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

// Stand is what a guard's process does until its input ends.
func Stand(in io.Reader) {
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
