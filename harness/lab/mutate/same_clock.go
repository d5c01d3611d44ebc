package mutate

import (
	"maps"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// later returns a transcript that began later, with all times in it moved.
func later(s *Subject, by time.Duration) *transcript.Transcript {
	was := s.Candidate
	t := *was
	t.Steps, t.Upstream, t.Streams = slices.Clone(t.Steps), slices.Clone(t.Upstream), slices.Clone(t.Streams)
	for _, d := range s.documents() {
		if !slices.ContainsFunc(d.values, func(v *value) bool { return v.origin == runTime }) {
			continue
		}
		changed := d.put([]byte(shiftTimes(mustParse(string(d.data)), d.seen, by).String()))
		mergeSteps(t.Steps, was.Steps, changed.Steps)
		mergeSteps(t.Upstream, was.Upstream, changed.Upstream)
		mergeStreams(t.Streams, was.Streams, changed.Streams)
	}
	t.Started = t.Started.Add(by)
	expectLater(s, t.Steps, by)
	return &t
}

// shiftTimes moves every time of the run in a document.
func shiftTimes(n *jsontree.Node, seen time.Time, by time.Duration) *jsontree.Node {
	if n.Kind == jsontree.String || n.Kind == jsontree.Number {
		if t, how, ok := parseTime(n.Text, seen); ok {
			n.Text = how.write(t.Add(by))
		}
	}
	for _, item := range n.Items {
		shiftTimes(item, seen, by)
	}
	return n
}

// expectLater moves the times in a scenario's expectations that the candidate reported before.
func expectLater(s *Subject, steps []transcript.Step, by time.Duration) {
	moved := map[string]string{}
	for v := range s.values() {
		if t, how, ok := v.time(); ok && v.origin == runTime {
			moved[v.node.Text] = how.write(t.Add(by))
		}
	}
	replace := func(text string) string {
		for _, was := range slices.Sorted(maps.Keys(moved)) {
			text = replaceWord(was, moved[was])(text)
		}
		return text
	}
	for i := range steps {
		if steps[i].Expect == nil {
			continue
		}
		if expect := (transcript.Expect{}); rewriteJSON(steps[i].Expect, &expect, replace) {
			steps[i].Expect = &expect
		}
	}
}

// mergeSteps copies the exchanges that have changed.
func mergeSteps(into, was, changed []transcript.Step) {
	for i := range changed {
		for k, x := range changed[i].Exchanges {
			if x != was[i].Exchanges[k] {
				into[i].Exchanges = slices.Clone(into[i].Exchanges)
				into[i].Exchanges[k] = x
			}
		}
	}
}

// mergeStreams copies the events that have changed.
func mergeStreams(into, was, changed []*transcript.Stream) {
	for i := range changed {
		if changed[i] == was[i] {
			continue
		}
		c := *into[i]
		c.Events = slices.Clone(c.Events)
		for k := range changed[i].Events {
			if changed[i].Events[k] != was[i].Events[k] {
				c.Events[k] = changed[i].Events[k]
			}
		}
		into[i] = &c
	}
}
