package compare

import (
	"strconv"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Heartbeat is what keeps a stream alive. It is not part of the sequence.
type Heartbeat struct {
	Event     string        // the event's name; "" when comments beat
	Every     time.Duration // the interval, counted from the opening; 0: whenever it likes
	Tolerance time.Duration // how early or late a beat may be
}

// Beats reports whether an event only keeps its stream alive.
func (r *Rules) Beats(stream, operation string, ev *transcript.Event) bool {
	return r.stream(stream, operation).Heartbeat.beats(ev)
}

// Labels returns what reports call the events of a stream: "event 3", "heartbeat 2". Heartbeats are counted apart,
// because how many of them come before an event is chance.
func (r *Rules) Labels(s *transcript.Stream) []string {
	return r.stream(s.Name, s.Operation).Heartbeat.labels(s)
}

// beats reports whether an event is a heartbeat.
func (h *Heartbeat) beats(ev *transcript.Event) bool {
	switch {
	case h == nil:
		return false
	case h.Event == "":
		return ev.Comment
	default:
		return !ev.Comment && ev.Name == h.Event
	}
}

func (h *Heartbeat) labels(s *transcript.Stream) []string {
	out := make([]string, len(s.Events))
	events, beats := 0, 0
	for i := range s.Events {
		if h.beats(&s.Events[i]) {
			beats++
			out[i] = "heartbeat " + strconv.Itoa(beats)
		} else {
			events++
			out[i] = "event " + strconv.Itoa(events)
		}
	}
	return out
}
