package mutate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/lab/mutate"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A mutant is another server. What the client has sent stays, and so does standard error that nothing compares.
func TestOperatorsLeaveWhatLockstepSentAndUncomparedStandardErrorAlone(t *testing.T) {
	fixed := func(of *transcript.Transcript) (out []string) {
		for _, st := range of.Streams {
			for _, ev := range st.Events {
				if ev.Sent || ev.Item == transcript.ItemStderr && st.Name != "tool" {
					out = append(out, st.Name+" "+string(ev.Item)+" "+ev.Data)
				}
			}
		}
		return out
	}
	s := subject()
	want := fixed(s.Candidate)
	if len(want) != 8 {
		t.Fatalf("the story has %q", want)
	}
	for _, op := range mutate.Operators() {
		if !op.Matters || op.Name == "end/none" { // which leaves the whole stream out
			continue
		}
		for m := range op.Mutants(s, 1) {
			if got := fixed(m.Build()); !slices.Equal(got, want) {
				t.Errorf("%s at %s: %q", op.Name, m.Place, got)
			}
		}
	}
}

// The responses of JSON-RPC may come in any order. Everything else of a stream keeps its own.
func TestOnlyResponsesToDifferentRequestsMayChangePlaces(t *testing.T) {
	for _, tc := range []struct{ op, want string }{
		{"event-order/swapped", "stream rpc line 3: line before line"},
		{"same/interleaving", "stream rpc line 1: line before line"},
	} {
		var got []string
		for m := range named(t, tc.op).Mutants(subject(), 1) {
			if strings.HasPrefix(m.Place, "stream rpc ") {
				got = append(got, m.Place+": "+m.Before)
			}
		}
		if !slices.Contains(got, tc.want) {
			t.Errorf("%s has %q, want %s", tc.op, got, tc.want)
		}
	}
	for m := range named(t, "event-order/swapped").Mutants(subject(), 1) {
		if strings.HasPrefix(m.Place, "stream rpc line 1") {
			t.Errorf("two responses in another order are a mistake: %s", m.Before)
		}
	}
}

// named returns the operator of a name.
func named(t *testing.T, name string) mutate.Operator {
	t.Helper()
	all := mutate.Operators()
	i := slices.IndexFunc(all, func(op mutate.Operator) bool { return op.Name == name })
	if i < 0 {
		t.Fatalf("there is no operator %s", name)
	}
	return all[i]
}

// What a close frame and an exit say is changed by operators of their own, because no server writes it as JSON.
func TestTheEndsOfSocketsAndProgramsHaveOperatorsOfTheirOwn(t *testing.T) {
	var got []string
	for _, op := range mutate.Operators() {
		for m := range op.Mutants(subject(), 1) {
			if at := m.Build(); op.Matters && (m.Before == `{"status":3}` || m.Before == `{"code":4000,"reason":"full"}`) && len(at.Streams) > 0 {
				got = append(got, op.Name+" "+m.After)
			}
		}
	}
	want := []string{
		`close/code {"code":1000,"reason":"full"}`, `close/no-code {}`, `close/reason {"code":4000,"reason":"fullx"}`, `close/no-reason {"code":4000,"reason":""}`,
		`exit/status {"status":4}`, `exit/success {"status":0}`, `exit/signal {"signal":"SIGSEGV"}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
