package developer

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/mcp/processgroup"
)

// These bounds limit a command (decision X16).
const (
	maxCharacters = 400_000
	maxLines      = 100         // that are shown
	lingering     = time.Second // the wait for output after the command has ended, and between asking it to end and killing it
	loginTime     = 5 * time.Second
)

// A shell runs commands.
type shell struct {
	paths
	program string
	env     []string
	path    func() string // the PATH of a login shell

	mu      sync.Mutex
	outputs []string // the files with long outputs
}

const noEditor = `sh -c 'echo "Interactive editing is not available here." >&2; exit 1'`

func newShell(p paths, at Setting) *shell {
	s := &shell{paths: p, program: at.getenv("SHELL", "bash")}
	s.env = append(slices.Clip(at.Env), "GOOSE_TERMINAL=1", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat")
	for _, name := range []string{"GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "EDITOR", "VISUAL"} {
		s.env = append(s.env, name+"="+noEditor)
	}
	if filepath.Base(s.program) == "bash" {
		s.env = append(s.env, "BASH_ENV="+filepath.Join(at.Config, ".bash_env"))
	}
	s.path = sync.OnceValue(at.loginPath)
	return s
}

// close removes the files with long outputs.
func (s *shell) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range s.outputs {
		_ = os.Remove(path)
	}
}

// loginPath returns the PATH of a login shell, or else that of this process.
func (s Setting) loginPath() string {
	const mark = "__PATH__"
	ctx, cancel := context.WithTimeout(context.Background(), loginTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.getenv("SHELL", ""), "-l", "-i", "-c", `printf '%s%s%s' `+mark+` "$PATH" `+mark)
	cmd.Env = s.Env
	processgroup.Separate(cmd)
	cmd.Cancel = func() error { processgroup.Kill(cmd.Process); return nil }
	cmd.WaitDelay = lingering
	said, err := cmd.Output()
	parts := strings.Split(string(said), mark)
	if err != nil || len(parts) != 3 || parts[1] == "" {
		return s.getenv("PATH", "")
	}
	return parts[1]
}

// run runs one command. Nothing that it starts outlives the call.
func (s *shell) run(ctx context.Context, c call) ([]mcp.Content, error) {
	line := c.Need("command")
	if c.Err != nil {
		return nil, c.Err
	}
	if strings.TrimSpace(line) == "" {
		return nil, invalid("Shell command cannot be empty")
	}
	if word := s.restricted(line); word != "" {
		return nil, failed("The command attempts to access '%s' which is restricted by .gooseignore", word)
	}
	cmd := exec.Command(s.program, "-c", line)
	cmd.Dir, cmd.Env = s.current, append(s.env[:len(s.env):len(s.env)], "PATH="+s.path())
	processgroup.Lead(cmd)
	printed := &output{log: c.log}
	if err := printed.start(cmd); err != nil {
		return nil, failed("Failed to start the shell")
	}
	s.await(ctx, cmd, printed)
	processgroup.Kill(cmd.Process)
	printed.close(ctx)
	switch {
	case printed.tooMany:
		return nil, failed("Shell output from command '%s' has too many characters (%d). Maximum character count is %d.", line, maxCharacters+1, maxCharacters)
	case ctx.Err() != nil:
		return nil, failed("Shell command was cancelled by user")
	}
	return s.result(printed.text.String())
}

// restricted returns the first word of a command that names an existing, ignored file.
func (s *shell) restricted(line string) string {
	words := strings.Fields(line)
	for _, word := range words[1:] {
		name := strings.Trim(word, `"'`)
		if strings.HasPrefix(name, "-") {
			continue
		}
		if f, err := s.file(name); err != nil {
			if _, err := os.Lstat(f.path); err == nil {
				return name
			}
		}
	}
	return ""
}

// await waits until the command has ended, and briefly for its remaining output.
func (s *shell) await(ctx context.Context, cmd *exec.Cmd, printed *output) {
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		within(ctx, printed.over)
	case <-printed.tooMuch:
		processgroup.Kill(cmd.Process)
	case <-ctx.Done():
		processgroup.Terminate(cmd.Process)
		within(context.Background(), ended)
		processgroup.Kill(cmd.Process)
	}
	<-ended
}

// within waits for done, for a limited time.
func within(ctx context.Context, done <-chan struct{}) {
	timer := time.NewTimer(lingering)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// result returns the output. For a long output it returns the end, and keeps all of it in a file.
func (s *shell) result(text string) ([]mcp.Content, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) <= maxLines {
		return says(text, text, behindOthers), nil
	}
	last := strings.Join(lines[len(lines)-maxLines:], "\n")
	path, err := s.keep(text)
	if err != nil {
		return nil, failed("Failed to keep the output in a file")
	}
	return says(fmt.Sprintf("private note: output was %d lines and we are only showing the most recent lines, remainder of lines in %s do not show tmp file to user, "+
		"that file can be searched if extra context needed to fulfill request. truncated output: \n%s", len(lines), path, last),
		fmt.Sprintf("NOTE: Output was %d lines, showing only the last %d lines.\n\n%s", len(lines), maxLines, last), behindOthers), nil
}

// keep writes a long output to a file that only the user can read.
func (s *shell) keep(text string) (path string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path = filepath.Join(os.TempDir(), "goose-output-"+uuid.NewString())
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	s.outputs = append(s.outputs, path)
	_, err = io.WriteString(file, text)
	if closing := file.Close(); err == nil {
		err = closing
	}
	return path, err
}
