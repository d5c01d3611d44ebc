package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A wire is what a stream runs on. Its methods are those of httpwire.Stream and of the watch.Watch in it.
type wire interface {
	// Head is closed when the stream has begun, or cannot begin any more.
	Head() <-chan struct{}
	// Opened waits for that, and reports whether the stream has begun. A program has no exchange.
	Opened() (x *transcript.Exchange, is bool, err error)
	Decoded() bool
	GiveUp(cause error)
	CloseWrite() error
	Reset() error
	Close() error
	Ended() bool
	Await(ctx context.Context, from int, match func(*transcript.Event) bool) (int, error)
	AwaitEnd(ctx context.Context) error
	Count(counts func(*transcript.Event) bool) (n int, changed <-chan struct{})
	Record(s *transcript.Stream)
}

// A sender is a wire on which lockstep can send.
type sender interface {
	wire
	send(ctx context.Context, m *message) error
}

// A stream is an event stream, a socket or a program that a scenario has opened on one target.
type stream struct {
	wire    wire
	rec     *transcript.Stream // complete at the end of the scenario
	sent    *prepared
	x       *transcript.Exchange // complete when the head has arrived, or at the end of the scenario
	outside func(*transcript.Event) bool
	name    func(*transcript.Event) string // names an event as the contract does

	agreed          int  // how many events count, see settleStream; negative means all
	openAtAgreement bool // at the time of the agreement, no server had ended it
	closed          bool // by a step, or at the end of the scenario
	killed          bool // the next step kills the process, so the drivers have already agreed on what counts

	mu sync.Mutex
	// cursors have the index of the first event that no await has passed. There is an entry for each running branch
	// that has awaited an event. The key is the prefix of the ids of the branch's steps; "" for steps outside of
	// branches.
	cursors map[string]int
}

// origin returns the origin of values in the last event that a step awaited.
func (s *stream) origin(awaited *transcript.Step) origin {
	return origin{Captured: transcript.Captured{Step: s.rec.Step, Stream: s.rec.Name, Event: awaited.Events[len(awaited.Events)-1]}}
}

// passed returns the index of the first event that no await has passed, neither in the branch nor before it. Awaits in
// branches that run at the same time do not count, because it is chance how far they are.
func (s *stream) passed(branch string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cursor(branch)
}

// cursor is passed for a caller that holds the lock.
func (s *stream) cursor(branch string) int {
	for {
		if i, ok := s.cursors[branch]; ok || branch == "" {
			return i
		}
		branch = branchOf(strings.TrimSuffix(branch, "."))
	}
}

// pass records that an await of a branch has passed an event.
func (s *stream) pass(branch string, i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cursors == nil {
		s.cursors = map[string]int{}
	}
	s.cursors[branch] = max(s.cursor(branch), i+1)
	if s.killed && s.agreed >= 0 {
		s.agreed = max(s.agreed, i+1) // a step awaited this event, so it did not come by chance
	}
}

// joinBranches records that all branches of a parallel step are done. Later steps go on after the branch that got
// furthest.
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

// branchOf returns the prefix of all step ids in the step's branch, such as "3.left."; "" outside of branches.
func branchOf(step string) string { return step[:strings.LastIndexByte(step, '.')+1] }

// A snapshot is the state of a stream at one moment.
type snapshot struct {
	events  int             // without those outside of the sequence, such as heartbeats
	all     int             // with them
	ended   bool            // no more events can come
	changed <-chan struct{} // closed when more may have come
}

// snapshot reads the current state of a stream. For a killed process, it is the state before the kill. A comment counts
// as an event: it is compared, and many servers send one first.
func (s *stream) snapshot() snapshot {
	at := snapshot{ended: s.wire.Ended()}
	at.events, at.changed = s.wire.Count(func(ev *transcript.Event) bool {
		if s.killed && at.all == s.agreed {
			return false
		}
		at.all++
		return !s.outside(ev)
	})
	return at
}

// others says how many events came after the first ones, without comments and what is outside of the sequence.
func (s *stream) others(passed int) string {
	n, _ := s.wire.Count(func(ev *transcript.Event) bool {
		passed--
		return passed < 0 && !ev.Comment && !s.outside(ev)
	})
	switch n {
	case 0:
		return "no other " + s.rec.Wire.Noun() + " came since"
	case 1:
		return "1 other " + s.rec.Wire.Noun() + " came since"
	default:
		return fmt.Sprintf("%d other %ss came since", n, s.rec.Wire.Noun())
	}
}

// length returns how many events have come, including heartbeats and comments.
func (s *stream) length() int {
	n, _ := s.wire.Count(func(*transcript.Event) bool { return true })
	return n
}

// hangUp closes the client's side.
func (s *stream) hangUp(how func() error) {
	s.closed = true
	_ = how() // the server may have closed it first, as the record shows
}

// opened completes the exchange once the head has arrived or cannot arrive. It reports whether the response is an event
// stream.
func (s *stream) opened() (is bool, err error) {
	x, is, err := s.wire.Opened()
	if err != nil {
		return false, err
	}
	if x == nil { // a program
		return is, nil
	}
	*s.x = *x
	s.sent.mark(&s.x.Request)
	if is {
		s.x.Stream, s.rec.At, s.rec.Decoded = s.rec.Name, x.Head, s.wire.Decoded()
	}
	return is, nil
}

// record completes the stream's record. It leaves out the events, and the end, that came after the drivers' agreement.
// What is outside of the sequence stays: there must be heartbeats for as long as the stream was open.
func (s *stream) record() {
	s.wire.Record(s.rec)
	if s.agreed >= 0 && s.agreed < len(s.rec.Events) {
		late := slices.DeleteFunc(s.rec.Events[s.agreed:], func(ev transcript.Event) bool { return !s.outside(&ev) })
		s.rec.Events = s.rec.Events[:s.agreed+len(late)]
	}
	if s.closed && s.openAtAgreement {
		s.rec.Ended, s.rec.Failure = transcript.EndedByClient, nil
	}
}
