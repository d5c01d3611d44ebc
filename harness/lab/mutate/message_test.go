package mutate_test

import (
	"fmt"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/lab/mutate"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// The name of a message can depend on earlier ones. So a mutant names all messages of a stream again, in their order.
func TestAMutantNamesMessagesInTheirOrder(t *testing.T) {
	name := func(n int, ev *transcript.Event) string { return fmt.Sprintf("%d %s", n, ev.Data) }
	side := func(target string) *transcript.Transcript {
		s := &transcript.Stream{Name: "s", Step: "1", Wire: transcript.WireSocket, Operation: "GET /ws", Ended: transcript.EndedByServer}
		for i := range 3 {
			ev := transcript.Event{Item: transcript.ItemText, Data: fmt.Sprintf(`{"id":%d,"text":"message %d"}`, i, i), Framing: "text"}
			ev.Name = name(i, &ev)
			s.Events = append(s.Events, ev)
		}
		return &transcript.Transcript{Target: target, Steps: []transcript.Step{{ID: "1", Kind: "socket", Stream: "s"}}, Streams: []*transcript.Stream{s}}
	}
	subject := &mutate.Subject{Reference: side("ref"), Candidate: side("cand"), Rules: &compare.Rules{}, EventNamer: func(string) func(*transcript.Event) string {
		n := -1
		return func(ev *transcript.Event) string {
			n++
			return name(n, ev)
		}
	}}
	edited := 0
	for _, op := range mutate.Operators() {
		for m := range op.Mutants(subject, 1) {
			events := m.Build().Streams[0].Events
			for i := 1; i < len(events) && len(events) == 3; i++ {
				if was := &subject.Candidate.Streams[0].Events[i]; events[i].Data == was.Data || events[i].Comment {
					continue
				}
				switch op.Family {
				case "event-drop", "event-duplicate", "event-order", "foreign":
					continue
				}
				edited++
				if got := events[i].Name; got != name(i, &events[i]) {
					t.Errorf("%s: event %d is named %q", op.Name, i, got)
				}
			}
		}
	}
	if edited == 0 {
		t.Error("no mutant has another message")
	}
}
