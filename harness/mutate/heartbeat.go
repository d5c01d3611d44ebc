package mutate

import (
	"slices"
	"strconv"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// heartbeatOperators keep a stream alive otherwise than they should. When beats come matters only where a rule says how
// often, and by as much more than its tolerance that no machine which stood still makes up for it; what they are always
// does.
var heartbeatOperators = []Operator{
	cadence("late", "It beats too late", func(c *cadenced) [][]time.Duration {
		out := c.as()
		for n := range out {
			out[n][0] += c.rule.Tolerance + c.rule.Every/2
		}
		return out
	}),
	cadence("slow", "It beats half as often", func(c *cadenced) [][]time.Duration {
		out := c.as()
		for n := 1; n < len(out); n += 2 {
			out[n] = nil
		}
		return out
	}),
	cadence("stopped", "It stops beating", func(c *cadenced) [][]time.Duration { return c.as()[:len(c.beats)/2] }),
	cadence("gone", "It does not beat", func(c *cadenced) [][]time.Duration { return nil }),
	cadence("early", "It beats at once", func(c *cadenced) [][]time.Duration {
		out := c.as()
		for n := range out {
			out[n][0] = 0
		}
		return out
	}),
	cadence("twice", "It sends each beat twice", func(c *cadenced) [][]time.Duration {
		out := c.as()
		for n := range out {
			out[n] = append(out[n], out[n][0])
		}
		return out
	}),
	cadence("flood", "It beats again and again, without a pause", func(c *cadenced) [][]time.Duration {
		out := c.as()
		for range 3 + int(c.rule.Tolerance/c.rule.Every) {
			out[len(out)-1] = append(out[len(out)-1], out[len(out)-1][0])
		}
		return out
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
func (s *Subject) beatsToo(o *occurrence) bool { return o.refStream != nil && s.beats(o.refStream) }

// beats reports whether a stream has heartbeats.
func (s *Subject) beats(st *transcript.Stream) bool { return len(s.sequence(st)) < len(st.Events) }

// A cadenced stream is one whose beats a rule wants at certain moments.
type cadenced struct {
	rule  *compare.Heartbeat
	st    *transcript.Stream
	both  bool            // the reference keeps the stream alive as well
	beats []time.Duration // when each came, counted from the opening
}

// as returns the beats as they were: of each, when it came.
func (c *cadenced) as() [][]time.Duration {
	out := make([][]time.Duration, len(c.beats))
	for n, at := range c.beats {
		out[n] = []time.Duration{at}
	}
	return out
}

// granted is the part of an interval for which a machine may have stood still.
const granted = 4

// tells reports whether a client can tell that beats which came at these moments are wrong, whatever its machine did: one is
// further from when it was due than the rule allows, or one that was due is not there at the end.
func (c *cadenced) tells(beats [][]time.Duration) bool {
	most := c.rule.Tolerance + c.rule.Every/granted
	due, until := c.rule.First, c.st.Until-c.st.At
	n := 0
	for _, at := range slices.Concat(beats...) {
		if (at - due).Abs() > most {
			return true
		}
		due += c.rule.Every
		n++
	}
	return until-due > most || n == 0 && due == 0 && c.both && c.st.Ended == transcript.EndedByServer
}

// cadence makes an operator on the beats of a stream whose cadence a rule demands: change returns for each of them when it
// comes in its place, if ever.
func cadence(name, doc string, change func(c *cadenced) [][]time.Duration) Operator {
	return operator("heartbeat", name, doc, func(s *Subject, _ uint64, yield emit) {
		for i, st := range s.Candidate.Streams {
			c := s.cadenced(st)
			if c == nil {
				continue
			}
			beats := slices.Concat(change(c), make([][]time.Duration, len(c.beats)))[:len(c.beats)]
			if st.Ended == transcript.EndedByClient { // which does not see what comes later
				for n := range beats {
					beats[n] = slices.DeleteFunc(beats[n], func(at time.Duration) bool { return at > st.Until-st.At })
				}
			}
			if c.tells(beats) && !yield(Mutant{
				Place: "stream " + st.Name, Before: strconv.Itoa(len(c.beats)) + " beats, one each " + c.rule.Every.Round(time.Millisecond).String(),
				After: name, site: site{step: st.Step, stream: st}, Build: func() *transcript.Transcript { return s.beating(i, beats) },
			}) {
				return
			}
		}
	})
}

// cadenced returns the beats of a stream, if there are some and a rule says when they should come; nil where beats that are
// out of time prove nothing, because the machine stood still.
func (s *Subject) cadenced(st *transcript.Stream) *cadenced {
	h := s.rule(st).Heartbeat
	if h == nil || h.Every == 0 || s.Candidate.Excuse(st.At, st.At, st.Until+h.Tolerance+h.Every) > h.Every/granted {
		return nil
	}
	c := &cadenced{rule: h, st: st}
	for _, ref := range s.Reference.Streams {
		c.both = c.both || ref.Name == st.Name && s.beats(ref)
	}
	for k := range st.Events {
		if s.Rules.Beats(st.Name, st.Operation, &st.Events[k]) {
			c.beats = append(c.beats, st.Events[k].At-st.At)
		}
	}
	if len(c.beats) == 0 {
		return nil
	}
	return c
}

// beating returns a transcript in which a stream beats at other moments. It is open for as long as something comes.
func (s *Subject) beating(stream int, beats [][]time.Duration) *transcript.Transcript {
	n := 0
	was := s.Candidate.Streams[stream].Events
	places := make([]int, len(was)+1) // where each event stands then
	t := s.withStream(stream, func(st *transcript.Stream) {
		st.Events = nil
		for k, ev := range was {
			places[k] = len(st.Events)
			if !s.Rules.Beats(st.Name, st.Operation, &ev) {
				st.Events = append(st.Events, ev)
				continue
			}
			for _, at := range beats[n] {
				ev.At = st.At + at
				st.Events, st.Until = append(st.Events, ev), max(st.Until, ev.At)
			}
			n++
		}
		places[len(was)] = len(st.Events)
	})
	t.Windows = slices.Clone(t.Windows)
	for i := range t.Windows {
		if w := &t.Windows[i]; w.Stream == t.Streams[stream].Name {
			w.First = places[min(w.First, len(was))]
		}
	}
	return t
}
