package mutate

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// renamedOperators send an event under another name.
var renamedOperators = []Operator{
	renameEvent("other", "It gives an event another name", func(e *event) string { return e.ev.Name + "x" }),
	renameEvent("case", "It writes an event's name in another case", func(e *event) string { return strings.ToUpper(e.ev.Name) }),
	renameEvent("sibling", "It gives an event the name of another event of the stream", func(e *event) string {
		events := e.stream.st.Events
		for i := range events {
			if name := events[i].Name; name != e.ev.Name && name != "" && !e.stream.isBeat(&events[i]) {
				return name
			}
		}
		return ""
	}),
	eachContentEvent("renamed", "no-field", "It leaves out the event field", func(e *event, yield emit) {
		if e.ev.Type == "" {
			return
		}
		yield(e.mutant(" event field", e.ev.Type, "", func(ev *transcript.Event) {
			ev.Type, ev.Framing = "", strings.Replace(ev.Framing, "event: •\n", "", 1)
			if e.stream.nameOf == nil {
				ev.Name = "message"
			}
		}))
	}),
	eachContentEvent("renamed", "field", "It sends an event field that should not be there", func(e *event, yield emit) {
		if e.ev.Type != "" || e.ev.Comment || e.ev.Name == "message" { // without the field, the name is "message"
			return
		}
		yield(e.mutant(" event field", "", e.ev.Name, func(ev *transcript.Event) {
			ev.Type, ev.Framing = ev.Name, "event: •\n"+ev.Framing
		}))
	}),
	eachContentEvent("renamed", "comment", "It sends an event as a comment", func(e *event, yield emit) {
		if !e.ev.Comment {
			yield(e.mutant("", e.ev.Name, "a comment", func(ev *transcript.Event) {
				*ev = transcript.Event{Comment: true, Data: "x " + ev.Data, Framing: ": •\n\n", At: ev.At}
			}))
		}
	}),
	eachContentEvent("renamed", "no-data", "It sends an event without data, which clients ignore", func(e *event, yield emit) {
		if !e.ev.Comment && !e.ev.Undispatched {
			yield(e.mutant(" data", e.ev.Data, "", func(ev *transcript.Event) {
				ev.Data, ev.Undispatched, ev.Framing = "", true, "event: •\n\n"
			}))
		}
	}),
}

// renameEvent makes an operator from a function that returns another name for an event, or "". The name is changed in
// every place of the event.
func renameEvent(name, doc string, change func(e *event) string) Operator {
	return eachContentEvent("renamed", name, doc, func(e *event, yield emit) {
		after := change(e)
		if e.ev.Name == "" || after == "" || after == e.ev.Name {
			return
		}
		yield(e.mutant(" name", e.ev.Name, after, func(ev *transcript.Event) {
			ev.Data = strings.ReplaceAll(ev.Data, quoted(ev.Name), quoted(after))
			if ev.Type != "" {
				ev.Type = after
			}
			ev.Name = after
		}))
	})
}
