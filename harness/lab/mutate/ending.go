package mutate

import (
	"slices"
	"time"

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
	eachResponse("end", "none", "It answers with an empty body instead of a stream", func(_ *Subject, r *response, yield emit) {
		name := r.x.Stream
		if name == "" {
			return
		}
		m := r.mutant("body", "an event stream", "an empty body", nil)
		m.Build = func() *transcript.Transcript {
			t := r.edit(func(x *transcript.Exchange) { x.Stream = "" })
			t.Streams = slices.DeleteFunc(slices.Clone(t.Streams), func(st *transcript.Stream) bool { return st.Name == name })
			return t
		}
		yield(m)
	}),
	operator("end", "exit", "It exits", func(s *Subject, _ uint64, yield emit) {
		yield(Mutant{
			Place: "process", Before: "it goes on", After: "exit status 2",
			Build: func() *transcript.Transcript {
				t := *s.Candidate
				t.Exit = &transcript.Exit{Status: "exit status 2", At: t.Took}
				return &t
			},
		})
	}),
}

// changeEnding makes an operator on streams that ended in this way; "" means any way.
func changeEnding(name, doc string, ended transcript.Ending, change func(*transcript.Stream)) Operator {
	return eachStream("end", name, doc, func(_ *Subject, st *stream, yield emit) {
		own := st.st
		if ended != "" && own.Ended != ended || own.Ended == transcript.EndedBroken || killedBefore(st.t, own.Until) {
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
	return operator("process", name, doc, func(s *Subject, _ uint64, yield emit) {
		for i := range s.Candidate.Steps {
			st := &s.Candidate.Steps[i]
			if st.Skipped != "" || st.Unmet != nil || !is(st) {
				continue
			}
			before := "it is ready again"
			if st.Process != nil {
				before = st.Process.Status
			}
			changed := *st
			after := change(&changed)
			yield(Mutant{
				Place: "step " + st.ID + " process", Before: before, After: after, site: site{step: st.ID},
				Build: func() *transcript.Transcript {
					return editStep(s.Candidate, i, func(st *transcript.Step) { change(st) })
				},
			})
		}
	})
}
