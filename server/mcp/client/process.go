package client

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/files/tempdir"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/mcp/processgroup"
)

// A Command is a command to run.
type Command struct {
	Name        string
	Args        []string
	Directory   string
	Environment []string
	MaxMessage  int           // in bytes
	Timeout     time.Duration // of a write
	// Grace is how long the process may take to end: once after its input ends, and again after it is asked to end.
	Grace time.Duration
	// NoGrace is closed when there is no more time to wait for its end. Nil means that there always is.
	NoGrace   <-chan struct{}
	Guard     *processgroup.Guard
	Temporary *tempdir.Directory // removed with the process; nil if there is none
}

// A Process is a running MCP server, with all processes that it has started. It is an [mcp.Transport].
type Process struct {
	Command
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr *tail

	exited chan struct{}
	once   sync.Once
}

// Start runs a command. After an error, the caller must remove the temporary directory.
func Start(c Command) (*Process, error) {
	path, err := processgroup.Find(c.Name, c.Directory)
	if err != nil {
		return nil, mcperror.Reason("Command not found: " + c.Name)
	}
	cmd := exec.Command(path, c.Args...)
	cmd.Args[0] = c.Name
	cmd.Dir, cmd.Env = c.Directory, c.Environment
	pipes, err := newPipes()
	if err != nil {
		return nil, mcperror.Reason("Command cannot be started: " + c.Name)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes.in.theirs, pipes.out.theirs, pipes.err.theirs
	release, err := c.Guard.Start(cmd)
	pipes.closeTheirs()
	if err != nil {
		pipes.closeOurs()
		return nil, whyNotStarted(c, err)
	}
	p := &Process{
		Command: c, cmd: cmd, stdin: pipes.in.ours, stdout: pipes.out.ours, stderr: newTail(pipes.err.ours), exited: make(chan struct{}),
	}
	go p.watch(release)
	return p, nil
}

// whyNotStarted returns the reason for a failed start.
func whyNotStarted(c Command, err error) mcperror.Reason {
	if info, statErr := os.Stat(c.Directory); statErr != nil || !info.IsDir() {
		return mcperror.Reason("Directory not found: " + c.Directory)
	}
	_, noFile := errors.AsType[*exec.Error](err)
	if noFile || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return mcperror.Reason("Command not found: " + c.Name)
	}
	return mcperror.Reason("Command cannot be started: " + c.Name)
}

// watch waits for the process, and then kills what it left behind, because that would keep its output open.
func (p *Process) watch(release func()) {
	_ = p.cmd.Wait()
	processgroup.Kill(p.cmd.Process)
	release()
	close(p.exited)
}

// Agreed does nothing.
func (p *Process) Agreed(string) {}

// Stop stops the process, and returns when all of it has ended.
func (p *Process) Stop() { p.once.Do(p.end) }

func (p *Process) end() {
	p.stdin.Close()
	if !p.gone() {
		processgroup.Terminate(p.cmd.Process)
		if !p.gone() {
			processgroup.Kill(p.cmd.Process)
			<-p.exited
		}
	}
	p.stdout.Close()
	p.stderr.close()
	_ = p.Temporary.Remove() // on failure, the next server's start removes it
}

// gone waits for the end of the process, up to the grace period, and reports whether it has ended.
func (p *Process) gone() bool {
	timer := time.NewTimer(p.Grace)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	case <-p.NoGrace:
		return false
	}
}

// LastWords returns the end of the process's standard error, and whether its start is missing.
func (p *Process) LastWords() (text string, isCut bool) {
	text = p.stderr.text()
	return text, len(text) >= maxTail
}

// WaitForLastWords waits for the end of standard error, up to the grace period.
func (p *Process) WaitForLastWords() { p.stderr.wait(p.Grace) }

// Connect returns the connection to the process. Closing it stops the process.
func (p *Process) Connect(ctx context.Context) (mcp.Connection, error) {
	lines := io.NopCloser(&lineReader{r: p.stdout})
	c, err := (&mcp.IOTransport{Reader: lines, Writer: ending{p}, MaxLineLength: p.MaxMessage}).Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &queue{Connection: c, p: p}, nil
}

// ending is the input of a process. Closing it stops the process.
type ending struct{ p *Process }

func (e ending) Write(text []byte) (int, error) { return e.p.stdin.Write(text) }

func (e ending) Close() error {
	e.p.Stop()
	return nil
}
