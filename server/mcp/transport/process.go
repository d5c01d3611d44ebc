// Package transport reaches MCP servers: over the standard input and output of a process, or over HTTP.
package transport

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/files/tempdir"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/mcp/processgroup"
)

// A Command is what is to be run.
type Command struct {
	Name        string
	Args        []string
	Directory   string
	Environment []string
	MaxMessage  int           // bytes
	Timeout     time.Duration // of what is written
	// Grace is how long the process may take to end, once when its input has ended, and once when it was asked to.
	Grace time.Duration
	// NoGrace is closed when there is no time to wait for its end; there always is if nil.
	NoGrace   <-chan struct{}
	Guard     *processgroup.Guard
	Temporary *tempdir.Directory // goes with the process; nil if there is none
}

// A Process is a running MCP server, with all that it has started. It is an [mcp.Transport].
type Process struct {
	Command
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr *tail

	exited chan struct{}
	once   sync.Once
}

// Start runs a command. If it cannot, the temporary directory is left to the caller.
func Start(c Command) (*Process, error) {
	path, err := find(c)
	if err != nil {
		return nil, err
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

// whyNotStarted returns the reason for an error of the start.
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

// find returns the path of a command: from the directory if it is relative and has a slash, that in PATH if it has none.
func find(c Command) (string, error) {
	notFound := mcperror.Reason("Command not found: " + c.Name)
	if strings.ContainsRune(c.Name, filepath.Separator) {
		if filepath.IsAbs(c.Name) {
			return c.Name, nil
		}
		return filepath.Join(c.Directory, c.Name), nil
	}
	path, err := exec.LookPath(c.Name)
	if err != nil {
		return "", notFound
	}
	return path, nil
}

// watch waits for the process, and ends what it has left behind: otherwise its output would stay open.
func (p *Process) watch(release func()) {
	_ = p.cmd.Wait()
	processgroup.Kill(p.cmd.Process)
	release()
	close(p.exited)
}

// Agreed does nothing.
func (p *Process) Agreed(string) {}

// Stop ends the process, and returns when nothing of it is left.
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
	_ = p.Temporary.Remove() // the next server tries again
}

// gone waits a while for the end of the process, and says whether it has come.
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

// LastWords returns the end of what the process has written to standard error, and whether it is cut.
func (p *Process) LastWords() (text string, isCut bool) {
	text = p.stderr.text()
	return text, len(text) >= maxTail
}

// WaitForLastWords waits until standard error has ended, but not longer than the grace of the process.
func (p *Process) WaitForLastWords() { p.stderr.wait(p.Grace) }

// Connect returns the connection to the process. Its end is that of the process.
func (p *Process) Connect(ctx context.Context) (mcp.Connection, error) {
	lines := io.NopCloser(&lineReader{r: p.stdout})
	c, err := (&mcp.IOTransport{Reader: lines, Writer: ending{p}, MaxLineLength: p.MaxMessage}).Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &queue{Connection: c, p: p}, nil
}

// ending is the input of a process, whose end is that of the process.
type ending struct{ p *Process }

func (e ending) Write(text []byte) (int, error) { return e.p.stdin.Write(text) }

func (e ending) Close() error {
	e.p.Stop()
	return nil
}
