// Package stdio talks to a program over its standard input and output, and records both.
//
// Everything is recorded as it is: lines with their line ends, a last line without one, what went to standard error,
// and how the program ended. What lockstep sends is recorded before it is sent, because no line must come before the
// one that it answers.
package stdio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
)

// A Process is a running program with everything that it has started. Only one goroutine calls Read.
type Process interface {
	// Read returns what the program wrote next, and whether it went to standard error. The data is valid until the next
	// call. It returns false when the program has exited and everything has been returned, or after Drop.
	Read() (stderr bool, data []byte, ok bool)
	// Drop says that nothing will call Read any more.
	Drop()
	// Write writes to standard input. When ctx ends first, the error says that the program does not read.
	Write(ctx context.Context, data []byte) error
	CloseInput() error
	// Signal sends a signal, such as SIGTERM, to the program alone.
	Signal(name string) error
	// Exited is closed when the program has exited and its output has been read or dropped.
	Exited() <-chan struct{}
	// Exit returns the status, or the name of the signal that ended the program. It is valid once Exited is closed.
	Exit() (status int, signal string)
	// Stop ends the program and everything that it has started: SIGTERM, some grace, SIGKILL. There is no grace when
	// ctx has ended.
	Stop(ctx context.Context) error
}

// A Program is a running program. Its Watch records the lines of standard output and standard error, what lockstep
// sends, and the exit.
type Program struct {
	*watch.Watch
	process Process
	source  *source
	writing chan struct{} // holds a value while a goroutine writes
}

// defaultMaxEvent limits a line, see watch.Options.
const defaultMaxEvent = 16 << 20

var (
	errExited  = errors.New("the program has exited")
	errDropped = errors.New("the program exceeded a limit of lockstep")
)

// Open begins to read the output of a process. The caller must call Close, even if the program exits by itself.
func Open(process Process, options *watch.Options) *Program {
	opts := options.WithDefaults()
	src := &source{process: process, start: opts.Start, max: cmp.Or(max(opts.MaxEvent, 0), defaultMaxEvent)}
	for i := range src.streams {
		src.streams[i].max = src.max
	}
	return &Program{Watch: watch.Open(src, opts), process: process, source: src, writing: make(chan struct{}, 1)}
}

// SendLine writes a line and its line end. It waits until the program has taken it, at most until ctx ends. malformed is
// kept as Event.Malformed.
func (p *Program) SendLine(ctx context.Context, line []byte, malformed bool) error {
	event := transcript.Event{Item: transcript.ItemLine, Data: string(line), Framing: framingLF, Malformed: malformed}
	return p.write(ctx, event, append(slices.Clip(line), '\n'))
}

// SendBytes writes bytes as they are, without a line end.
func (p *Program) SendBytes(ctx context.Context, data []byte) error {
	return p.write(ctx, transcript.Event{Item: transcript.ItemBytes, Data: string(data), Framing: framingEnd}, data)
}

// write records an event and writes its bytes. The writes of several goroutines do not mix.
func (p *Program) write(ctx context.Context, event transcript.Event, data []byte) error {
	select {
	case p.writing <- struct{}{}: // even if ctx has ended: the error of Write says more
	default:
		select {
		case p.writing <- struct{}{}:
		case <-ctx.Done():
			return fmt.Errorf("the program does not read what is written before: %w", context.Cause(ctx))
		}
	}
	defer func() { <-p.writing }()
	if err := p.record(event); err != nil {
		return err
	}
	return p.process.Write(ctx, data)
}

func (p *Program) record(event transcript.Event) error {
	return p.source.sending(func() { p.Sent(event) })
}

// Signal sends a signal, such as SIGTERM, to the program alone.
func (p *Program) Signal(name string) error {
	if err := p.record(transcript.Event{Item: transcript.ItemSignal, Data: name, Framing: framingEnd}); err != nil {
		return err
	}
	return p.process.Signal(name)
}

// CloseWrite closes standard input. The program may go on.
func (p *Program) CloseWrite() error {
	if err := p.record(transcript.Event{Item: transcript.ItemEOF}); err != nil {
		return err
	}
	return p.process.CloseInput()
}

// Close ends the program and everything that it has started, records what it still writes, and waits for the end.
func (p *Program) Close() error {
	return cmp.Or(p.Watch.Close(), p.source.stop())
}

// Reset is Close with SIGKILL at once.
func (p *Program) Reset() error {
	p.source.kill.Store(true)
	return p.Close()
}

// The methods below make a Program a stream of package run. A program has no response head.

var opened = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Head is closed.
func (p *Program) Head() <-chan struct{} { return opened }

// Opened returns true, and no exchange.
func (p *Program) Opened() (ex *transcript.Exchange, is bool, err error) { return nil, true, nil }

// Decoded returns false.
func (p *Program) Decoded() bool { return false }

// GiveUp does nothing, because the program runs.
func (p *Program) GiveUp(error) {}
