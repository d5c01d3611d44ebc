package run

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
)

// A stream is an event stream that a scenario has opened on one target.
type stream struct {
	*httpwire.Stream
	rec       *transcript.Stream // filled when the scenario is over
	sent      *prepared
	x         *transcript.Exchange // filled when the head has come, or when the scenario is over
	heartbeat func(*transcript.Event) bool

	agreed          int  // how many events count, see settleStream; all when negative
	openAtAgreement bool // no server had ended it then
	closed          bool // by the scenario, or at its end
	killed          bool // the step that follows kills the process: what counts was agreed on before

	mu sync.Mutex
	// cursors have the index of the first event that no await has passed, for each branch under way that has awaited one. The
	// key is what the ids of the branch's steps begin with; "" for steps outside of branches.
	cursors map[string]int
}

// passed returns the first event that no await has passed, neither in the branch nor before it. What other branches await
// at the same time does not count, because it is chance how far they are.
func (s *stream) passed(branch string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cursor(branch)
}

// cursor is passed without the lock, which the caller holds.
func (s *stream) cursor(branch string) int {
	for {
		if i, ok := s.cursors[branch]; ok || branch == "" {
			return i
		}
		branch = branchOf(strings.TrimSuffix(branch, "."))
	}
}

// pass notes that an await of a branch has passed an event.
func (s *stream) pass(branch string, i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cursors == nil {
		s.cursors = map[string]int{}
	}
	s.cursors[branch] = max(s.cursor(branch), i+1)
	if s.killed && s.agreed >= 0 {
		s.agreed = max(s.agreed, i+1) // a step awaited it, so it is not chance that it came
	}
}

// joinBranches notes that all branches of a parallel step are done. The one that got furthest counts.
func (s *stream) joinBranches(parallel string) {
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

// branchOf returns what all ids of the branch begin with that a step is in: "3.left."; "" when it is in none.
func branchOf(step string) string { return step[:strings.LastIndexByte(step, '.')+1] }

// A snapshot is the state of a stream at one moment.
type snapshot struct {
	events  int             // without heartbeats
	all     int             // with heartbeats
	ended   bool            // nothing more comes
	changed <-chan struct{} // closed when something may have come
}

// snapshot looks at a stream once; when its process was killed, at what it had by then. A comment counts as an event: it
// is compared, and it is the first thing that many servers send.
func (s *stream) snapshot() snapshot {
	at := snapshot{ended: s.Ended()}
	at.events, at.changed = s.Watch.Count(func(ev *transcript.Event) bool {
		if s.killed && at.all == s.agreed {
			return false
		}
		at.all++
		return !s.heartbeat(ev)
	})
	return at
}

// others says how many events came behind the first so many, without heartbeats and comments.
func (s *stream) others(passed int) string {
	n, _ := s.Watch.Count(func(ev *transcript.Event) bool {
		passed--
		return passed < 0 && !ev.Comment && !s.heartbeat(ev)
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

// length returns how many events have come, heartbeats and comments included.
func (s *stream) length() int {
	n, _ := s.Watch.Count(func(*transcript.Event) bool { return true })
	return n
}

// hangUp closes our side.
func (s *stream) hangUp(how func() error) {
	s.closed = true
	_ = how() // the server may have closed it first, which the recording tells
}

// opened fills in the exchange once the head has come or none will, and reports whether the response is an event stream.
func (s *stream) opened() (is bool, err error) {
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

// record completes the stream's record, without the events and the end that came after the drivers agreed. Heartbeats stay: there must be some for as long as the stream was open.
func (s *stream) record() {
	s.Watch.Record(s.rec)
	if s.agreed >= 0 && s.agreed < len(s.rec.Events) {
		late := slices.DeleteFunc(s.rec.Events[s.agreed:], func(ev transcript.Event) bool { return !s.heartbeat(&ev) })
		s.rec.Events = s.rec.Events[:s.agreed+len(late)]
	}
	if s.closed && s.openAtAgreement {
		s.rec.Ended, s.rec.Failure = transcript.EndedByClient, nil
	}
}
