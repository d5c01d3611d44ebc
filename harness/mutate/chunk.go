package mutate

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// chunkOperators cut a stream into other pieces than the events it should have, or write them in another way where a
// rule says that this matters.
var chunkOperators = []Operator{
	eachEvent("chunk", "split", "It sends the halves of an event as two", func(s *Subject, o *occurrence, yield emit) bool {
		if o.ev.Comment || len(o.ev.Data) < 2 {
			return true
		}
		half := len(o.ev.Data) / 2
		return yield(s.sequenceMutant(o, "two events", 1, func(all []transcript.Event) []transcript.Event {
			second := all[o.index]
			second.Data = second.Data[half:]
			all[o.index].Data = all[o.index].Data[:half]
			return slices.Insert(all, o.index+1, second)
		}))
	}),
	eachEvent("chunk", "joined", "It sends two events as one", func(s *Subject, o *occurrence, yield emit) bool {
		if o.index+1 >= len(o.st.Events) || o.ev.Comment || o.st.Events[o.index+1].Comment || s.Rules.Beats(o.st.Name, o.st.Operation, &o.st.Events[o.index+1]) {
			return true
		}
		return yield(s.sequenceMutant(o, "one event with the next", -1, func(all []transcript.Event) []transcript.Event {
			all[o.index].Data += "\n" + all[o.index+1].Data
			return slices.Delete(all, o.index+1, o.index+2)
		}))
	}),
	eachEvent("chunk", "line", "It breaks a line of data in two, within a word", func(s *Subject, o *occurrence, yield emit) bool {
		i := strings.IndexFunc(o.ev.Data, func(r rune) bool { return r >= 'a' && r <= 'z' })
		if o.ev.Comment || i < 0 || i+1 >= len(o.ev.Data) {
			return true
		}
		return yield(s.eventMutant(o, " data", o.ev.Data, "with a line break", func(ev *transcript.Event) {
			ev.Data, ev.Framing = ev.Data[:i+1]+"\n"+ev.Data[i+1:], strings.Replace(ev.Framing, "data: •\n", "data: •\ndata: •\n", 1)
		}))
	}),
	eachEvent("chunk", "id", "It numbers its events", func(s *Subject, o *occurrence, yield emit) bool {
		if o.ev.Comment || o.ev.ID != "" {
			return true
		}
		return yield(s.eventMutant(o, " id", "", "7", func(ev *transcript.Event) { ev.ID, ev.Framing = "7", "id: •\n"+ev.Framing }))
	}),
	eachEvent("chunk", "retry", "It tells clients when to come back", func(s *Subject, o *occurrence, yield emit) bool {
		if o.ev.Comment || o.ev.Retry != "" {
			return true
		}
		return yield(s.eventMutant(o, " retry", "", "3000", func(ev *transcript.Event) { ev.Retry, ev.Framing = "3000", "retry: •\n"+ev.Framing }))
	}),
	framing("chunk", "line-end", "It ends lines with CR LF", true, func(f string) string { return strings.ReplaceAll(f, "\n", "\r\n") }),
	framing("chunk", "no-blank", "It writes no blank behind the colon", true, func(f string) string { return strings.ReplaceAll(f, ": •", ":•") }),
	framing("chunk", "blank-line", "It sends a blank line too many", true, func(f string) string { return f + "\n" }),
}

// framing makes an operator on how events are written, on streams where that matters, or on the others.
func framing(family, name, doc string, exact bool, change func(string) string) Operator {
	return operator(family, name, doc, func(s *Subject, _ uint64, yield emit) {
		s.events(func(o *occurrence) bool {
			after := change(o.ev.Framing)
			if o.beat || after == o.ev.Framing || s.rule(o.st).Exact != exact {
				return true
			}
			m := s.eventMutant(o, " framing", o.ev.Framing, after, func(ev *transcript.Event) { ev.Framing = after })
			m.site.framing = true
			return yield(m)
		})
	})
}
