//go:build unix

package target

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// A tap reads one output stream of a process into a journal, for as long as anybody holds the other end, and owns the
// goroutine that does.
//
// A pipe ends when the last process that has it ends, which can be a grandchild long after the process itself. Waiting
// for the end is therefore no way to know that everything a process wrote has been read; catchUp is.
type tap struct {
	stream   Stream
	journal  *journal
	pipe     *os.File
	caughtUp chan struct{} // answers catchUp
	done     chan struct{} // closed when read has returned
}

// newTap returns a tap that runs, and the end of the pipe to give to a process and to close then.
func newTap(stream Stream, j *journal) (*tap, *os.File, error) {
	pipe, end, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	t := &tap{stream: stream, journal: j, pipe: pipe, caughtUp: make(chan struct{}), done: make(chan struct{})}
	go t.read()
	return t, end, nil
}

// read returns at the end of the stream, or when the tap is closed.
func (t *tap) read() {
	defer close(t.done)
	chunk := make([]byte, 64<<10) // what a pipe holds
	for {
		n, err := t.pipe.Read(chunk)
		t.journal.add(t.stream, chunk[:n])
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded): // catchUp asks
			if t.drain(chunk) {
				return
			}
			t.caughtUp <- struct{}{}
		default:
			return
		}
	}
}

// maxPipe is the most that a pipe can hold, unless root has made it larger.
const maxPipe = 1 << 20

// drain reads what the pipe holds, without waiting for more, and reports whether the stream has ended.
func (t *tap) drain(chunk []byte) (ended bool) {
	raw, err := t.pipe.SyscallConn()
	if err != nil {
		return true
	}
	if t.pipe.SetReadDeadline(time.Time{}) != nil {
		return true
	}
	for read := 0; read < maxPipe; { // others may write on, and for ever
		var n int
		var readErr error
		err := raw.Read(func(fd uintptr) bool {
			n, readErr = syscall.Read(int(fd), chunk)
			return true // never wait
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
		t.journal.add(t.stream, chunk[:n])
		read += n
	}
	return false
}

// catchUp returns when everything that was in the pipe at the time of the call is in the journal. It is not for
// concurrent use.
func (t *tap) catchUp() {
	if t.pipe.SetReadDeadline(time.Unix(1, 0)) != nil {
		return // the pipe is closed
	}
	select {
	case <-t.caughtUp:
	case <-t.done:
	}
}

// close reads what is left and ends the tap. It reports whether some process still holds the other end.
func (t *tap) close() (held bool) {
	t.catchUp()
	held = !closed(t.done)
	t.pipe.Close() // ends the read
	<-t.done
	return held
}
