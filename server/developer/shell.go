package developer

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/server/procgroup"
)

// What a command may have (decision X16).
const (
	maxOutput = 1 << 20
	lingering = time.Second // for output after the command has ended
)

// A shell runs commands in a directory.
type shell struct{ directory string }

// run runs one command with all that it starts, none of which outlives the call.
func (s shell) run(ctx context.Context, a arguments) (string, error) {
	line, err := a.text("command")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir = s.directory
	procgroup.Lead(cmd)
	ours, theirs, err := os.Pipe()
	if err != nil {
		return "", fault("bash cannot be started")
	}
	defer ours.Close()
	cmd.Stdout, cmd.Stderr = theirs, theirs
	err = cmd.Start()
	theirs.Close()
	if err != nil {
		return "", fault("bash cannot be started")
	}
	printed := gather(ours)
	s.await(ctx, cmd, printed)
	procgroup.Kill(cmd.Process)
	ours.Close()
	<-printed.over
	return printed.answer(procgroup.Status(cmd.ProcessState))
}

// await waits until the command has ended, and a while for what it still has to say.
func (s shell) await(ctx context.Context, cmd *exec.Cmd, printed *output) {
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		procgroup.Kill(cmd.Process)
		<-ended
		return
	}
	timer := time.NewTimer(lingering)
	defer timer.Stop()
	select {
	case <-printed.over:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// output is what a command prints. It must not be looked at before it is over.
type output struct {
	over chan struct{}
	kept []byte
	cut  bool
}

// gather reads a file to its end, or until it is closed.
func gather(file *os.File) *output {
	o := &output{over: make(chan struct{})}
	go func() {
		defer close(o.over)
		buffer := make([]byte, 32<<10)
		for {
			n, err := file.Read(buffer)
			room := min(n, maxOutput-len(o.kept))
			o.kept = append(o.kept, buffer[:room]...)
			o.cut = o.cut || room < n
			if err != nil {
				return
			}
		}
	}()
	return o
}

// answer returns the text of an answer; it is an error if the status is not 0.
func (o *output) answer(status int) (string, error) {
	text := string(o.kept)
	if o.cut {
		text += fmt.Sprintf("\n[The output was cut at %d bytes.]", maxOutput)
	}
	if status != 0 {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		return "", fault(fmt.Sprintf("%s[Exit status: %d]", text, status))
	}
	if text == "" {
		text = "[No output]"
	}
	return text, nil
}
