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
	chunk    []byte // the buffer for what is read next
	used     []byte // the buffer that the sink uses, or nil
	pipe     *os.File
	caughtUp chan struct{} // catchUp waits on this
	done     chan struct{} // closed when read has returned
}

// A sink takes what a process writes, in the order of each stream.
type sink interface {
	// add reports whether the sink goes on using the chunk until it takes the next one of the stream.
	add(stream Stream, chunk []byte) (used bool)
}

// newOutputReader returns a running reader, and the end of the pipe for the process. The caller closes that end after
// the start.
func newOutputReader(stream Stream, to sink) (*outputReader, *os.File, error) {
	pipe, end, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	r := &outputReader{stream: stream, to: to, pipe: pipe, chunk: newChunk(), caughtUp: make(chan struct{}), done: make(chan struct{})}
	go r.read()
	return r, end, nil
}

// read returns at the end of the stream, or when the reader is closed.
func (r *outputReader) read() {
	defer close(r.done)
	for {
		n, err := r.pipe.Read(r.chunk)
		r.pass(n)
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded): // set by catchUp
			if r.drain() {
				return
			}
			r.caughtUp <- struct{}{}
		default:
			return
		}
	}
}

// pass gives the sink what was read.
func (r *outputReader) pass(n int) {
	if n <= 0 {
		return
	}
	if !r.to.add(r.stream, r.chunk[:n]) {
		return
	}
	if r.chunk, r.used = r.used, r.chunk; r.chunk == nil {
		r.chunk = newChunk()
	}
}

// newChunk returns a buffer of the usual capacity of a pipe.
func newChunk() []byte { return make([]byte, 64<<10) }

// maxPipe is the largest capacity of a pipe, unless root has raised it.
const maxPipe = 1 << 20

// drain reads what is in the pipe without waiting for more, and reports whether the stream has ended.
func (r *outputReader) drain() (ended bool) {
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
			n, readErr = syscall.Read(int(fd), r.chunk)
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
		r.pass(n)
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
