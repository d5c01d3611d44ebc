package mutate

import (
	"slices"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// eventOrderOperators send events in another order. Each place in the sequence keeps its time. Events that differ only
// in what the server made up may change places, and so may those that a rule lets come in any order.
var eventOrderOperators = []Operator{
	reordered("event-order", "swapped", "It sends an event after the one that should follow it", true),
	operator("event-order", "first-last", "It sends the first event last", func(s *Subject, _ uint64, yield emit) {
		for i := range s.Candidate.Streams {
			all := s.eventsOf(i)
			if len(all) < 3 || !s.ordered(all[0], all[len(all)-1]) || slices.ContainsFunc(all, func(o *occurrence) bool { return o.beat }) {
				continue
			}
			if !yield(s.moved(all, 0, len(all)-1)) {
				return
			}
		}
	}),
	operator("event-order", "reversed", "It sends events the last one first", func(s *Subject, _ uint64, yield emit) {
		for i := range s.Candidate.Streams {
			all := s.eventsOf(i)
			if len(all) < 2 || !s.ordered(all[0], all[len(all)-1]) || slices.ContainsFunc(all, func(o *occurrence) bool { return o.beat }) {
				continue
			}
			m := Mutant{Place: all[0].where, Before: "events 1 to last", After: "events last to 1", site: all[0].site()}
			m.Build = func() *transcript.Transcript {
				return s.withStream(i, func(st *transcript.Stream) {
					slices.Reverse(st.Events)
					keepTimes(st.Events, s.Candidate.Streams[i].Events)
				})
			}
			if !yield(m) {
				return
			}
		}
	}),
}

// reordered makes an operator that swaps events that follow each other: those that must keep their order, or those that
// need not.
func reordered(family, name, doc string, bound bool) Operator {
	return operator(family, name, doc, func(s *Subject, _ uint64, yield emit) {
		for i := range s.Candidate.Streams {
			all := s.eventsOf(i)
			for k := range len(all) - 1 {
				a, b := all[k], all[k+1]
				if a.beat || b.beat || !s.distinct(a, b) || s.ordered(a, b) != bound {
					continue
				}
				if !yield(s.moved(all, k, k+1)) {
					return
				}
			}
		}
	})
}

// moved is the mutant in which an event comes at another place.
func (s *Subject) moved(all []*occurrence, from, to int) Mutant {
	a := all[from]
	return Mutant{
		Place: a.where, Before: shown(a.ev.Name + " before " + all[to].ev.Name), After: "after it", site: a.site(),
		Build: func() *transcript.Transcript {
			return s.withStream(a.stream, func(st *transcript.Stream) {
				ev := st.Events[from]
				st.Events = slices.Insert(slices.Delete(st.Events, from, from+1), to, ev)
				keepTimes(st.Events, a.st.Events)
			})
		},
	}
}

// keepTimes gives events the times of those that came in their places.
func keepTimes(events, like []transcript.Event) {
	for i := range events {
		events[i].At = like[i].At
	}
}

// distinct reports whether two events differ in more than what the server made up.
func (s *Subject) distinct(a, b *occurrence) bool {
	if s.commute(a, b) {
		return false
	}
	return a.ev.Name != b.ev.Name || a.ev.Comment != b.ev.Comment || s.outline(a) != s.outline(b)
}

// outline is an event's data without what the server made up.
func (s *Subject) outline(o *occurrence) string {
	root, _, err := jsontree.Parse([]byte(o.ev.Data))
	if err != nil {
		return o.ev.Data
	}
	var ref *jsontree.Node
	if o.ref != nil {
		ref, _, _ = jsontree.Parse([]byte(o.ref.Data))
	}
	return erased(s, root, ref, seen(s.Candidate, o.ev.At))
}

// ordered reports whether two different events must come in the order in which they came.
func (s *Subject) ordered(a, b *occurrence) bool {
	if !s.distinct(a, b) {
		return false
	}
	rule := s.rule(a.st)
	within := rule.OrderWithin
	if within == "" || slices.Contains(rule.Anchors, a.ev.Name) || slices.Contains(rule.Anchors, b.ev.Name) {
		return true
	}
	path, err := jsonpath.Parse(within)
	if err != nil {
		return true
	}
	return at(path, a.ev) == at(path, b.ev)
}

// at returns what stands at a path of an event.
func at(path *jsonpath.Path, ev *transcript.Event) string {
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
