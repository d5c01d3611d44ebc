package streamdiff

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// items returns the events of a side without its heartbeats.
func (s *sequences) items(side int) []item {
	var out []item
	beats := 0
	labels := s.Rules.Heartbeat.Labels(s.Sides[side])
	for i := range s.Sides[side].Events {
		ev := &s.Sides[side].Events[i]
		if s.Rules.Heartbeat.Is(ev) {
			beats++
			continue
		}
		it := item{index: i, label: labels[i], event: ev, name: s.JSON.IDs.Skeletons().Of(side, EventName(ev))}
		it.key, it.outline = s.keys(side, ev)
		out = append(out, it)
	}
	if side == 0 {
		s.NotCompared("heartbeats, which are checked for their cadence", beats)
	}
	if h := s.Rules.Heartbeat; h != nil && h.Every > 0 {
		_, excused := Cadence(s.Runs[side], s.Sides[side], h)
		s.NotCompared(ExcusedBeats, excused)
	}
	return out
}

// keys returns two descriptions of an event: with the names of the ids that have partners, and without any names.
func (s *sequences) keys(side int, ev *transcript.Event) (key, outline string) {
	outline = s.key(s.JSON.IDs.Skeletons(), side, ev)
	if !strings.Contains(outline, "‹") { // there are no generated values
		return outline, outline
	}
	return s.key(s.JSON.IDs.NamedSkeletons(), side, ev), outline
}

// key describes an event without its generated values. It tells ids apart if the skeletons do.
func (s *sequences) key(skeletons ident.Skeletons, side int, ev *transcript.Event) string {
	key := s.JSON.OutlineBy(skeletons, side, EventContent(ev), s.Volatile)
	// The data often contains the event's name, too. A different name has a cost of its own, so the key leaves it out.
	return strings.ReplaceAll(key, jsondiff.Quoted(ev.Name), jsondiff.Quoted("‹name›"))
}
