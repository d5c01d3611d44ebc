package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// program returns a program with these lines: "> " is sent, and "! " is standard error.
func program(lines ...string) *transcript.Stream {
	s := &transcript.Stream{Name: "server", Wire: transcript.WireProgram, Ended: transcript.EndedByServer}
	for _, line := range lines {
		ev := transcript.Event{Name: "line", Item: transcript.ItemLine, Data: line[2:], Sent: line[:2] == "> "}
		if line[:2] == "! " {
			ev.Name, ev.Item = "stderr", transcript.ItemStderr
		}
		s.Events = append(s.Events, ev)
	}
	return s
}

// Responses come in any order, so their numbers must not depend on it: a waiver names them.
func TestAResponseOfJSONRPCHasTheNumberOfItsRequest(t *testing.T) {
	rules := &Rules{Streams: map[string]streamdiff.Rules{"server": {JSONRPC: true}}}
	s := program(`> {"id":"a","method":"m"}`, `> {"id":7,"method":"m"}`, `< {"id":7,"result":1}`, `< {"method":"told"}`, `< {"id":"a","result":1}`,
		`< {"id":1,"method":"ask"}`, `> {"id":1,"result":1}`, `< {"id":9,"result":1}`, `< no JSON`)
	want := []string{"sent 1", "sent 2", "response 2", "line 1", "response 1", "line 2", "sent 3", "line 3", "line 4"}
	if diff := cmp.Diff(want, rules.Labels(s)); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	s.Name = "other"
	want = []string{"sent 1", "sent 2", "line 1", "line 2", "line 3", "line 4", "sent 3", "line 5", "line 6"}
	if diff := cmp.Diff(want, rules.Labels(s)); diff != "" {
		t.Errorf("labels without the rule (-want +got):\n%s", diff)
	}
}

// Standard output and standard error are two pipes: which of two lines is read first is chance.
func TestStandardErrorHasNoOrderWithStandardOutput(t *testing.T) {
	rules := &Rules{Streams: map[string]streamdiff.Rules{"server": {Stderr: true}}}
	for _, tc := range []struct {
		cand []string
		want int
	}{
		{[]string{"! warning 1", "< one", "! warning 2", "< two"}, 0},
		{[]string{"< one", "< two", "! warning 2", "! warning 1"}, 1},
		{[]string{"< two", "< one", "! warning 1", "! warning 2"}, 1},
		{[]string{"< one", "< two", "! warning 1"}, 1},
	} {
		ref, cand := newSide("ref"), newSide("cand")
		ref.t.Streams = []*transcript.Stream{program("< one", "! warning 1", "< two", "! warning 2")}
		cand.t.Streams = []*transcript.Stream{program(tc.cand...)}
		if got := compared(ref, cand, rules).Differences; len(got) != tc.want {
			t.Errorf("%q: %v", tc.cand, got)
		}
	}
}
