package run

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A recording is the transcript of a reference that does not run now. It is empty when all targets run.
type recording struct{ *transcript.Transcript }

// streamEnded reports whether the server ended a stream of that name.
func (r recording) streamEnded(name string) bool {
	return slices.ContainsFunc(r.Streams, func(s *transcript.Stream) bool {
		return s.Name == name && s.Ended == transcript.EndedByServer
	})
}

// events returns the number of events on streams of that name, without those outside of the sequence.
func (r recording) events(name string, outside func(*transcript.Event) bool) int {
	n := 0
	for _, s := range r.Streams {
		for i := range s.Events {
			if s.Name == name && !outside(&s.Events[i]) {
				n++
			}
		}
	}
	return n
}

// answered reports whether a started request had a response when a step cancelled it.
func (r recording) answered(name string, steps []scenario.Step) bool {
	for i := range steps {
		if do, ok := steps[i].Do.(*scenario.Hangup); !ok || do.Name != name {
			continue
		}
		return slices.ContainsFunc(r.Steps, func(s transcript.Step) bool {
			return s.ID == steps[i].ID && len(s.Exchanges) == 1 && s.Exchanges[0].Failure == nil
		})
	}
	return false
}

// upstreamCounts returns how many requests each rule has answered, and how many hanging responses the target has
// disconnected from. With toMCP, it returns how many messages of each method MCP servers have received. outside is
// Options.Outside.
func (r recording) upstreamCounts(toMCP bool, outside func(stream, operation string, ev *transcript.Event) bool) requestCounts {
	n := requestCounts{}
	for _, s := range r.Streams {
		if toMCP || !s.Stub {
			continue
		}
		n[s.Name+messages] = r.events(s.Name, func(ev *transcript.Event) bool { return outside(s.Name, "", ev) })
		if s.Ended == transcript.EndedByServer || s.Ended == transcript.EndedBroken {
			n[s.Name+letGo] = 1
		}
	}
	for i := range r.Upstream {
		s := &r.Upstream[i]
		if s.ToMCP() != toMCP {
			continue
		}
		n[s.ID] = len(s.Exchanges)
		for _, x := range s.Exchanges {
			if x.Hangs && x.Failure != nil {
				n[s.ID+letGo]++
			}
		}
	}
	return n
}

// requestCounts counts requests to upstreams. The key is the id of the step that records them.
type requestCounts map[string]int

// letGo is appended to a step's id to count the hanging responses that the target has disconnected from.
const letGo = " let go"

// covers reports whether each count is at least as high as in others.
func (c requestCounts) covers(others requestCounts) bool {
	for id, n := range others {
		if c[id] < n {
			return false
		}
	}
	return true
}

func (c requestCounts) equal(others requestCounts) bool { return c.covers(others) && others.covers(c) }
