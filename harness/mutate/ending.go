package mutate

import (
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// endOperators end a stream otherwise.
var endOperators = []Operator{
	ending("server", "It ends a stream that its client would still read", transcript.EndedByClient, func(st *transcript.Stream) {
		st.Ended = transcript.EndedByServer
	}),
	ending("client", "It leaves a stream open that it should end", transcript.EndedByServer, func(st *transcript.Stream) {
		st.Ended = transcript.EndedByClient
	}),
	ending("broken", "It breaks a stream", "", func(st *transcript.Stream) {
		st.Ended = transcript.EndedBroken
		st.Failure = &transcript.Failure{Kind: transcript.FailClosed, Phase: transcript.PhaseBody, Text: "the connection ended before the body did"}
	}),
	ending("reset", "It resets the connection of a stream", "", func(st *transcript.Stream) {
		st.Ended = transcript.EndedBroken
		st.Failure = &transcript.Failure{Kind: transcript.FailReset, Phase: transcript.PhaseBody, Text: "the connection was reset"}
	}),
	operator("end", "none", "It answers with an empty body where a stream should be", func(s *Subject, _ uint64, yield emit) {
		s.answers(func(a *answer) bool {
			if a.x.Stream == "" {
				return true
			}
			name := a.x.Stream
			return yield(Mutant{
				Place: a.where + " body", Before: "an event stream", After: "an empty body", site: a.site(),
				Build: func() *transcript.Transcript {
					t := s.withExchange(a.step, a.index, func(x *transcript.Exchange) { x.Stream = "" })
					t.Streams = slices.DeleteFunc(slices.Clone(t.Streams), func(st *transcript.Stream) bool { return st.Name == name })
					return t
				},
			})
		})
	}),
	operator("end", "exit", "It ends", func(s *Subject, _ uint64, yield emit) {
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

// killedAt reports whether a step had killed the process by then, and none had started it again: how a stream ends is not up
// to the server.
func (s *Subject) killedAt(at time.Duration) bool {
	killed := false
	for i := range s.Candidate.Steps {
		st := &s.Candidate.Steps[i]
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

// ending makes an operator on streams that ended in a way; "" for any.
func ending(name, doc string, ended transcript.Ending, change func(*transcript.Stream)) Operator {
	return operator("end", name, doc, func(s *Subject, _ uint64, yield emit) {
		for i, st := range s.Candidate.Streams {
			if ended != "" && st.Ended != ended || st.Ended == transcript.EndedBroken || s.killedAt(st.Until) {
				continue
			}
			if !yield(Mutant{
				Place: "stream " + st.Name + " end", Before: "ended by the " + string(st.Ended), After: name, site: site{step: st.Step, stream: st},
				Build: func() *transcript.Transcript { return s.withStream(i, change) },
			}) {
				return
			}
		}
	})
}
