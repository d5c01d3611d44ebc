package run

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// errNotOpened is why a step is skipped whose stream or started request does not exist.
var errNotOpened = errors.New("it was not opened")

// streams are the event streams that a scenario has opened on one target.
type streams struct {
	run     *targetRun
	mu      sync.Mutex // guards the fields below, because branches run at the same time
	byName  map[string]*stream
	refused map[string]bool // by name: the response was not a stream
	inOrder []*stream       // in the order in which they were opened
}

// get returns the current stream of a name, or nil.
func (s *streams) get(name string) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byName[name]
}

func (s *streams) add(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byName[st.rec.Name] = st
	s.inOrder = append(s.inOrder, st)
}

func (s *streams) all() []*stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.inOrder)
}

func (s *streams) names() (names []string) {
	for _, st := range s.all() {
		names = append(names, st.rec.Name)
	}
	return names
}

// never begins a window in which an event must not arrive. Whether one has arrived is judged later.
func (s *streams) never(do *scenario.Never, rec *transcript.Step) error {
	rec.Stream = do.Stream
	st := s.get(do.Stream)
	if st == nil {
		return s.missing(do.Stream)
	}
	pattern, err := fillPattern(do.Match, &s.run.values)
	if err != nil {
		return err
	}
	from := s.run.since()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run.t.Windows = append(s.run.t.Windows, transcript.Window{
		Step: rec.ID, Line: rec.Line, Stream: do.Stream, Match: pattern,
		First: st.length(), From: from, To: from + do.Within,
	})
	return nil
}

func (s *streams) hangUp(ctx context.Context, do *scenario.Hangup, rec *transcript.Step) error {
	rec.Stream = do.Name
	st := s.get(do.Name)
	if st == nil {
		return s.missing(do.Name)
	}
	if to, ok := st.wire.(socket); ok && do.How == scenario.Close {
		return closeSocket(ctx, s.run, do, to, st, rec)
	}
	switch do.How {
	case scenario.HalfClose:
		_ = st.wire.CloseWrite() // the server may have closed it already, as the record shows
	case scenario.Drop:
		st.hangUp(st.wire.Reset)
	default:
		st.hangUp(st.wire.Close)
	}
	return nil
}

// record adds all streams to the transcript.
func (s *streams) record() {
	for _, st := range s.all() {
		if is, _ := st.opened(); is {
			st.record()
			s.run.t.Streams = append(s.run.t.Streams, st.rec)
		}
	}
}
