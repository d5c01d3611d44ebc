package compare

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

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

// Beats reports whether an event is a heartbeat, and so only keeps its stream alive.
func (r *Rules) Beats(stream, operation string, ev *transcript.Event) bool {
	return r.stream(stream, operation).Heartbeat.is(ev)
}

// Labels returns the names of a stream's events in reports: "event 3", "heartbeat 2". Heartbeats are counted
// separately, because it is chance how many of them precede an event.
func (r *Rules) Labels(s *transcript.Stream) []string {
	return r.stream(s.Name, s.Operation).Heartbeat.labels(s)
}

// is reports whether an event is a heartbeat.
func (h *Heartbeat) is(ev *transcript.Event) bool {
	switch {
	case h == nil:
		return false
	case h.Event == "":
		return ev.Comment
	default:
		return !ev.Comment && ev.Name == h.Event
	}
}

// due returns when the n-th beat is due, counted from the opening.
func (h *Heartbeat) due(n int) time.Duration { return h.First + time.Duration(n-1)*h.Every }

func (h *Heartbeat) labels(s *transcript.Stream) []string {
	out := make([]string, len(s.Events))
	events, beats := 0, 0
	for i := range s.Events {
		if h.is(&s.Events[i]) {
			beats++
			out[i] = "heartbeat " + strconv.Itoa(beats)
		} else {
			events++
			out[i] = "event " + strconv.Itoa(events)
		}
	}
	return out
}

// beats compares heartbeats.
type beats struct{ *streams }

// openingBeat reports a stream that the server ended without a heartbeat, if the other side has the one that comes with
// the opening. If neither side has one, that may be right: an error is sent at once, so nothing has to be kept alive.
func (s beats) openingBeat() {
	h := s.rule.Heartbeat
	if h == nil || h.Every == 0 || h.First > 0 {
		return
	}
	var first [2]int
	shown := [2]diff.Excerpt{diff.ShowSome(""), diff.ShowSome("")}
	for side, stream := range s.sides {
		first[side] = slices.IndexFunc(stream.Events, func(ev transcript.Event) bool { return h.is(&ev) })
		if i := first[side]; i >= 0 {
			shown[side] = showEvent(&stream.Events[i])
		}
	}
	for side, stream := range s.sides {
		if first[side] < 0 && first[1-side] >= 0 && stream.Ended == transcript.EndedByServer {
			s.report(diff.Difference{
				Reason: diff.Because(diff.HeartbeatDiffers, diff.NoOpeningHeartbeat, diff.Side(side)), Events: first, At: diff.At{Message: "heartbeat 1", Contract: "event"},
				Ref: shown[0], Cand: shown[1], Fingerprint: diff.Digest("opening", diff.Side(side).String()),
			})
		}
	}
}

// compareBeats compares the contents of heartbeats. Each of the candidate's must be like one of the reference's, apart
// from generated values, and from numbers, which may be counters. It does not compare how many there are.
func (s beats) compareBeats() {
	h := s.rule.Heartbeat
	if h == nil || h.Event == "" && !h.Same {
		return
	}
	var beats [2][]item
	for side, stream := range s.sides {
		labels := h.labels(stream)
		for i := range stream.Events {
			if ev := &stream.Events[i]; h.is(ev) {
				beats[side] = append(beats[side], item{index: i, label: labels[i], event: ev, name: eventName(ev), key: s.beatKey(side, ev)})
			}
		}
	}
	if len(beats[0]) == 0 {
		return
	}
	known := map[string]bool{}
	for _, b := range beats[0] {
		known[b.key] = true
	}
	for _, b := range beats[1] {
		if !known[b.key] {
			first := beats[0][0]
			s.report(diff.Difference{
				Reason: diff.Because(diff.HeartbeatDiffers, diff.HeartbeatUnknown), Events: [2]int{first.index, b.index}, At: diff.At{Message: eventPlace(&b), Contract: "event data"},
				Ref: showEvent(first.event), Cand: showEvent(b.event), Fingerprint: diff.Digest(first.key, b.key),
			})
			return
		}
	}
}

// beatKey describes a heartbeat without what may change from one to the next.
func (s beats) beatKey(side int, ev *transcript.Event) string {
	framing := ""
	if s.rule.Exact {
		framing = ev.Framing
	}
	_, defects, _ := eventContent(ev).Read(s.Docs)
	return withoutNumbers(fmt.Sprintf(
		"%s %q %q %t %t %t %s %v", eventName(ev), eventType(ev), framing, ev.Undispatched, ev.ID != "", ev.Retry != "", sequences(s).key(s.IDs, side, ev), defects,
	))
}
