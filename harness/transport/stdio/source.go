package stdio

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A source reads the lines of a program, and then its exit.
type source struct {
	process Process
	start   time.Time
	max     int

	// Only Next uses these fields, until it has returned false.
	streams [2]lines // standard output, standard error
	current int      // the stream whose chunk is being read
	at      time.Duration
	err     error
	drained bool // the program has exited, and its output is read

	kill atomic.Bool // the program gets no time to end by itself
	mu   sync.Mutex
	over error // why nothing can be sent any more; nil while the program runs
}

var items = [2]transcript.Item{transcript.ItemLine, transcript.ItemStderr}

func (s *source) Next() (transcript.Event, bool) {
	for {
		line, framing, ok, err := s.streams[s.current].next()
		if ok {
			return s.line(s.current, line, framing), true
		}
		if s.err = err; err != nil {
			return transcript.Event{}, false
		}
		stderr, chunk, more := s.process.Read()
		s.at = time.Since(s.start)
		if !more {
			return s.last()
		}
		s.current = 0
		if stderr {
			s.current = 1
		}
		s.streams[s.current].add(chunk)
	}
}

func (s *source) line(stream int, text, framing string) transcript.Event {
	return transcript.Event{Item: items[stream], Data: text, Framing: framing, At: s.at}
}

// last returns what a program leaves at its end: lines without an end, and then its exit. A program that could not be
// ended has no exit.
func (s *source) last() (transcript.Event, bool) {
	for i := range s.streams {
		if text, framing, ok := s.streams[i].rest(); ok {
			return s.line(i, text, framing), true
		}
	}
	if s.drained || !waiting.IsClosed(s.process.Exited()) {
		return transcript.Event{}, false
	}
	s.drained = true
	s.end(errExited)
	return transcript.Event{Item: transcript.ItemExit, Data: exitData(s.process.Exit()), Framing: framingEnd, At: s.at}, true
}

// exitData returns the data of an exit: {"status":3} or {"signal":"SIGSEGV"}.
func exitData(status int, signal string) string {
	if signal == "" {
		return `{"status":` + strconv.Itoa(status) + `}`
	}
	name, err := json.Marshal(signal)
	if err != nil {
		panic("stdio: a string does not encode: " + err.Error())
	}
	return `{"signal":` + string(name) + `}`
}

// End says how the output ended. It ends between two lines, because a last line without an end is a line.
func (s *source) End() (time.Duration, *transcript.Failure) {
	if s.err == nil {
		return s.at, nil
	}
	return s.at, &transcript.Failure{
		Kind: transcript.FailLimit, Phase: transcript.PhaseBody, Text: fmt.Sprintf("a line has more than %d bytes", s.max),
	}
}

// Drop is called when nothing more will be read: the program has exited, or it has exceeded a limit and is killed.
func (s *source) Drop() {
	if !waiting.IsClosed(s.process.Exited()) {
		s.kill.Store(true)
	}
	s.end(errDropped)
	s.process.Drop()
}

// Close ends the program, and with it what Next reads. It leaves a program that has exited to Program.Close: other
// processes may be left, and their end can take some time.
func (s *source) Close() error {
	if waiting.IsClosed(s.process.Exited()) {
		return nil
	}
	if s.kill.Load() {
		_ = s.process.Signal("SIGKILL") // it may have exited
	}
	err := s.stop()
	s.process.Drop() // a program that cannot be ended must not keep Next waiting
	return err
}

func (s *source) stop() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if s.kill.Load() {
		cancel()
	}
	return s.process.Stop(ctx)
}

// sending calls record, unless nothing can be sent any more. So the exit is the last event.
func (s *source) sending(record func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over == nil {
		record()
	}
	return s.over
}

func (s *source) end(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = cmp.Or(s.over, why)
}
