package compare

import (
	"testing"

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
