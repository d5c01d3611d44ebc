package hooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/lockstep-dev/lockstep/server/mcp/processgroup"
)

// maxOutput is the maximum size of the output of a hook in bytes (CT 14.6).
const maxOutput = 1 << 20

// lateOutput is how long the output of a hook may stay open after its exit, which only happens if a process has left its group.
const lateOutput = time.Second

var errTooLong = errors.New("its output has more than 1 MiB")

// run runs a hook with a line as its input, and reads its output.
func run[T any](h *Hooks, ctx context.Context, hook Hook, line []byte, parse func([]byte) (T, error)) (said T, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(h.running, func() { cancel(ErrStopped) })()
	select {
	case h.places <- struct{}{}:
		defer func() { <-h.places }()
	case <-ctx.Done():
		return said, context.Cause(ctx)
	}
	if cause := h.ended(ctx); cause != nil {
		return said, cause
	}
	ctx, done := context.WithTimeoutCause(ctx, hook.Timeout, fmt.Errorf("not done after %d ms", hook.Timeout.Milliseconds()))
	defer done()
	output, err := h.process(ctx, hook.Command, line)
	if err != nil {
		return said, err
	}
	return parse(output)
}

// process runs a command until its exit, or until ctx ends, and kills what is left of its group.
func (h *Hooks) process(ctx context.Context, command []string, line []byte) (output []byte, err error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append([]string{}, h.options.Environment...) // nil would mean the environment of this process
	if h.options.Stderr != nil {
		cmd.Stderr = h.options.Stderr
	}
	in, out, err := pipes(cmd)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	defer in.Close() // unblocks the writer below
	release, err := h.options.Guard.Start(cmd)
	closeAll(cmd)
	if err != nil {
		return nil, err
	}
	defer release()
	ctx, kill := context.WithCancelCause(ctx)
	defer kill(nil)
	killed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(killed)
		processgroup.Kill(cmd.Process)
	})
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = in.Write(line) // a hook need not read it
		in.Close()
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		output, _ = io.ReadAll(io.LimitReader(out, maxOutput+1))
		if len(output) > maxOutput {
			kill(errTooLong)
		}
	}()
	failed := cmd.Wait()
	if stop() { // otherwise it is killed, and its number must not be used later
		processgroup.Kill(cmd.Process)
	} else {
		<-killed
	}
	_ = out.SetReadDeadline(time.Now().Add(lateOutput))
	<-read
	in.Close()
	<-written
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return output, failed
}

// pipes connects a command with two pipes, and returns our ends.
func pipes(cmd *exec.Cmd) (in, out *os.File, err error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		theirIn.Close()
		in.Close()
		return nil, nil, err
	}
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	return in, out, nil
}

// closeAll closes the ends of the pipes that the command has.
func closeAll(cmd *exec.Cmd) {
	cmd.Stdin.(*os.File).Close()
	cmd.Stdout.(*os.File).Close()
}
