package mutate

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// renamedOperators send an event under another name.
var renamedOperators = []Operator{
	eachEvent("renamed", "other", "It calls an event something else", func(s *Subject, o *occurrence, yield emit) bool {
		return o.ev.Name == "" || yield(s.renamedMutant(o, o.ev.Name+"x"))
	}),
	eachEvent("renamed", "case", "It writes an event's name in another case", func(s *Subject, o *occurrence, yield emit) bool {
		after := strings.ToUpper(o.ev.Name)
		return after == o.ev.Name || yield(s.renamedMutant(o, after))
	}),
	eachEvent("renamed", "sibling", "It calls an event what another one of the stream is called", func(s *Subject, o *occurrence, yield emit) bool {
		for i := range o.st.Events {
			if name := o.st.Events[i].Name; name != o.ev.Name && name != "" && o.ev.Name != "" && !s.Rules.Beats(o.st.Name, o.st.Operation, &o.st.Events[i]) {
				return yield(s.renamedMutant(o, name))
			}
		}
		return true
	}),
	eachEvent("renamed", "no-field", "It leaves out the event field", func(s *Subject, o *occurrence, yield emit) bool {
		if o.ev.Type == "" {
			return true
		}
		return yield(s.eventMutant(o, " event field", o.ev.Type, "", func(ev *transcript.Event) {
			ev.Type, ev.Framing = "", strings.Replace(ev.Framing, "event: •\n", "", 1)
			if s.Name == nil {
				ev.Name = "message"
			}
		}))
	}),
	eachEvent("renamed", "field", "It sends an event field where there should be none", func(s *Subject, o *occurrence, yield emit) bool {
		if o.ev.Type != "" || o.ev.Comment || o.ev.Name == "message" { // which is what the field says when it is left out
			return true
		}
		return yield(s.eventMutant(o, " event field", "", o.ev.Name, func(ev *transcript.Event) {
			ev.Type, ev.Framing = ev.Name, "event: •\n"+ev.Framing
		}))
	}),
	eachEvent("renamed", "comment", "It sends an event as a comment", func(s *Subject, o *occurrence, yield emit) bool {
		if o.ev.Comment {
			return true
		}
		return yield(s.eventMutant(o, "", o.ev.Name, "a comment", func(ev *transcript.Event) {
			*ev = transcript.Event{Comment: true, Data: "x " + ev.Data, Framing: ": •\n\n", At: ev.At}
		}))
	}),
	eachEvent("renamed", "no-data", "It sends an event without data, which no client is told of", func(s *Subject, o *occurrence, yield emit) bool {
		if o.ev.Comment || o.ev.Undispatched {
			return true
		}
		return yield(s.eventMutant(o, " data", o.ev.Data, "", func(ev *transcript.Event) {
			ev.Data, ev.Undispatched, ev.Framing = "", true, "event: •\n\n"
		}))
	}),
}

// renamedMutant is the mutant in which an event has another name, wherever it says it.
func (s *Subject) renamedMutant(o *occurrence, after string) Mutant {
	return s.eventMutant(o, " name", o.ev.Name, after, func(ev *transcript.Event) {
		ev.Data = strings.ReplaceAll(ev.Data, text(ev.Name), text(after))
		if ev.Type != "" {
			ev.Type = after
		}
		ev.Name = after
	})
}
