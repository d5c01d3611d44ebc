package streamdiff

import (
	"fmt"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// beats compares heartbeats.
type beats struct {
	*Recordings
	sequences *sequences
}

// openingBeat reports a stream that the server ended without a heartbeat, if the other side has the one that comes with
// the opening. If neither side has one, that may be right: an error is sent at once, so nothing has to be kept alive.
func (s beats) openingBeat() {
	h := s.Rules.Heartbeat
	if h == nil || h.Every == 0 || h.First > 0 {
		return
	}
	var first [2]int
	shown := [2]diff.Excerpt{diff.ShowSome(""), diff.ShowSome("")}
	for side, stream := range s.Sides {
		first[side] = slices.IndexFunc(stream.Events, func(ev transcript.Event) bool { return h.Is(&ev) })
		if i := first[side]; i >= 0 {
			shown[side] = ShowEvent(&stream.Events[i])
		}
	}
	for side, stream := range s.Sides {
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
	h := s.Rules.Heartbeat
	if h == nil || h.Event == "" && !h.Same {
		return
	}
	var beats [2][]item
	for side, stream := range s.Sides {
		labels := h.Labels(stream)
		for i := range stream.Events {
			if ev := &stream.Events[i]; h.Is(ev) {
				beats[side] = append(beats[side], item{index: i, label: labels[i], event: ev, name: EventName(ev), key: s.beatKey(side, ev)})
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
				Ref: ShowEvent(first.event), Cand: ShowEvent(b.event), Fingerprint: diff.Digest(first.key, b.key),
			})
			return
		}
	}
}

// beatKey describes a heartbeat without what may change from one to the next.
func (s beats) beatKey(side int, ev *transcript.Event) string {
	framing := ""
	if s.Rules.Exact {
		framing = ev.Framing
	}
	_, defects, _ := EventContent(ev).Read(s.JSON.Docs)
	return ident.WithoutNumbers(fmt.Sprintf(
		"%s %q %q %t %t %t %s %v", EventName(ev), eventType(ev), framing, ev.Undispatched, ev.ID != "", ev.Retry != "", s.sequences.key(s.JSON.IDs.Skeletons(), side, ev), defects,
	))
}
