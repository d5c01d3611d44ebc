package client

import (
	"io"
	"os"
	"sync"
	"time"
)

// A pipe has one end for this process and one for the server.
type pipe struct{ ours, theirs *os.File }

// pipes are the three pipes of a process. They are files, so that exec does not wait for their end after the process
// has ended.
type pipes struct{ in, out, err pipe }

func newPipes() (pipes, error) {
	var all pipes
	var err error
	if all.in.theirs, all.in.ours, err = os.Pipe(); err != nil {
		return all, err
	}
	if all.out.ours, all.out.theirs, err = os.Pipe(); err == nil {
		all.err.ours, all.err.theirs, err = os.Pipe()
	}
	if err != nil {
		all.closeOurs()
		all.closeTheirs()
	}
	return all, err
}

func (p pipes) closeOurs() { closeAll(p.in.ours, p.out.ours, p.err.ours) }

func (p pipes) closeTheirs() { closeAll(p.in.theirs, p.out.theirs, p.err.theirs) }

// closeAll closes the files that are not nil.
func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// maxTail is how much of a process's standard error is kept.
const maxTail = 2 << 10

// A tail reads a file to its end, so that its writer never blocks, and keeps the last part.
type tail struct {
	file *os.File
	done chan struct{}

	mu   sync.Mutex
	last []byte
}

func newTail(file *os.File) *tail {
	t := &tail{file: file, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		_, _ = io.Copy(t, file)
	}()
	return t
}

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, text...)
	t.last = append([]byte(nil), t.last[max(0, len(t.last)-maxTail):]...)
	return len(text), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.last)
}

func (t *tail) close() {
	t.file.Close()
	<-t.done
}

// wait waits for the end of the file, for a limited time.
func (t *tail) wait(most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-t.done:
	case <-timer.C:
	}
}
