package run

import (
	"errors"
	"slices"
	"sync"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// errNotOpened is why a step is skipped that needs a stream or a started request which does not exist.
var errNotOpened = errors.New("it was not opened")

// streams are the event streams that a scenario has opened on one target.
type streams struct {
	*targetRun
	mu      sync.Mutex // branches that run at once share what follows
	byName  map[string]*stream
	refused map[string]bool // the response was no stream, by the name that the stream was to have
	inOrder []*stream       // of their opening
}

// get returns the stream that has a name now, or nil.
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

// all returns all streams in the order of their opening.
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

// never begins a window in which an event must not come. Whether it comes is judged later.
func (s *streams) never(do *scenario.Never, rec *transcript.Step) error {
	rec.Stream = do.Stream
	st := s.get(do.Stream)
	if st == nil {
		return s.missing(do.Stream)
	}
	pattern, err := fillPattern(do.Match, &s.values)
	if err != nil {
		return err
	}
	from := s.since()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.t.Windows = append(s.t.Windows, transcript.Window{
		Step: rec.ID, Line: rec.Line, Stream: do.Stream, Match: pattern,
		First: st.length(), From: from, To: from + do.Within,
	})
	return nil
}

func (s *streams) hangUp(do *scenario.Hangup, rec *transcript.Step) error {
	rec.Stream = do.Name
	st := s.get(do.Name)
	if st == nil {
		return s.missing(do.Name)
	}
	switch do.How {
	case scenario.HalfClose:
		_ = st.CloseWrite() // the server may have closed it already, which the recording tells
	case scenario.Drop:
		st.hangUp(st.Reset)
	default:
		st.hangUp(st.Close)
	}
	return nil
}

// record puts all streams into the transcript.
func (s *streams) record() {
	for _, st := range s.all() {
		if is, _ := st.opened(); is {
			st.record()
			s.t.Streams = append(s.t.Streams, st.rec)
		}
	}
}
