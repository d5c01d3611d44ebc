package streamdiff

import (
	"strconv"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Rules say how the events of a stream are compared.
type Rules struct {
	// Exact compares the notation of each event byte for byte, and not only its meaning to a client.
	Exact bool
	// OrderWithin is a JSONPath. Events with the same value there are compared in order, and those with different
	// values in any order. With "", all events are in order.
	OrderWithin string
	// Anchors are the names of events that no other event may pass, even if the order is free.
	Anchors   []string
	Heartbeat *Heartbeat
	// Optional are the names of events that one side may send and the other not.
	Optional []string
	// Collapse says which events are pieces of texts.
	Collapse []Collapse
	Gap      *Gap // limits the time from a request to an event; nil: no limit
	// Stderr compares the lines of standard error, too.
	Stderr bool
	// JSONRPC means that the messages are those of JSON-RPC 2.0. Responses are compared by the id of their request, in
	// any order. The ids of the server's own requests are bound to each other.
	JSONRPC bool
}

// Outside reports whether an event is not part of the sequence: lockstep has sent it, it is a heartbeat, or it is
// standard error that no rule compares.
func (r *Rules) Outside(ev *transcript.Event) bool {
	return ev.Sent || ev.Item == transcript.ItemStderr && !r.Stderr || r.Heartbeat.Is(ev)
}

// Applied is the name in Result of the rules for streams with a name or an operation.
func Applied(key string) string { return "stream " + key }

// OrderApplied is the name in Result of the rule for the order of such streams.
func OrderApplied(key string) string { return "order " + key }

// AnchorApplied is the name in Result of the rule that makes an event an anchor of such streams.
func AnchorApplied(key, event string) string { return "anchor " + key + " " + event }

// CollapseApplied is the name in Result of the rule that joins the pieces of text in an event of such streams.
func CollapseApplied(key, event string) string { return "collapse " + key + " " + event }

// Heartbeat describes the events that keep a stream alive. They are not part of the sequence.
type Heartbeat struct {
	Event string        // the event's name; "": comments
	Every time.Duration // the interval; 0: any
	// First is when the first heartbeat is due, counted from the opening. With 0 it comes with the opening. Then a
	// stream that the server ends must have one, however short it is, if the other side's has one.
	First     time.Duration
	Tolerance time.Duration // how early or late a beat may be
	// Same says that heartbeat comments must have the same text as the other side's. The data of heartbeat events is
	// always compared.
	Same bool
}

// Is reports whether an event is a heartbeat.
func (h *Heartbeat) Is(ev *transcript.Event) bool {
	switch {
	case h == nil:
		return false
	case h.Event == "":
		return ev.Comment
	default:
		return !ev.Comment && !ev.Sent && ev.Name == h.Event
	}
}

// due returns when the n-th beat is due, counted from the opening.
func (h *Heartbeat) due(n int) time.Duration { return h.First + time.Duration(n-1)*h.Every }

// Labels returns the names of a stream's events in reports: "event 3", "heartbeat 2", "sent 1". What is not part of the
// sequence is counted separately, because it is chance how much of it precedes an event.
func (r *Rules) Labels(s *transcript.Stream) []string {
	out := make([]string, len(s.Events))
	counts := map[string]int{}
	for i := range s.Events {
		noun := r.noun(s.Wire, &s.Events[i])
		counts[noun]++
		out[i] = noun + " " + strconv.Itoa(counts[noun])
	}
	return out
}

// nouns are what the events of a wire are called.
var nouns = map[transcript.Wire]string{"": "event", transcript.WireSocket: "message", transcript.WireProgram: "line"}

func (r *Rules) noun(wire transcript.Wire, ev *transcript.Event) string {
	switch {
	case ev.Sent:
		return "sent"
	case r.Heartbeat.Is(ev):
		return "heartbeat"
	case ev.Item == transcript.ItemStderr:
		return "error line"
	}
	return nouns[wire]
}

// Collapse says which events are pieces of a text that a server may split as it likes. A run is a series of such
// events, one after the other within their correlation key. It counts as one event with the whole text. If two events
// differ in anything else, one run ends and another begins.
type Collapse struct {
	Event string   // the name of the events
	By    []string // JSONPaths of what the pieces of one text have in common; each must select one value
	Text  string   // the JSONPath of the piece of text
}

// Gap limits the time between an action of the client and the events that follow from it. Heartbeats have a cadence
// instead.
type Gap struct {
	Max       time.Duration // the longest on each side; 0: no limit
	Tolerance time.Duration // the largest difference between the sides; 0: no limit
}
