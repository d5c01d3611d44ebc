package extensions

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

	"github.com/lockstep-dev/lockstep/server/procgroup"
	"github.com/lockstep-dev/lockstep/server/scratch"
)

// A command is what is to be run.
type command struct {
	name        string
	args        []string
	directory   string
	environment []string
	maxMessage  int           // bytes
	timeout     time.Duration // of what is written
	grace       time.Duration
	hurry       <-chan struct{}
	guard       *procgroup.Guard
	temporary   *scratch.Directory // goes with the process; nil if there is none
}

// A process is a running MCP server, with all that it has started. It is an [mcp.Transport].
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr *tail

	maxMessage int
	timeout    time.Duration
	grace      time.Duration   // see [Connector.Grace]
	hurry      <-chan struct{} // closed when there is no time to wait for its end
	temporary  *scratch.Directory

	exited chan struct{}
	once   sync.Once
}

// start runs a command. If it cannot, what is temporary is left to the caller.
func start(c command) (*process, error) {
	path, err := find(c)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, c.args...)
	cmd.Args[0] = c.name
	cmd.Dir, cmd.Env = c.directory, c.environment
	pipes, err := newPipes()
	if err != nil {
		return nil, reason("Command cannot be started: " + c.name)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes.in.theirs, pipes.out.theirs, pipes.err.theirs
	release, err := c.guard.Start(cmd)
	pipes.closeTheirs()
	if err != nil {
		pipes.closeOurs()
		return nil, whyNotStarted(c, err)
	}
	p := &process{
		cmd: cmd, stdin: pipes.in.ours, stdout: pipes.out.ours, stderr: newTail(pipes.err.ours),
		maxMessage: c.maxMessage, timeout: c.timeout, grace: c.grace, hurry: c.hurry, temporary: c.temporary, exited: make(chan struct{}),
	}
	go p.watch(release)
	return p, nil
}

// whyNotStarted returns the reason for an error of the start.
func whyNotStarted(c command, err error) reason {
	if info, statErr := os.Stat(c.directory); statErr != nil || !info.IsDir() {
		return reason("Directory not found: " + c.directory)
	}
	_, noFile := errors.AsType[*exec.Error](err)
	if noFile || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return reason("Command not found: " + c.name)
	}
	return reason("Command cannot be started: " + c.name)
}

// find returns the path of a command: from the directory if it is relative and has a slash, that in PATH if it has none.
func find(c command) (string, error) {
	notFound := reason("Command not found: " + c.name)
	if strings.ContainsRune(c.name, filepath.Separator) {
		if filepath.IsAbs(c.name) {
			return c.name, nil
		}
		return filepath.Join(c.directory, c.name), nil
	}
	path, err := exec.LookPath(c.name)
	if err != nil {
		return "", notFound
	}
	return path, nil
}

// watch waits for the process, and ends what it has left behind: otherwise its output would stay open.
func (p *process) watch(release func()) {
	_ = p.cmd.Wait()
	procgroup.Kill(p.cmd.Process)
	release()
	close(p.exited)
}

func (p *process) agreed(string) {}

// stop ends the process, and returns when nothing of it is left.
func (p *process) stop() { p.once.Do(p.end) }

func (p *process) end() {
	p.stdin.Close()
	if !p.gone() {
		procgroup.Terminate(p.cmd.Process)
		if !p.gone() {
			procgroup.Kill(p.cmd.Process)
			<-p.exited
		}
	}
	p.stdout.Close()
	p.stderr.close()
	_ = p.temporary.Remove() // the next server tries again
}

// gone waits a while for the end of the process, and says whether it has come.
func (p *process) gone() bool {
	timer := time.NewTimer(p.grace)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	case <-p.hurry:
		return false
	}
}

// lastWords returns the end of what the process has written to standard error.
func (p *process) lastWords() string { return p.stderr.text() }

// Connect returns the connection to the process. Its end is that of the process.
func (p *process) Connect(ctx context.Context) (mcp.Connection, error) {
	lines := io.NopCloser(&lineReader{r: p.stdout})
	c, err := (&mcp.IOTransport{Reader: lines, Writer: ending{p}, MaxLineLength: p.maxMessage}).Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &queue{Connection: c, p: p}, nil
}

// ending is the input of a process, whose end is that of the process.
type ending struct{ p *process }

func (e ending) Write(text []byte) (int, error) { return e.p.stdin.Write(text) }

func (e ending) Close() error {
	e.p.stop()
	return nil
}
