package mutate

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// framingOperators split a stream into other events. Where a rule says that framing matters, they also write events in
// another way.
var framingOperators = []Operator{
	eachContentEvent("chunk", "split", "It sends the halves of an event as two", func(e *event, yield emit) {
		if e.ev.Comment || len(e.ev.Data) < 2 {
			return
		}
		half := len(e.ev.Data) / 2
		yield(e.withEvents("two events", 1, func(all []transcript.Event) []transcript.Event {
			second := all[e.index]
			second.Data = second.Data[half:]
			all[e.index].Data = all[e.index].Data[:half]
			return slices.Insert(all, e.index+1, second)
		}))
	}),
	eachContentEvent("chunk", "joined", "It sends two events as one", func(e *event, yield emit) {
		next := e.next()
		if next == nil || e.ev.Comment || next.Comment || e.stream.isBeat(next) {
			return
		}
		yield(e.withEvents("one event with the next", -1, func(all []transcript.Event) []transcript.Event {
			all[e.index].Data += "\n" + all[e.index+1].Data
			return slices.Delete(all, e.index+1, e.index+2)
		}))
	}),
	eachContentEvent("chunk", "line", "It breaks a line of data in two, within a word", func(e *event, yield emit) {
		i := strings.IndexFunc(e.ev.Data, func(r rune) bool { return r >= 'a' && r <= 'z' })
		if e.ev.Comment || i < 0 || i+1 >= len(e.ev.Data) {
			return
		}
		yield(e.mutant(" data", e.ev.Data, "with a line break", func(ev *transcript.Event) {
			ev.Data, ev.Framing = ev.Data[:i+1]+"\n"+ev.Data[i+1:], strings.Replace(ev.Framing, "data: •\n", "data: •\ndata: •\n", 1)
		}))
	}),
	eachContentEvent("chunk", "id", "It numbers its events", func(e *event, yield emit) {
		if !e.ev.Comment && e.ev.ID == "" {
			yield(e.mutant(" id", "", "7", func(ev *transcript.Event) { ev.ID, ev.Framing = "7", "id: •\n"+ev.Framing }))
		}
	}),
	eachContentEvent("chunk", "retry", "It sets a reconnection time", func(e *event, yield emit) {
		if !e.ev.Comment && e.ev.Retry == "" {
			yield(e.mutant(" retry", "", "3000", func(ev *transcript.Event) { ev.Retry, ev.Framing = "3000", "retry: •\n"+ev.Framing }))
		}
	}),
	changeFraming("chunk", "line-end", "It ends lines with CR LF", true, func(f string) string { return strings.ReplaceAll(f, "\n", "\r\n") }),
	changeFraming("chunk", "no-blank", "It writes no blank after the colon", true, func(f string) string { return strings.ReplaceAll(f, ": •", ":•") }),
	changeFraming("chunk", "blank-line", "It sends one blank line too many", true, func(f string) string { return f + "\n" }),
}

// changeFraming makes an operator on how events are written. It works on streams where that matters, or on the others.
func changeFraming(family, name, doc string, matters bool, change func(string) string) Operator {
	return eachContentEvent(family, name, doc, func(e *event, yield emit) {
		after := change(e.ev.Framing)
		if after == e.ev.Framing || e.stream.rule.Exact != matters {
			return
		}
		m := e.mutant(" framing", e.ev.Framing, after, func(ev *transcript.Event) { ev.Framing = after })
		m.site.framing = true
		yield(m)
	})
}
