package compare

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// shortfalls returns "kind place" of each unmet demand.
func shortfalls(t *transcript.Transcript, rules *Rules) []string {
	if rules == nil {
		rules = &Rules{}
	}
	var out []string
	for _, s := range AllUnmet(nil, t, rules) {
		out = append(out, string(s.Kind)+" "+s.Place)
	}
	return out
}

func text(s string) *string { return &s }

func TestShortfallsOfASoundTranscript(t *testing.T) {
	s := newSide("ref").answers(`{"a":1}`).stream("bus", "a 1", ": hi")
	s.t.Steps[0].Expect = &transcript.Expect{Status: 200, Header: map[string]*string{"content-type": text("application/json"), "X": nil}}
	s.t.Windows = []transcript.Window{{Stream: "bus", Match: &transcript.Pattern{Event: text("b")}, To: time.Second}}
	if got := shortfalls(s.t, nil); got != nil {
		t.Errorf("shortfalls %v, want none", got)
	}
}

func TestShortfallsOfSteps(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*transcript.Step)
		want   []string
	}{
		{"a hang before the head", func(s *transcript.Step) {
			s.Exchanges[0].Failure = &transcript.Failure{Kind: transcript.FailTimeout, Phase: transcript.PhaseHead}
		}, []string{"exchange-failed head"}},
		{"a cut body", func(s *transcript.Step) {
			s.Exchanges[0].Failure = &transcript.Failure{Kind: transcript.FailClosed, Phase: transcript.PhaseBody}
		}, []string{"exchange-failed body"}},
		{"the scenario hung up", func(s *transcript.Step) {
			s.Exchanges[0].Failure = &transcript.Failure{Kind: transcript.FailCanceled, Phase: transcript.PhaseHead}
		}, nil},
		{"the server hung up on a client that does not care", func(s *transcript.Step) {
			s.Kind = "close"
			s.Exchanges[0].Failure = &transcript.Failure{Kind: transcript.FailClosed, Phase: transcript.PhaseHead}
		}, nil},
		{"another status", func(s *transcript.Step) { s.Expect = &transcript.Expect{Status: 404} }, []string{"expectation status"}},
		{"another header", func(s *transcript.Step) {
			s.Expect = &transcript.Expect{Header: map[string]*string{"Content-Type": nil, "X": text("1")}}
		}, []string{"expectation header Content-Type", "expectation header X"}},
		{"another body", func(s *transcript.Step) { s.Expect = &transcript.Expect{Body: text("x")} }, []string{"expectation body"}},
		{"no event", func(s *transcript.Step) { s.Unmet = &transcript.Unmet{Kind: "event"} }, []string{"event-awaited event"}},
		{"no first event", func(s *transcript.Step) { s.Unmet = &transcript.Unmet{Kind: "ready"} }, []string{"event-awaited ready"}},
		{"no end", func(s *transcript.Step) { s.Unmet = &transcript.Unmet{Kind: "end"} }, []string{"end-awaited end"}},
		{"a poll in vain", func(s *transcript.Step) { s.Unmet = &transcript.Unmet{Kind: "poll"} }, []string{"poll poll"}},
		{"nothing to capture", func(s *transcript.Step) { s.Unmet = &transcript.Unmet{Kind: "capture"} }, []string{"capture-missing capture"}},
		{"no stream to watch", func(s *transcript.Step) { s.Unmet = &transcript.Unmet{Kind: "stream"} }, []string{"stream-missing stream"}},
		{"no stream to close", func(s *transcript.Step) { s.Unmet = &transcript.Unmet{Kind: "close"} }, []string{"stream-missing close"}},
		{"no exit", func(s *transcript.Step) { s.Unmet = &transcript.Unmet{Kind: "exit"} }, []string{"target-not-stopped exit"}},
		{"a burst", func(s *transcript.Step) {
			s.Burst, s.Expect = true, &transcript.Expect{Count: map[int]int{200: 0, 404: 1}}
		}, []string{"expectation count of 200", "expectation count of 404"}},
		{"an answer of a burst", func(s *transcript.Step) {
			s.Burst, s.Expect = true, &transcript.Expect{Status: 404}
		}, []string{"expectation one of 1 answers, status"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSide("ref").answers(`{"a":1}`)
			tc.change(&s.t.Steps[0])
			if diff := cmp.Diff(tc.want, shortfalls(s.t, nil)); diff != "" {
				t.Errorf("shortfalls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestForbiddenEvents(t *testing.T) {
	window := func(p *transcript.Pattern, first int, from, to time.Duration) []transcript.Window {
		return []transcript.Window{{Stream: "bus", Match: p, First: first, From: from, To: to}}
	}
	a := &transcript.Pattern{Event: text("a")}
	ms := time.Millisecond
	for _, tc := range []struct {
		name    string
		windows []transcript.Window
		want    []string
	}{
		{"it comes", window(a, 0, 0, 10*ms), []string{"event-forbidden event 1 (a)"}},
		{"it came before", window(a, 2, 2*ms, 10*ms), nil},
		{"it came after", window(a, 0, 0, 0), nil},
		{"anything", window(nil, 0, 0, 10*ms), []string{"event-forbidden event 1 (a)"}}, // the first is a heartbeat
		{"anything else", window(&transcript.Pattern{Event: text("c")}, 0, 0, 10*ms), nil},
		{"another stream", []transcript.Window{{Stream: "x", To: time.Second}}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSide("ref").stream("bus", "ping ", "a 1", ": comment")
			s.t.Windows = tc.windows
			rules := &Rules{Streams: map[string]streamdiff.Rules{"bus": {Heartbeat: &streamdiff.Heartbeat{Event: "ping"}}}}
			if diff := cmp.Diff(tc.want, shortfalls(s.t, rules)); diff != "" {
				t.Errorf("shortfalls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCadence(t *testing.T) {
	ms := time.Millisecond
	for _, tc := range []struct {
		name  string
		open  time.Duration
		beats []time.Duration // after the opening
		want  []string
	}{
		{"on time", 350 * ms, []time.Duration{100 * ms, 200 * ms, 300 * ms}, nil},
		{"within the tolerance", 340 * ms, []time.Duration{130 * ms, 170 * ms, 325 * ms}, nil},
		{"not due yet", 120 * ms, nil, nil},
		{"late", 350 * ms, []time.Duration{100 * ms, 260 * ms, 300 * ms}, []string{"heartbeat-late heartbeat 2"}},
		{"early", 350 * ms, []time.Duration{40 * ms, 100 * ms, 200 * ms}, []string{"heartbeat-early heartbeat 1"}},
		{"missing", 350 * ms, []time.Duration{100 * ms}, []string{"heartbeat-missing heartbeat 2"}},
		{"none at all", 350 * ms, nil, []string{"heartbeat-missing heartbeat 1"}},
		{"twice as many", 210 * ms, []time.Duration{90 * ms, 100 * ms, 190 * ms, 200 * ms}, []string{"heartbeat-early heartbeat 2"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSide("ref").stream("bus")
			st := s.t.Streams[0]
			st.At, st.Until = time.Second, time.Second+tc.open // the times of events do not count from the opening
			for _, at := range tc.beats {
				st.Events = append(st.Events, transcript.Event{Name: "ping", At: st.At + at}, transcript.Event{Name: "other", At: st.At + at})
			}
			rules := &Rules{Streams: map[string]streamdiff.Rules{"GET /bus": {Heartbeat: &streamdiff.Heartbeat{Event: "ping", Every: 100 * ms, First: 100 * ms, Tolerance: 50 * ms}}}}
			if diff := cmp.Diff(tc.want, shortfalls(s.t, rules)); diff != "" {
				t.Errorf("shortfalls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConsequencesOfAnEndAreNotReportedAgain(t *testing.T) {
	const sec = time.Second
	closed := func(p transcript.Phase) *transcript.Failure {
		return &transcript.Failure{Kind: transcript.FailClosed, Phase: p}
	}
	for _, tc := range []struct {
		name   string
		change func(*transcript.Transcript)
		want   []string
	}{
		{"a stream that broke", func(t *transcript.Transcript) {
			t.Streams[0].Ended, t.Streams[0].Failure = transcript.EndedBroken, closed(transcript.PhaseBody)
		}, []string{"2 stream-broken end"}},
		{"an event that did not come because the stream broke", func(t *transcript.Transcript) {
			t.Streams[0].Ended, t.Streams[0].Failure, t.Streams[0].Until = transcript.EndedBroken, closed(transcript.PhaseBody), 3*sec
			t.Steps[2].Unmet = &transcript.Unmet{Kind: "event"}
		}, []string{"2 stream-broken end"}},
		{"an event that did not come before the stream broke", func(t *transcript.Transcript) {
			t.Streams[0].Ended, t.Streams[0].Failure, t.Streams[0].Until = transcript.EndedBroken, closed(transcript.PhaseBody), 5*sec
			t.Steps[2].Unmet = &transcript.Unmet{Kind: "event"}
		}, []string{"3 event-awaited event", "2 stream-broken end"}},
		{"an event that did not come because the server ended the stream", func(t *transcript.Transcript) {
			t.Streams[0].Ended, t.Streams[0].Until = transcript.EndedByServer, 3*sec
			t.Steps[2].Unmet = &transcript.Unmet{Kind: "event"}
		}, []string{"3 event-awaited event"}},
		{"events of a stream that is none", func(t *transcript.Transcript) {
			t.Streams = nil
			t.Steps[2].Unmet = &transcript.Unmet{Kind: "event"}
			t.Steps[3].Stream, t.Steps[3].Unmet = "bus", &transcript.Unmet{Kind: "close"}
		}, []string{"3 event-awaited event"}},
		{"events of two streams that are none", func(t *transcript.Transcript) {
			t.Streams = nil
			t.Steps[2].Unmet = &transcript.Unmet{Kind: "stream"}
			t.Steps[3].Stream, t.Steps[3].Unmet = "feed", &transcript.Unmet{Kind: "event"}
		}, []string{"3 stream-missing stream", "4 event-awaited event"}},
		{"nothing to capture where nothing came", func(t *transcript.Transcript) {
			t.Steps[0].Exchanges[0].Failure = closed(transcript.PhaseHead)
			t.Steps[0].Unmet = &transcript.Unmet{Kind: "capture"}
		}, []string{"1 exchange-failed head"}},
		{"an exit behind everything", func(t *transcript.Transcript) {
			t.Exit = &transcript.Exit{Status: "exit status 3"}
		}, []string{"4 target-exited process"}},
		{"an exit that broke a stream and an exchange", func(t *transcript.Transcript) {
			t.Exit = &transcript.Exit{Status: "exit status 3"}
			t.Streams[0].Ended, t.Streams[0].Failure, t.Streams[0].Until = transcript.EndedBroken, closed(transcript.PhaseBody), 2*sec
			t.Steps[2].Unmet = &transcript.Unmet{Kind: "event"}
			t.Steps[3].Exchanges[0].Failure = &transcript.Failure{Kind: transcript.FailConnect, Phase: transcript.PhaseConnect}
		}, []string{"4 target-exited process"}},
		{"an exit that was seen before the next step", func(t *transcript.Transcript) {
			t.Exit = &transcript.Exit{Status: "exit status 3"}
			t.Steps[2].Skipped, t.Steps[3].Skipped, t.Steps[3].Exchanges = transcript.Exited, transcript.Exited, nil
		}, []string{"3 target-exited process"}},
		{"an exit long after something else broke", func(t *transcript.Transcript) {
			t.Exit = &transcript.Exit{Status: "exit status 3"}
			t.Steps[0].Exchanges[0].Failure = closed(transcript.PhaseBody)
		}, []string{"1 exchange-failed body", "4 target-exited process"}},
		{"an exit, and an answer that is not HTTP", func(t *transcript.Transcript) {
			t.Exit = &transcript.Exit{Status: "exit status 3"}
			t.Steps[3].Exchanges[0].Failure = &transcript.Failure{Kind: transcript.FailMalformed, Phase: transcript.PhaseHead}
		}, []string{"4 exchange-failed head", "4 target-exited process"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSide("ref").answers(`1`, `2`, `3`, `4`).stream("bus", "a 1") // one step per second
			s.t.Streams[0].Step = "2"
			for i := range s.t.Steps {
				step := &s.t.Steps[i]
				step.At, step.Took, step.Exchanges[0].Done = time.Duration(i+1)*sec, sec, time.Duration(i+1)*sec
			}
			s.t.Steps[1].Exchanges, s.t.Steps[2].Exchanges = nil, nil
			s.t.Steps[1].Stream, s.t.Steps[2].Stream = "bus", "bus"
			tc.change(s.t)
			var got []string
			for _, f := range AllUnmet(nil, s.t, &Rules{}) {
				got = append(got, f.Step+" "+string(f.Kind)+" "+f.Place)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("shortfalls (-want +got):\n%s", diff)
			}
		})
	}
}
