package mutate

import (
	"slices"
	"strconv"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// heartbeatOperators send wrong heartbeats. The times of heartbeats matter only where a rule says how often they must
// come. They must be late by so much more than the rule's tolerance that no pause of the machine can explain it. The
// content of a heartbeat always matters.
var heartbeatOperators = []Operator{
	changeBeats("late", "It sends heartbeats too late", func(c *cadence) [][]time.Duration {
		out := c.asSent()
		for n := range out {
			out[n][0] += c.rule.Tolerance + c.rule.Every/2
		}
		return out
	}),
	changeBeats("slow", "It sends half as many heartbeats", func(c *cadence) [][]time.Duration {
		out := c.asSent()
		for n := 1; n < len(out); n += 2 {
			out[n] = nil
		}
		return out
	}),
	changeBeats("stopped", "It stops sending heartbeats", func(c *cadence) [][]time.Duration { return c.asSent()[:len(c.beats)/2] }),
	changeBeats("gone", "It sends no heartbeats", func(c *cadence) [][]time.Duration { return nil }),
	changeBeats("early", "It sends a heartbeat immediately", func(c *cadence) [][]time.Duration {
		out := c.asSent()
		for n := range out {
			out[n][0] = 0
		}
		return out
	}),
	changeBeats("twice", "It sends each heartbeat twice", func(c *cadence) [][]time.Duration {
		out := c.asSent()
		for n := range out {
			out[n] = append(out[n], out[n][0])
		}
		return out
	}),
	changeBeats("flood", "It sends heartbeats without a pause", func(c *cadence) [][]time.Duration {
		out := c.asSent()
		last := &out[len(out)-1]
		for range 3 + int(c.rule.Tolerance/c.rule.Every) {
			*last = append(*last, (*last)[0])
		}
		return out
	}),
	eachEvent("heartbeat", "text", "It sends heartbeats with data that they should not have", func(e *event, yield emit) {
		if e.isBeat && (!e.ev.Comment || e.stream.rule.Heartbeat.Same) && e.stream.referenceBeats() {
			yield(e.mutant(" data", e.ev.Data, e.ev.Data+"x", func(ev *transcript.Event) { ev.Data += "x" }))
		}
	}),
}

// A cadence has the times of the heartbeats on a stream for which a rule sets the interval.
type cadence struct {
	rule           *streamdiff.Heartbeat
	st             *transcript.Stream
	referenceBeats bool            // the reference keeps the stream alive as well
	beats          []time.Duration // when each came, counted from the opening
}

// cadenceOf returns the cadence of a stream. It returns nil when no rule sets the interval, when there are no
// heartbeats, and when late heartbeats would prove nothing because the machine paused.
func cadenceOf(st *stream) *cadence {
	h, own := st.rule.Heartbeat, st.st
	if h == nil || h.Every == 0 || st.t.MachineDelay(own.At, own.At, own.Until+h.Tolerance+h.Every) > h.Every/maxPause {
		return nil
	}
	c := &cadence{rule: h, st: own, referenceBeats: st.referenceBeats()}
	for k := range own.Events {
		if st.isBeat(&own.Events[k]) {
			c.beats = append(c.beats, own.Events[k].At-own.At)
		}
	}
	if len(c.beats) == 0 {
		return nil
	}
	return c
}

// asSent returns, for each heartbeat, the list of its own time.
func (c *cadence) asSent() [][]time.Duration {
	out := make([][]time.Duration, len(c.beats))
	for n, at := range c.beats {
		out[n] = []time.Duration{at}
	}
	return out
}

// maxPause limits how long the machine may have paused, as a divisor of an interval.
const maxPause = 4

// isWrong reports whether heartbeats at these times are wrong even if the machine paused: one is further from its due
// time than the rule allows, or the last one is missing.
func (c *cadence) isWrong(beats [][]time.Duration) bool {
	allowed := c.rule.Tolerance + c.rule.Every/maxPause
	due, until := c.rule.First, c.st.Until-c.st.At
	n := 0
	for _, at := range slices.Concat(beats...) {
		if (at - due).Abs() > allowed {
			return true
		}
		due += c.rule.Every
		n++
	}
	return until-due > allowed || n == 0 && due == 0 && c.referenceBeats && c.st.Ended == transcript.EndedByServer
}

// changeBeats makes an operator on the heartbeats of streams with a cadence. For each heartbeat, change returns the
// times that replace it.
func changeBeats(name, doc string, change func(c *cadence) [][]time.Duration) Operator {
	return eachStream("heartbeat", name, doc, func(_ *Subject, st *stream, yield emit) {
		c := cadenceOf(st)
		if c == nil {
			return
		}
		beats := slices.Concat(change(c), make([][]time.Duration, len(c.beats)))[:len(c.beats)]
		if own := st.st; own.Ended == transcript.EndedByClient { // the client does not see what comes later
			for n := range beats {
				beats[n] = slices.DeleteFunc(beats[n], func(at time.Duration) bool { return at > own.Until-own.At })
			}
		}
		if !c.isWrong(beats) {
			return
		}
		m := st.mutant(strconv.Itoa(len(c.beats))+" beats, one each "+c.rule.Every.Round(time.Millisecond).String(), name, nil)
		m.Build = func() *transcript.Transcript { return withBeats(st, beats) }
		yield(m)
	})
}

// withBeats returns a transcript in which the heartbeats of a stream have other times. The stream stays open for the
// last of them.
func withBeats(st *stream, beats [][]time.Duration) *transcript.Transcript {
	n := 0
	was := st.st.Events
	places := make([]int, len(was)+1) // the new index of each event
	t := st.edit(func(out *transcript.Stream) {
		out.Events = nil
		for k, ev := range was {
			places[k] = len(out.Events)
			if !st.isBeat(&ev) {
				out.Events = append(out.Events, ev)
				continue
			}
			for _, at := range beats[n] {
				ev.At = out.At + at
				out.Events, out.Until = append(out.Events, ev), max(out.Until, ev.At)
			}
			n++
		}
		places[len(was)] = len(out.Events)
	})
	t.Windows = slices.Clone(t.Windows)
	for i := range t.Windows {
		if w := &t.Windows[i]; w.Stream == st.st.Name {
			w.First = places[min(w.First, len(was))]
		}
	}
	return t
}
