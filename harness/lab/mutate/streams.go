package mutate

import (
	"slices"
	"strconv"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/match"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// endOperators end a stream in another way.
var endOperators = []Operator{
	changeEnding("server", "It ends a stream that its client would still read", transcript.EndedByClient, func(st *transcript.Stream) {
		st.Ended = transcript.EndedByServer
	}),
	changeEnding("client", "It leaves a stream open that it should end", transcript.EndedByServer, func(st *transcript.Stream) {
		st.Ended = transcript.EndedByClient
	}),
	changeEnding("broken", "It breaks a stream", "", func(st *transcript.Stream) {
		st.Ended = transcript.EndedBroken
		st.Failure = &transcript.Failure{Kind: transcript.FailClosed, Phase: transcript.PhaseBody, Text: "the connection ended before the body did"}
	}),
	changeEnding("reset", "It resets the connection of a stream", "", func(st *transcript.Stream) {
		st.Ended = transcript.EndedBroken
		st.Failure = &transcript.Failure{Kind: transcript.FailReset, Phase: transcript.PhaseBody, Text: "the connection was reset"}
	}),
	each("end", "none", "It answers with an empty body instead of a stream", (*Subject).responses, func(e *exchange, yield emit) {
		name := e.x.Stream
		if name == "" || e.x.Response.Status == 101 {
			return
		}
		yield(e.s.mutant(e.site(), e.where+" body", "an event stream", "an empty body", func(t *transcript.Transcript) {
			e.stepIn(t).Exchanges[e.index].Stream = ""
			t.Streams = slices.DeleteFunc(t.Streams, func(st *transcript.Stream) bool { return st.Name == name })
		}))
	}),
	operator("end", "exit", "It exits", func(s *Subject, _ uint64, yield emit) {
		yield(s.mutant(site{}, "process", "it goes on", "exit status 2", func(t *transcript.Transcript) {
			t.Exit = &transcript.Exit{Status: "exit status 2", At: t.Took}
		}))
	}),
}

// changeEnding makes an operator on streams that ended in this way; "" means any way.
func changeEnding(name, doc string, ended transcript.Ending, change func(*transcript.Stream)) Operator {
	return each("end", name, doc, (*Subject).streams, func(st *stream, yield emit) {
		own := st.st
		if ended != "" && own.Ended != ended || own.Ended == transcript.EndedBroken || killedBefore(st.s.Candidate, own.Until) {
			return
		}
		if ended == "" && own.Wire == transcript.WireProgram { // it has no connection, and an exit of its own
			return
		}
		m := st.mutant("ended by the "+string(own.Ended), name, change)
		m.Place += " end"
		yield(m)
	})
}

// killedBefore reports whether, by that time, a step had killed the process and no step had restarted it. Then the
// server does not decide how a stream ends.
func killedBefore(t *transcript.Transcript, at time.Duration) bool {
	killed := false
	for i := range t.Steps {
		st := &t.Steps[i]
		switch {
		case st.At > at:
			return killed
		case st.Kind == "kill" && st.Process != nil:
			killed = true
		case st.Kind == "restart" && st.At+st.Took < at:
			killed = false
		}
	}
	return killed
}

// processOperators let a process exit or start in a wrong way when a step demands it.
var processOperators = []Operator{
	processStep("exit-status", "It exits with another status when it is asked to end", isTerminated, func(st *transcript.Step) string {
		after := "exit status 1"
		if st.Process.Status == after {
			after = "exit status 0"
		}
		st.Process = &transcript.ProcessEnd{Signal: st.Process.Signal, Status: after, Took: st.Process.Took}
		return after
	}),
	processStep("never-ends", "It does not end when it is asked to", isTerminated, func(st *transcript.Step) string {
		const after = "still running after SIGTERM"
		st.Unmet = &transcript.Unmet{Kind: "exit", What: st.Process.Status, Why: after}
		st.Process = &transcript.ProcessEnd{Signal: st.Process.Signal, Took: st.Process.Took}
		return after
	}),
	processStep("not-again", "It does not start again", func(st *transcript.Step) bool { return st.Kind == "restart" }, func(st *transcript.Step) string {
		const after = "exited before it was ready: exit status 1"
		st.Unmet = &transcript.Unmet{Kind: "restart", What: "the target to be ready again", Why: after}
		return after
	}),
}

// isTerminated reports whether a step has asked the process to exit. A process that is killed cannot choose its exit
// status.
func isTerminated(st *transcript.Step) bool {
	return st.Process != nil && st.Process.Signal == "SIGTERM"
}

// processStep makes an operator on steps that end or start a process. change returns the new value, for lists.
func processStep(name, doc string, is func(*transcript.Step) bool, change func(*transcript.Step) string) Operator {
	return eachStep("process", name, doc, func(s *Subject, i int, yield emit) {
		st := s.Candidate.Steps[i]
		if st.Skipped != "" || st.Unmet != nil || !is(&st) {
			return
		}
		before := "it is ready again"
		if st.Process != nil {
			before = st.Process.Status
		}
		after := change(&st)
		yield(s.mutant(site{step: st.ID}, "step "+st.ID+" process", before, after, func(t *transcript.Transcript) { t.Steps[i] = st }))
	})
}

// eachStep makes an operator from a function that is called with the index of every step.
func eachStep(family, name, doc string, change func(s *Subject, i int, yield emit)) Operator {
	return operator(family, name, doc, func(s *Subject, _ uint64, yield emit) {
		for i := range s.Candidate.Steps {
			change(s, i, yield)
		}
	})
}

// lateOperators do something too late, or at a time when it must not happen.
var lateOperators = []Operator{
	eachStep("late", "event", "It sends an event after the time limit of the step that waits for it", func(s *Subject, i int, yield emit) {
		st := &s.Candidate.Steps[i]
		if st.Kind != "await" || len(st.Events) == 0 || st.Unmet != nil {
			return
		}
		before := "found event " + strconv.Itoa(st.Events[0]+1)
		yield(s.mutant(site{step: st.ID}, "step "+st.ID, before, "no event within the bound", func(t *transcript.Transcript) {
			t.Steps[i].Events, t.Steps[i].Unmet = nil, &transcript.Unmet{Kind: "event", What: "the event", Why: "not within the bound"}
		}))
	}),
	timedOut("answer", "It does not answer within the time limit", transcript.PhaseHead),
	timedOut("body", "It does not end its response within the time limit", transcript.PhaseBody),
	operator("late", "silence", "It repeats an event at a forbidden moment", func(s *Subject, _ uint64, yield emit) {
		for i := range s.Candidate.Windows {
			w := &s.Candidate.Windows[i]
			for st := range s.streams() {
				if st.st.Name == w.Stream {
					insertForbidden(st, w, yield)
				}
			}
		}
	}),
	each("late", "gap", "It sends an event later than a rule allows", contentEvents, func(e *event, yield emit) {
		gap := e.stream.rule.Gap
		if gap == nil || e.ref == nil || e.stream.st.Ended == transcript.EndedBroken {
			return
		}
		by := 2*max(gap.Max, gap.Tolerance) + time.Second
		for _, t := range [...]*transcript.Transcript{e.stream.s.Candidate, e.stream.s.Reference} {
			by += t.MachineDelay(0, 0, t.Took)
		}
		yield(e.withEvents("later by "+by.String(), 0, func(all []transcript.Event) []transcript.Event {
			for i := e.index; i < len(all); i++ {
				all[i].At += by
			}
			return all
		}))
	}),
}

func timedOut(name, doc string, phase transcript.Phase) Operator {
	return each("late", name, doc, (*Subject).responses, func(e *exchange, yield emit) {
		if e.x.Stream != "" {
			return
		}
		yield(e.mutant("", "answered", "timed out in the "+string(phase), func(x *transcript.Exchange) {
			x.Failure = &transcript.Failure{Kind: transcript.FailTimeout, Phase: phase, Text: "nothing came within the bound"}
			if phase == transcript.PhaseHead {
				x.Response, x.Head = nil, 0
			}
		}))
	})
}

// insertForbidden yields the mutants in which an event from before a window comes again inside the window, where it
// must not.
func insertForbidden(st *stream, w *transcript.Window, yield emit) {
	for k := range min(w.First, len(st.st.Events)) {
		ev := st.st.Events[k]
		if w.Match != nil && !match.Event(w.Match, &ev) || ev.Comment || isEnd(&ev) || st.isBeat(&ev) || st.isFixed(&ev) {
			continue
		}
		at := site{step: w.Step, stream: st.st, event: &st.st.Events[k]}
		yield(st.s.mutant(at, "step "+w.Step, "", excerpt(ev.Name+" "+ev.Data), func(t *transcript.Transcript) {
			out := t.Streams[st.index]
			out.Events = insertAt(out.Events, ev, w.First, (w.From+w.To)/2)
		}))
	}
}

// insertAt inserts an event at a time, but not before an index.
func insertAt(events []transcript.Event, ev transcript.Event, first int, at time.Duration) []transcript.Event {
	i := first
	for i < len(events) && events[i].At <= at {
		i++
	}
	ev.At = at
	return slices.Insert(events, i, ev)
}

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
	each("heartbeat", "text", "It sends heartbeats with data that they should not have", (*Subject).events, func(e *event, yield emit) {
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
	if h == nil || h.Every == 0 || st.s.Candidate.MachineDelay(own.At, own.At, own.Until+h.Tolerance+h.Every) > h.Every/maxPause {
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
	return each("heartbeat", name, doc, (*Subject).streams, func(st *stream, yield emit) {
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
		before := strconv.Itoa(len(c.beats)) + " beats, one each " + c.rule.Every.Round(time.Millisecond).String()
		yield(st.s.mutant(st.site(), "stream "+st.st.Name, before, name, func(t *transcript.Transcript) { setBeats(t, st, beats) }))
	})
}

// setBeats gives the heartbeats of a stream other times. The stream stays open for the last of them.
func setBeats(t *transcript.Transcript, st *stream, beats [][]time.Duration) {
	was, out := st.st.Events, t.Streams[st.index]
	places := make([]int, len(was)+1) // the new index of each event
	out.Events = nil
	for k, ev := range was {
		places[k] = len(out.Events)
		if !st.isBeat(&ev) {
			out.Events = append(out.Events, ev)
			continue
		}
		for _, at := range beats[0] {
			ev.At = out.At + at
			out.Events, out.Until = append(out.Events, ev), max(out.Until, ev.At)
		}
		beats = beats[1:]
	}
	places[len(was)] = len(out.Events)
	for i := range t.Windows {
		if w := &t.Windows[i]; w.Stream == out.Name {
			w.First = places[min(w.First, len(was))]
		}
	}
}
