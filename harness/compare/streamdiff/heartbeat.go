package streamdiff

import (
	"fmt"
	"slices"
	"strconv"
	"time"

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
		labels := s.Rules.Labels(stream)
		for i := range stream.Events {
			if ev := &stream.Events[i]; h.Is(ev) {
				beats[side] = append(beats[side], item{index: i, label: labels[i], event: ev, name: ev.Label(), key: s.beatKey(side, ev)})
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
	return ident.WithoutNumbers(fmt.Sprintf(
		"%s %q %q %t %t %t %s %v", ev.Label(), eventType(ev), framing, ev.Undispatched, ev.ID != "", ev.Retry != "", s.sequences.key(s.IDs.Skeletons(), side, ev), s.Data.Defects(ev),
	))
}

// A rule says when the heartbeats of a stream are due. Each one is compared with its own due time. A server that was
// kept waiting may send all the heartbeats that it has missed at once. But none may come before it is due, so there are
// never too many.

// ExcusedBeats is why a heartbeat at the wrong time is not a finding.
const ExcusedBeats = "heartbeats that were out of time by no more than the machine was busy"

// What is wrong with an OffBeat.
const (
	BeatLate    = "late"
	BeatEarly   = "early"
	BeatMissing = "missing"
)

// An OffBeat is a heartbeat at the wrong time, or one that did not come.
type OffBeat struct {
	Kind  string
	Event int // -1 for one that did not come
	Place string
	Want  string
	Got   string
	Text  string // one sentence
}

// Cadence returns the first heartbeat at the wrong time; nil when there is none. Delays of the machine extend the
// tolerance. excused counts the heartbeats that needed that.
func Cadence(t *transcript.Transcript, s *transcript.Stream, h *Heartbeat) (f *OffBeat, excused int) {
	n := 0
	for i := range s.Events {
		if !h.Is(&s.Events[i]) {
			continue
		}
		n++
		due, came := h.due(n), s.Events[i].At-s.At
		stalled := t.MachineDelay(s.At, s.At+due, s.Events[i].At)
		f := &OffBeat{
			Event: i, Place: "heartbeat " + strconv.Itoa(n),
			Want: fmt.Sprintf("%s after the opening, give or take %s", due, h.Tolerance) + stallNote(stalled),
			Got:  came.Round(time.Millisecond).String(),
		}
		switch {
		case came > due+h.Tolerance+stalled:
			f.Kind, f.Text = BeatLate, "a heartbeat came late"
			return f, excused
		case came < due-h.Tolerance-stalled:
			f.Kind, f.Text = BeatEarly, "a heartbeat came early"
			return f, excused
		case (came - due).Abs() > h.Tolerance:
			excused++
		}
	}
	stalled := t.MachineDelay(s.At, s.At+h.due(n+1), s.Until)
	if wanted := h.minBeats(s, stalled); n < wanted {
		return &OffBeat{
			Kind: BeatMissing, Event: -1, Place: "heartbeat " + strconv.Itoa(n+1),
			Want: fmt.Sprintf("%d in %s", wanted, (s.Until-s.At).Round(time.Millisecond)) + stallNote(stalled), Got: strconv.Itoa(n),
			Text: "a heartbeat did not come",
		}, excused
	}
	return nil, excused + max(0, h.minBeats(s, 0)-n)
}

// minBeats returns how many heartbeats a stream must have had when it ended, on a machine that may have delayed them.
func (h *Heartbeat) minBeats(s *transcript.Stream, stalled time.Duration) int {
	overdue := s.Until - s.At - h.First - h.Tolerance - stalled
	if overdue < 0 {
		return 0
	}
	return 1 + int(overdue/h.Every)
}

// stallNote says by how much a bound was extended.
func stallNote(stalled time.Duration) string {
	if stalled == 0 {
		return ""
	}
	return fmt.Sprintf("%s%s, because this machine stalled that long", StallPrefix, stalled.Round(time.Millisecond))
}

// StallPrefix separates a bound from its extension.
const StallPrefix = "; plus up to "
