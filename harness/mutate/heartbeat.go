package mutate

import (
	"slices"
	"strconv"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// heartbeatOperators keep a stream alive otherwise than they should. When beats come matters only where a rule says how
// often; what they are always does.
var heartbeatOperators = []Operator{
	cadence("late", "It beats too late", func(h *compare.Heartbeat, ev *transcript.Event, _, _ int) bool {
		ev.At += h.Tolerance + h.Every/2 // which is more than what a machine that stood still is granted
		return true
	}),
	cadence("slow", "It beats half as often", func(_ *compare.Heartbeat, _ *transcript.Event, n, _ int) bool { return n%2 == 1 }),
	cadence("stopped", "It stops beating", func(_ *compare.Heartbeat, _ *transcript.Event, n, of int) bool { return n < of/2 }),
	cadence("gone", "It does not beat", func(*compare.Heartbeat, *transcript.Event, int, int) bool { return false }),
	cadence("early", "It beats at once", func(_ *compare.Heartbeat, ev *transcript.Event, _, _ int) bool {
		ev.At = 0
		return true
	}),
	operator("heartbeat", "text", "It beats with data that the event should not have", func(s *Subject, _ uint64, yield emit) {
		s.events(func(o *occurrence) bool {
			if !o.beat || o.ev.Comment && !s.rule(o.st).Heartbeat.Same || !s.beatsToo(o) {
				return true
			}
			return yield(s.eventMutant(o, " data", o.ev.Data, o.ev.Data+"x", func(ev *transcript.Event) { ev.Data += "x" }))
		})
	}),
}

// beatsToo reports whether the reference keeps the stream of an event alive as well.
func (s *Subject) beatsToo(o *occurrence) bool {
	return o.refStream != nil && len(s.sequence(o.refStream)) < len(o.refStream.Events)
}

// cadence makes an operator on the beats of a stream whose cadence a rule demands: keep may change a beat, and says
// whether it is there.
func cadence(name, doc string, keep func(h *compare.Heartbeat, ev *transcript.Event, n, of int) bool) Operator {
	return operator("heartbeat", name, doc, func(s *Subject, _ uint64, yield emit) {
		for i, st := range s.Candidate.Streams {
			h := s.rule(st).Heartbeat
			if h == nil || h.Every == 0 || s.Candidate.Excuse(st.At, st.Until) > h.Every/4 { // then a beat that is out of time proves nothing
				continue
			}
			beats := len(st.Events) - len(s.sequence(st))
			if beats == 0 {
				continue
			}
			build := func() *transcript.Transcript {
				n := 0
				return s.withEvents(i, -1, 0, func(all []transcript.Event) []transcript.Event {
					return slices.DeleteFunc(all, func(ev transcript.Event) bool {
						if !s.Rules.Beats(st.Name, st.Operation, &ev) {
							return false
						}
						n++
						return !keep(h, &ev, n-1, beats)
					})
				})
			}
			if name == "late" || name == "early" {
				build = func() *transcript.Transcript {
					return s.withStream(i, func(c *transcript.Stream) {
						for k := range c.Events {
							if s.Rules.Beats(st.Name, st.Operation, &c.Events[k]) {
								keep(h, &c.Events[k], 0, beats)
								c.Events[k].At = max(c.Events[k].At, st.At)
							}
						}
					})
				}
			}
			if !yield(Mutant{
				Place: "stream " + st.Name, Before: strconv.Itoa(beats) + " beats, one each " + h.Every.Round(time.Millisecond).String(),
				After: name, site: site{step: st.Step, stream: st}, Build: build,
			}) {
				return
			}
		}
	})
}
