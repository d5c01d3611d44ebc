package mutate

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// sameStreamOperators change streams and bursts in ways that no client can notice.
var sameStreamOperators = []Operator{
	eachStream("same", "arrival", "Its events arrive together", func(_ *Subject, st *stream, yield emit) {
		own, h := st.st, st.rule.Heartbeat
		hasWindow := slices.ContainsFunc(st.t.Windows, func(w transcript.Window) bool { return w.Stream == own.Name })
		if len(own.Events) < 2 || h != nil && h.Every > 0 || hasWindow || st.rule.Gap != nil {
			return
		}
		yield(st.mutant("one after the other", "at once", func(out *transcript.Stream) {
			for k := range out.Events {
				out.Events[k].At = out.Events[len(out.Events)-1].At
			}
		}))
	}),
	eachFreeBeat("beats", "It sends more heartbeats, where no rule limits them", func(e *event, yield emit) {
		yield(e.withEvents("twice", 1, func(all []transcript.Event) []transcript.Event { return slices.Insert(all, e.index, all[e.index]) }))
	}),
	eachEvent("same", "beat-text", "It sends heartbeats with another comment, where any is allowed", func(e *event, yield emit) {
		if e.isBeat && e.ev.Comment && !e.stream.rule.Heartbeat.Same {
			yield(e.mutant("", e.ev.Data, e.ev.Data+" still", func(ev *transcript.Event) { ev.Data += " still" }))
		}
	}),
	eachFreeBeat("no-beats", "It sends fewer heartbeats, where no rule demands them", func(e *event, yield emit) {
		yield(e.withEvents("", -1, func(all []transcript.Event) []transcript.Event { return slices.Delete(all, e.index, e.index+1) }))
	}),
	swapEvents("same", "interleaving", "It swaps events that a rule allows in any order", false),
	changeFraming("same", "framing", "It writes events in another way, where that does not matter", false, func(f string) string {
		return strings.ReplaceAll(f, ": •", ":•")
	}),
	operator("same", "order-in-burst", "It answers concurrent requests in another order", func(s *Subject, _ uint64, yield emit) {
		for i := range s.Candidate.Steps {
			st := &s.Candidate.Steps[i]
			if !st.Burst || len(st.Exchanges) < 2 {
				continue
			}
			yield(Mutant{
				Place: "step " + st.ID, Before: "the first one first", After: "the last one first", site: site{step: st.ID},
				Build: func() *transcript.Transcript {
					return editStep(s.Candidate, i, func(st *transcript.Step) {
						st.Exchanges = slices.Clone(st.Exchanges)
						slices.Reverse(st.Exchanges)
					})
				},
			})
		}
	}),
}

// eachFreeBeat makes an operator on heartbeats for which no rule sets the interval.
func eachFreeBeat(name, doc string, change func(e *event, yield emit)) Operator {
	return eachEvent("same", name, doc, func(e *event, yield emit) {
		if e.isBeat && e.stream.rule.Heartbeat.Every == 0 {
			change(e, yield)
		}
	})
}
