//go:build unix

package target

import (
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
)

// An outputReader reads one output stream of a process into a sink. It owns a goroutine, which runs until no process has
// the other end of the pipe.
//
// The last process that has the pipe can be a grandchild that lives long after the process itself. So the end of the
// pipe does not show when everything that the process wrote has been read. catchUp does.
type outputReader struct {
	stream   Stream
	to       sink
	pipe     *os.File
	caughtUp chan struct{} // catchUp waits on this
	done     chan struct{} // closed when read has returned
}

// A sink takes what a process writes, in the order of each stream. It must not keep the chunk.
type sink interface {
	add(stream Stream, chunk []byte)
}

// newOutputReader returns a running reader, and the end of the pipe for the process. The caller closes that end after
// the start.
func newOutputReader(stream Stream, to sink) (*outputReader, *os.File, error) {
	pipe, end, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	r := &outputReader{stream: stream, to: to, pipe: pipe, caughtUp: make(chan struct{}), done: make(chan struct{})}
	go r.read()
	return r, end, nil
}

// read returns at the end of the stream, or when the reader is closed.
func (r *outputReader) read() {
	defer close(r.done)
	chunk := make([]byte, 64<<10) // the capacity of a pipe
	for {
		n, err := r.pipe.Read(chunk)
		r.to.add(r.stream, chunk[:n])
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded): // set by catchUp
			if r.drain(chunk) {
				return
			}
			r.caughtUp <- struct{}{}
		default:
			return
		}
	}
}

// maxPipe is the largest capacity of a pipe, unless root has raised it.
const maxPipe = 1 << 20

// drain reads what is in the pipe without waiting for more, and reports whether the stream has ended.
func (r *outputReader) drain(chunk []byte) (ended bool) {
	raw, err := r.pipe.SyscallConn()
	if err != nil {
		return true
	}
	if r.pipe.SetReadDeadline(time.Time{}) != nil {
		return true
	}
	for read := 0; read < maxPipe; { // other processes may never stop writing
		var n int
		var readErr error
		err := raw.Read(func(fd uintptr) bool {
			n, readErr = syscall.Read(int(fd), chunk)
			return true // do not wait
		})
		switch {
		case err != nil:
			return true
		case readErr == syscall.EINTR:
			continue
		case readErr == syscall.EAGAIN:
			return false
		case readErr != nil || n == 0:
			return true
		}
		r.to.add(r.stream, chunk[:n])
		read += n
	}
	return false
}

// catchUp returns when everything that was in the pipe at the time of the call is in the sink. It must not be called
// concurrently.
func (r *outputReader) catchUp() {
	if r.pipe.SetReadDeadline(time.Unix(1, 0)) != nil {
		return // the pipe is closed
	}
	select {
	case <-r.caughtUp:
	case <-r.done:
	}
}

// close reads what is left and ends the reader. It reports whether some process still has the other end.
func (r *outputReader) close() (held bool) {
	r.catchUp()
	held = !waiting.IsClosed(r.done)
	r.pipe.Close() // ends the read
	<-r.done
	return held
}
