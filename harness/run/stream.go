package run

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
)

// A stream is an event stream that a walker has opened.
type stream struct {
	*httpwire.Stream
	rec    *transcript.Stream // filled when the scenario is over
	sent   *prepared
	x      *transcript.Exchange // filled when the head has come, or when the scenario is over
	beats  func(*transcript.Event) bool
	cut    int  // how many events count; all when negative
	open   bool // when that was agreed on, no server had ended it
	closed bool // by the scenario, or at its end
	killed bool // by a step: what counts was agreed on before

	mu sync.Mutex
	// cursors have the first event that no await has passed by, for each branch under way that has awaited one, by what the ids
	// of its steps begin with. That of the scenario is under "".
	cursors map[string]int
}

// passed returns the first event that no await of a branch has passed by, nor one before the branch. What other branches await
// at the same time is their affair, or it would be chance how far they are.
func (s *stream) passed(branch string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cursor(branch)
}

// cursor is passed. The mutex is held.
func (s *stream) cursor(branch string) int {
	for {
		if i, ok := s.cursors[branch]; ok || branch == "" {
			return i
		}
		branch = branchOf(strings.TrimSuffix(branch, "."))
	}
}

// pass notes that an await of a branch has passed an event by.
func (s *stream) pass(branch string, i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cursors == nil {
		s.cursors = map[string]int{}
	}
	s.cursors[branch] = max(s.cursor(branch), i+1)
	if s.killed && s.cut >= 0 {
		s.cut = max(s.cut, i+1) // it is no chance that it came
	}
}

// joined notes that all branches of a parallel step are done. The one that got furthest counts.
func (s *stream) joined(parallel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	within := branchOf(parallel)
	for branch, i := range s.cursors {
		if strings.HasPrefix(branch, parallel+".") {
			delete(s.cursors, branch)
			s.cursors[within] = max(s.cursor(within), i)
		}
	}
}

// branchOf returns what the ids of the steps begin with that are in one branch with a step: "3.left.", or "" when it is in none.
func branchOf(step string) string { return step[:strings.LastIndexByte(step, '.')+1] }

// A sight is what is to be seen of a stream at one moment.
type sight struct {
	n       int             // events, heartbeats aside
	all     int             // events, whatever they are
	ended   bool            // nothing more comes
	changed <-chan struct{} // closed when something may have come
}

// look looks at a stream once; of one that was killed, at what it had by then. A comment counts as an event: it is compared,
// and the first thing that many servers send.
func (s *stream) look() sight {
	at := sight{ended: s.Ended()}
	at.n, at.changed = s.Watch.Count(func(ev *transcript.Event) bool {
		if s.killed && at.all == s.cut {
			return false
		}
		at.all++
		return !s.beats(ev)
	})
	return at
}

// others says how many events have come since the first so many, heartbeats and comments aside.
func (s *stream) others(passed int) string {
	n, _ := s.Watch.Count(func(ev *transcript.Event) bool {
		passed--
		return passed < 0 && !ev.Comment && !s.beats(ev)
	})
	switch n {
	case 0:
		return "no other event came since"
	case 1:
		return "1 other event came since"
	default:
		return fmt.Sprintf("%d other events came since", n)
	}
}

// length returns how many events have come, whatever they are.
func (s *stream) length() int {
	n, _ := s.Watch.Count(func(*transcript.Event) bool { return true })
	return n
}

// hangUp closes our side. What came after the walkers agreed on the end does not count.
func (s *stream) hangUp(how func() error) {
	s.closed = true
	_ = how() // the server may have hung up first, which the recording tells
}

// answered fills in what came of the request, once the head has come or none will, and reports whether that is an event stream.
func (s *stream) answered() (is bool, err error) {
	x, is, err := s.Opened()
	if err != nil {
		return false, err
	}
	*s.x = *x
	s.sent.mark(&s.x.Request)
	if is {
		s.x.Stream, s.rec.At, s.rec.Decoded = s.rec.Name, x.Head, s.Decoded()
	}
	return is, nil
}

// record completes the stream's record: what came between the agreement on its end and our hanging up is left out, be it an
// event or the server's end. Heartbeats are not, of which there must be some for as long as the stream was open.
func (s *stream) record() {
	s.Watch.Record(s.rec)
	if s.cut >= 0 && s.cut < len(s.rec.Events) {
		late := slices.DeleteFunc(s.rec.Events[s.cut:], func(ev transcript.Event) bool { return !s.beats(&ev) })
		s.rec.Events = s.rec.Events[:s.cut+len(late)]
	}
	if s.closed && s.open {
		s.rec.Ended, s.rec.Failure = transcript.EndedByClient, nil
	}
}
