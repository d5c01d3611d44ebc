// Package memprocess runs a function as if it were a program of its own: with arguments, an environment, standard input
// and output, signals and an exit. Tests with a fake clock use it, because a real process would stop that clock.
//
// As with the pipes of an operating system, input is buffered up to a limit, and output waits for its reader.
package memprocess

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// A System is what a program has of its operating system.
type System struct {
	Args    []string
	Getenv  func(name string) string
	Dir     string
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	Signals <-chan string     // the names of the signals that Catch has named
	Catch   func(name string) // from now on, this signal does not end the program
	Die     func(name string) // ends the program by a signal
	Gone    <-chan struct{}   // closed when the program must return, because it has been killed
}

// A Main is the main function of a program. It returns the exit status.
type Main func(s *System) int

const (
	pipeSize  = 64 << 10
	stopGrace = 100 * time.Millisecond
)

var (
	errExited = errors.New("the program has exited")
	errKilled = errors.New("the program has been killed")
)

// A Process is a running Main. It has the methods that harness/transport/stdio needs.
type Process struct {
	in      pipe
	pieces  chan piece
	signals chan string
	gone    chan struct{} // closed at the end of the program
	exited  chan struct{} // closed after that, when its output has been read
	main    chan struct{} // closed when the function has returned
	dropped chan struct{}
	drop    sync.Once

	mu     sync.Mutex
	caught []string
	over   bool
	status int
	signal string
}

type piece struct {
	stderr bool
	data   []byte
}

// Start runs a program. The caller must call Stop in the end.
func Start(main Main, args []string, env map[string]string, dir string) *Process {
	p := &Process{
		pieces: make(chan piece), signals: make(chan string, 10), gone: make(chan struct{}), exited: make(chan struct{}),
		main: make(chan struct{}), dropped: make(chan struct{}), in: pipe{changed: make(chan struct{})},
	}
	s := &System{
		Args: args, Getenv: func(name string) string { return env[name] }, Dir: dir,
		In: &p.in, Out: writer{p, false}, Err: writer{p, true},
		Signals: p.signals, Catch: p.catch, Die: func(name string) { p.exit(-1, name) }, Gone: p.gone,
	}
	go func() {
		defer close(p.main)
		p.exit(main(s), "")
	}()
	return p
}

func (p *Process) catch(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.caught = append(p.caught, name)
}

// exit ends the program, unless it has ended before.
func (p *Process) exit(status int, signal string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	p.over, p.status, p.signal = true, status, signal
	p.in.breakOff()
	close(p.gone)
	close(p.exited) // each write has waited for its reader
}

// Read returns what the program wrote next.
func (p *Process) Read() (stderr bool, data []byte, ok bool) {
	select {
	case next := <-p.pieces:
		return next.stderr, next.data, true
	case <-p.exited:
	case <-p.dropped:
	}
	return false, nil, false
}

// Drop says that nothing will call Read any more.
func (p *Process) Drop() { p.drop.Do(func() { close(p.dropped) }) }

// Write writes to standard input until ctx ends.
func (p *Process) Write(ctx context.Context, data []byte) error {
	n, err := p.in.fill(ctx, data)
	if errors.Is(err, errExited) {
		return err
	}
	if err != nil {
		return fmt.Errorf("the program does not read its input: it took %d of %d bytes: %w", n, len(data), err)
	}
	return nil
}

// CloseInput ends standard input.
func (p *Process) CloseInput() error { return p.in.close() }

// Signal sends a signal. It ends a program that does not catch it.
func (p *Process) Signal(name string) error {
	p.mu.Lock()
	over, caught := p.over, name != "SIGKILL" && slices.Contains(p.caught, name)
	p.mu.Unlock()
	switch {
	case over:
		return errExited
	case caught:
		select {
		case p.signals <- name:
		default: // a signal that is pending already is lost
		}
	default:
		p.exit(-1, name)
	}
	return nil
}

// Exited returns a channel that is closed at the end.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Exit returns how the program ended.
func (p *Process) Exit() (status int, signal string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status, p.signal
}

// Stop ends the program: SIGTERM, some grace, SIGKILL. It waits until the function has returned.
func (p *Process) Stop(ctx context.Context) error {
	_ = p.Signal("SIGTERM") // it may have exited
	grace, cancel := context.WithTimeout(ctx, stopGrace)
	defer cancel()
	select {
	case <-p.exited:
	case <-grace.Done():
		p.exit(-1, "SIGKILL")
	}
	<-p.main
	return nil
}

// A writer is standard output or standard error.
type writer struct {
	p      *Process
	stderr bool
}

func (w writer) Write(data []byte) (int, error) {
	select {
	case <-w.p.gone:
		return 0, errKilled
	default:
	}
	select {
	case w.p.pieces <- piece{w.stderr, slices.Clone(data)}:
	case <-w.p.dropped:
	case <-w.p.gone:
		return 0, errKilled
	}
	return len(data), nil
}

// A pipe is standard input.
type pipe struct {
	mu      sync.Mutex
	data    []byte
	changed chan struct{} // closed at each change
	closed  bool          // by the writer
	broken  bool          // the reader is gone
}

// change notifies both sides. The caller holds the lock.
func (p *pipe) change() {
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *pipe) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.change()
	if p.broken {
		return errExited
	}
	return nil
}

func (p *pipe) breakOff() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken = true
	p.change()
}

func (p *pipe) fill(ctx context.Context, data []byte) (n int, err error) {
	for {
		p.mu.Lock()
		broken, closed, changed := p.broken, p.closed, p.changed
		if !broken && !closed {
			room := min(pipeSize-len(p.data), len(data)-n)
			p.data = append(p.data, data[n:n+room]...)
			n += room
			if room > 0 {
				p.change()
				changed = p.changed
			}
		}
		p.mu.Unlock()
		switch {
		case broken:
			return n, errExited
		case closed:
			return n, errors.New("the program's input was closed before")
		case n == len(data):
			return n, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return n, context.Cause(ctx)
		}
	}
}

func (p *pipe) Read(b []byte) (int, error) {
	for {
		p.mu.Lock()
		n, changed, ended, broken := copy(b, p.data), p.changed, p.closed, p.broken
		if p.data = p.data[n:]; n > 0 {
			p.change()
		}
		p.mu.Unlock()
		switch {
		case broken:
			return 0, errKilled
		case n > 0:
			return n, nil
		case ended:
			return 0, io.EOF
		}
		<-changed
	}
}
