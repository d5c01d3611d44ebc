package mutate

import (
	"slices"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// eventOrderOperators send events in another order. Each place in the sequence keeps its time. Two kinds of events may
// change places without being noticed: those that differ only in what the server generated, and those that a rule
// allows in any order.
var eventOrderOperators = []Operator{
	swapEvents("event-order", "swapped", "It sends an event after the one that should follow it", true),
	eachStream("event-order", "first-last", "It sends the first event last", func(_ *Subject, st *stream, yield emit) {
		if all := st.events(); len(all) > 2 && endsAreOrdered(all) {
			yield(moved(all, 0, len(all)-1))
		}
	}),
	eachStream("event-order", "reversed", "It sends events in reverse order", func(_ *Subject, st *stream, yield emit) {
		all := st.events()
		if len(all) < 2 || !endsAreOrdered(all) {
			return
		}
		yield(Mutant{
			Place: all[0].where, Before: "events 1 to last", After: "events last to 1", site: all[0].site(),
			Build: func() *transcript.Transcript {
				return st.edit(func(out *transcript.Stream) {
					slices.Reverse(out.Events)
					keepTimes(out.Events, st.st.Events)
				})
			},
		})
	}),
}

// swapEvents makes an operator that swaps neighbouring events: those that must keep their order, or those that need
// not.
func swapEvents(family, name, doc string, mustKeep bool) Operator {
	return eachStream(family, name, doc, func(_ *Subject, st *stream, yield emit) {
		all := st.events()
		for k := range len(all) - 1 {
			if a, b := all[k], all[k+1]; !a.isBeat && !b.isBeat && distinct(a, b) && ordered(a, b) == mustKeep {
				yield(moved(all, k, k+1))
			}
		}
	})
}

// endsAreOrdered reports whether the first event must come before the last one, in a stream without heartbeats.
func endsAreOrdered(all []*event) bool {
	return ordered(all[0], all[len(all)-1]) && !slices.ContainsFunc(all, func(e *event) bool { return e.isBeat })
}

// moved returns the mutant in which an event comes at another place.
func moved(all []*event, from, to int) Mutant {
	a := all[from]
	return Mutant{
		Place: a.where, Before: excerpt(a.ev.Name + " before " + all[to].ev.Name), After: "after it", site: a.site(),
		Build: func() *transcript.Transcript {
			return a.stream.edit(func(st *transcript.Stream) {
				ev := st.Events[from]
				st.Events = slices.Insert(slices.Delete(st.Events, from, from+1), to, ev)
				keepTimes(st.Events, a.stream.st.Events)
			})
		},
	}
}

// keepTimes gives each event the time of the event that was in its place.
func keepTimes(events, like []transcript.Event) {
	for i := range events {
		events[i].At = like[i].At
	}
}

// distinct reports whether two events differ in more than what the server generated.
func distinct(a, b *event) bool {
	if p, q := a.piece(), b.piece(); p != nil && q != nil && p.Joins(q) && p.Text+q.Text == q.Text+p.Text {
		return false // pieces of one text that give the same text in any order
	}
	return a.ev.Name != b.ev.Name || a.ev.Comment != b.ev.Comment || a.masked() != b.masked()
}

// masked returns an event's data with a mark instead of what the server generated.
func (e *event) masked() string {
	root, _, err := jsontree.Parse([]byte(e.ev.Data))
	if err != nil {
		return e.ev.Data
	}
	var ref *jsontree.Node
	if e.ref != nil {
		ref, _, _ = jsontree.Parse([]byte(e.ref.Data))
	}
	return e.stream.origins.masked(root, ref, wallClock(e.stream.t, e.ev.At))
}

// ordered reports whether two distinct events must keep their order.
func ordered(a, b *event) bool {
	if !distinct(a, b) {
		return false
	}
	rule := a.stream.rule
	if rule.OrderWithin == "" || slices.Contains(rule.Anchors, a.ev.Name) || slices.Contains(rule.Anchors, b.ev.Name) {
		return true
	}
	path, err := jsonpath.Parse(rule.OrderWithin)
	return err != nil || textAt(path, a.ev) == textAt(path, b.ev)
}

// textAt returns the text at a path in the data of an event.
func textAt(path *jsonpath.Path, ev *transcript.Event) string {
	root, _, err := jsontree.Parse([]byte(ev.Data))
	if err != nil {
		return ""
	}
	found := path.Select(root.Value())
	if len(found) != 1 {
		return ""
	}
	text, _ := found[0].(string)
	return text
}
