package compare

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// ended adds a step that ended the process.
func (s side) ended(kind, signal, status string) side {
	s.t.Steps = append(s.t.Steps, transcript.Step{ID: "1", Kind: kind, Process: &transcript.ProcessEnd{Signal: signal, Status: status}})
	return s
}

func TestHowProcessesEnd(t *testing.T) {
	for _, tc := range []struct {
		name, ref, cand string
		unmet           bool
		want            []string
	}{
		{"alike", "exit status 1", "exit status 1", false, nil},
		{"with another status", "exit status 0", "exit status 143", false, []string{"exit-status exit"}},
		{"by a signal", "exit status 0", "signal: terminated", false, []string{"exit-status exit"}},
		{"not as the scenario wants it, which is a shortfall", "exit status 0", "exit status 1", true, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ref, cand := newSide("ref").ended("restart", "SIGTERM", tc.ref), newSide("cand").ended("restart", "SIGTERM", tc.cand)
			if tc.unmet {
				cand.t.Steps[0].Unmet = &transcript.Unmet{Kind: "exit"}
			}
			if diff := cmp.Diff(tc.want, kinds(compared(ref, cand, nil))); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

// A killed process breaks off its work, but a process that ends in good order does not.
func TestWhatFollowsFromAnEndThatAStepWants(t *testing.T) {
	ms := time.Millisecond
	step := func(kind string, at, took time.Duration, status string) transcript.Step {
		s := transcript.Step{ID: kind, Kind: kind, At: at, Took: took}
		if status != "" {
			s.Process = &transcript.ProcessEnd{Status: status}
		}
		return s
	}
	kill, again := step("kill", 10*ms, 5*ms, "signal: killed"), step("restart", 20*ms, 10*ms, "")
	restart, stop := step("restart", 10*ms, 10*ms, "exit status 0"), step("stop", 10*ms, 5*ms, "exit status 0")
	stubborn := restart
	stubborn.Unmet, stubborn.Process = &transcript.Unmet{Kind: "exit"}, &transcript.ProcessEnd{}
	for _, tc := range []struct {
		name  string
		steps []transcript.Step
		until []time.Duration // when each stream broke
		want  []string
	}{
		{"a kill", []transcript.Step{kill}, []time.Duration{12 * ms, 12 * ms}, nil},
		{"before the kill", []transcript.Step{kill}, []time.Duration{9 * ms}, []string{"stream-broken end"}},
		{"between a kill and a restart", []transcript.Step{kill, again}, []time.Duration{25 * ms}, nil},
		{"after the restart", []transcript.Step{kill, again}, []time.Duration{31 * ms}, []string{"stream-broken end"}},
		{"a restart is told once", []transcript.Step{restart}, []time.Duration{12 * ms, 13 * ms}, []string{"stream-broken end"}},
		{"each restart", []transcript.Step{restart, step("restart", 50*ms, 10*ms, "exit status 0")}, []time.Duration{12 * ms, 55 * ms}, []string{"stream-broken end", "stream-broken end"}},
		{"one that does not end has to be killed", []transcript.Step{stubborn}, []time.Duration{12 * ms}, []string{"target-not-stopped exit"}},
		{"a stop is about what it leaves", []transcript.Step{stop}, []time.Duration{12 * ms, 12 * ms}, []string{"stream-broken end", "stream-broken end"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSide("ref")
			s.t.Steps = tc.steps
			for _, until := range tc.until {
				s.t.Streams = append(s.t.Streams, &transcript.Stream{
					Name: "bus", Ended: transcript.EndedBroken, Until: until, Failure: &transcript.Failure{Kind: transcript.FailReset},
				})
			}
			if diff := cmp.Diff(tc.want, shortfalls(s.t, nil)); diff != "" {
				t.Errorf("shortfalls (-want +got):\n%s", diff)
			}
			if len(tc.until) > 0 { // malformed data is the server's fault
				s.t.Streams[0].Failure.Kind = transcript.FailMalformed
				if got := shortfalls(s.t, nil); len(got) == 0 || got[len(got)-1] != "stream-broken end" {
					t.Errorf("of another failure: %v", got)
				}
			}
		})
	}
}

// A request after a kill, or a wait that begins then, fails on both sides alike. That must not count as a match.
func TestRequestsAfterAKillAreReported(t *testing.T) {
	const ms = time.Millisecond
	refused := func(sent time.Duration) *transcript.Exchange {
		return &transcript.Exchange{Sent: sent, Done: 20 * ms, Failure: &transcript.Failure{Kind: transcript.FailConnect, Phase: transcript.PhaseConnect, Text: "connection refused"}}
	}
	for _, tc := range []struct {
		name string
		then transcript.Step
		want []string
	}{
		{"a request that no connection was for", transcript.Step{Kind: "http", At: 19 * ms, Exchanges: []*transcript.Exchange{refused(0)}, Expect: &transcript.Expect{Status: 200}}, []string{"exchange-failed connect"}},
		{"a request on a connection that was there", transcript.Step{Kind: "http", At: 19 * ms, Exchanges: []*transcript.Exchange{refused(19 * ms)}}, []string{"exchange-failed connect"}},
		{"a request that was sent before", transcript.Step{Kind: "join", At: 19 * ms, Exchanges: []*transcript.Exchange{refused(9 * ms)}}, nil},
		{"a request that was sent while it was killed", transcript.Step{Kind: "http", At: 12 * ms, Exchanges: []*transcript.Exchange{refused(12 * ms)}}, nil},
		{"an event", transcript.Step{Kind: "await", At: 19 * ms, Stream: "bus", Unmet: &transcript.Unmet{Kind: "event"}}, []string{"event-awaited event"}},
		{"an event that was awaited before", transcript.Step{Kind: "await", At: 9 * ms, Took: 4 * ms, Stream: "bus", Unmet: &transcript.Unmet{Kind: "event"}}, nil},
	} {
		for _, again := range []bool{false, true} {
			s := newSide("ref").ended("kill", "SIGKILL", "signal: killed")
			s.t.Steps[0].At, s.t.Steps[0].Took = 10*ms, 5*ms
			s.t.Steps = append(s.t.Steps, tc.then)
			if again {
				s.t.Steps = append(s.t.Steps, transcript.Step{Kind: "restart", At: 30 * ms, Took: 5 * ms})
			}
			s.t.Streams = []*transcript.Stream{{Name: "bus", Ended: transcript.EndedBroken, Until: 12 * ms, Failure: &transcript.Failure{Kind: transcript.FailReset}}}
			if diff := cmp.Diff(tc.want, shortfalls(s.t, nil)); diff != "" {
				t.Errorf("%s, started again %t: shortfalls (-want +got):\n%s", tc.name, again, diff)
			}
		}
	}
}

// A process may be killed during a request to an upstream. Whether that happens is chance.
func TestAKillBreaksRequestsToUpstreams(t *testing.T) {
	s := newSide("ref").ended("kill", "SIGKILL", "signal: killed")
	s.t.Steps[0].At = 10 * time.Millisecond
	broken := &transcript.Exchange{Failure: &transcript.Failure{Kind: transcript.FailClosed, Text: "the request broke"}}
	s.t.Upstream = []transcript.Step{{ID: "llm.unexpected", Unmet: &transcript.Unmet{Kind: unexpectedKind}, Exchanges: []*transcript.Exchange{broken}}}
	for done, want := range map[time.Duration][]string{
		12 * time.Millisecond: nil,
		9 * time.Millisecond:  {"exchange-failed request 1"},
	} {
		broken.Sent, broken.Done = 8*time.Millisecond, done
		if diff := cmp.Diff(want, shortfalls(s.t, nil)); diff != "" {
			t.Errorf("after %s: shortfalls (-want +got):\n%s", done, diff)
		}
	}
}

// Streams that a step has broken on both sides are compared up to their ends.
func TestWhatCameBeforeAKillIsCompared(t *testing.T) {
	for _, killed := range []bool{true, false} {
		sides := [2]side{newSide("ref").stream("bus", "a 1", "b 2"), newSide("cand").stream("bus", "a 1")}
		for _, s := range sides {
			st := s.t.Streams[0]
			st.Ended, st.Until, st.Failure = transcript.EndedBroken, time.Second, &transcript.Failure{Kind: transcript.FailReset}
			if killed {
				s.ended("kill", "SIGKILL", "signal: killed")
			}
		}
		var want []string
		if killed {
			want = []string{"event-missing event 2 (b)"}
		}
		if diff := cmp.Diff(want, kinds(compared(sides[0], sides[1], nil))); diff != "" {
			t.Errorf("killed %t: differences (-want +got):\n%s", killed, diff)
		}
	}
}
