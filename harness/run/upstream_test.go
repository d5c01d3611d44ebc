package run

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/memnet"
)

// An inquirer is a server that calls its upstream after its own response. The client's request says how often, and with
// which body.
type inquirer struct {
	upstream *http.Client
	late     time.Duration // pause between its response and its call
}

func (q *inquirer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	times, _ := strconv.Atoi(r.URL.Query().Get("times"))
	body, _ := io.ReadAll(r.Body)
	ask := func() {
		for range max(1, times) {
			resp, err := q.upstream.Post("http://memory/v1/chat/completions", "application/json", strings.NewReader(string(body)))
			if err == nil {
				io.Copy(w, resp.Body)
				resp.Body.Close()
			}
		}
	}
	if q.late == 0 {
		ask()
		return
	}
	time.AfterFunc(q.late, func() {
		if resp, err := q.upstream.Post("http://memory/v1/chat/completions", "application/json", strings.NewReader(string(body))); err == nil {
			resp.Body.Close()
		}
	})
}

// inquire runs a story on two servers that each call an upstream, with a fake clock.
func inquire(t *testing.T, text string, late [2]time.Duration, check func(t *testing.T, ref, cand *transcript.Transcript, took time.Duration)) {
	t.Helper()
	callUpstreams(t, text, "llm", stub.OpenAI, func(i int, upstream *http.Client) http.Handler { return &inquirer{upstream, late[i]} },
		func(t *testing.T, took time.Duration, ts ...*transcript.Transcript) { check(t, ts[0], ts[1], took) })
}

// callUpstreams runs a story on two servers that each have a stub of their own, with a fake clock. server returns the
// first or the second of them; its client reaches its stub at http://memory.
func callUpstreams(t *testing.T, text, name string, kind stub.Kind, server func(i int, upstream *http.Client) http.Handler, check func(t *testing.T, took time.Duration, ts ...*transcript.Transcript)) {
	t.Helper()
	s := story(t, text)
	synctest.Test(t, func(t *testing.T) {
		var targets []*Target
		for i, side := range []string{"ref", "cand"} {
			l := memnet.Listen()
			up := stub.Serve(l, name, kind, stub.Options{})
			transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx) }}
			to := target(t, side, server(i, &http.Client{Transport: transport}))
			to.Stubs = map[string]*stub.Server{name: up}
			targets = append(targets, to)
			t.Cleanup(func() {
				up.Close()
				transport.CloseIdleConnections()
			})
		}
		start := time.Now()
		ts := Scenario(t.Context(), s, targets, options())
		check(t, time.Since(start), ts...)
		synctest.Wait()
	})
}

// told returns one text for each rule: the step's id, the number of requests, their failures, and what is unmet or a fault.
func told(ts ...*transcript.Transcript) (out []string) {
	for _, t := range ts {
		for _, s := range t.Upstream {
			text := s.ID + " " + strconv.Itoa(len(s.Exchanges))
			for _, x := range s.Exchanges {
				if x.Failure != nil {
					text += " " + x.Failure.Text
				}
			}
			if s.Unmet != nil {
				text += ": " + s.Unmet.What + ", " + s.Unmet.Why
			}
			if s.Fault != "" {
				text += "! " + s.Fault
			}
			out = append(out, text)
		}
	}
	return out
}

func TestARequestThatNoRuleAnswersHasItsOwnReason(t *testing.T) {
	const text = `
stubs:
  llm:
    - {name: only, answer: {text: A}}
steps:
  - {http: POST /a, json: {model: m, messages: [{role: user, content: "${{ unique }}"}]}}
  - {http: POST /a, json: {model: m, messages: [{role: user, content: nobody}]}}
  - {http: POST /a, json: {model: m, messages: [{role: user, content: "${{ unique }}"}]}}
`
	inquire(t, text, [2]time.Duration{}, func(t *testing.T, ref, cand *transcript.Transcript, _ time.Duration) {
		for _, side := range []*transcript.Transcript{ref, cand} {
			var got []string
			for _, s := range side.Upstream {
				for _, x := range s.Exchanges {
					got = append(got, s.ID+": "+strings.SplitN(x.Unanswered, ",", 2)[0])
				}
			}
			same(t, side.Target+"'s requests", got, []string{
				"llm.only: ", "llm.unexpected: no scenario's ${{ unique }} is in it", "llm.unexpected: no rule of the scenario answers it",
			})
		}
	})
}

func TestRulesAnswerInOrderAndAsOftenAsConfigured(t *testing.T) {
	const text = `
stubs:
  llm:
    - {name: side, when: {last: aside}, times: any, answer: {text: A}}
    - {name: first, answer: {text: B}}
    - {name: then, times: 2, answer: {text: C}}
    - {name: never, times: 0..1, when: {model: other}, answer: {text: D}}
steps:
  - {http: POST /a, json: {model: m, messages: [{role: user, content: "${{ unique }}"}]}}
  - {http: POST /a, json: {model: m, messages: [{role: user, content: "aside ${{ unique }}"}]}}
  - {http: POST /a, json: {model: m, messages: [{role: user, content: "${{ unique }}"}]}}
  - {http: POST /a, query: {times: 2}, json: {model: m, messages: [{role: user, content: "${{ unique }}"}]}}
`
	inquire(t, text, [2]time.Duration{}, func(t *testing.T, ref, cand *transcript.Transcript, _ time.Duration) {
		want := []string{"llm.side 1", "llm.first 1", "llm.then 2", "llm.never 0", "llm.unexpected 1: no such request, no rule of the scenario answers it"}
		if d := cmp.Diff(append(want, want...), told(ref, cand)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}

// A rule sees the values that are captured when the request comes, and responds with them.
func TestARuleHasTheValuesOfItsTime(t *testing.T) {
	const text = `
vars: {word: "w-${{ unique }}"}
stubs:
  llm:
    - {name: other, when: {json: {$.model: "${{ said }}"}}, answer: {body: "${{ said }}"}}
    - {name: first, answer: {json: {say: "${{ word }}"}}}
steps:
  - {http: POST /a, json: {model: "${{ word }}"}, capture: {said: $.say}}
  - {http: POST /a, json: {model: "${{ said }}"}}
`
	inquire(t, text, [2]time.Duration{}, func(t *testing.T, ref, _ *transcript.Transcript, _ time.Duration) {
		if d := cmp.Diff([]string{"llm.other 1", "llm.first 1"}, told(ref)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		if got := string(ref.Steps[1].Exchanges[0].Response.Body.Bytes); got != "w-"+ref.Unique {
			t.Errorf("the second answer is %q", got)
		}
	})
}

func TestAnAnswerOfWhatHasNoValueYetIsAMistake(t *testing.T) {
	const text = `
stubs: {llm: [{answer: {text: "${{ said }}"}}]}
steps:
  - {http: POST /a, json: {model: "${{ unique }}"}, capture: {said: $.error.message}}
`
	inquire(t, text, [2]time.Duration{}, func(t *testing.T, ref, _ *transcript.Transcript, _ time.Duration) {
		if d := cmp.Diff([]string{`llm.1 1! the rule "1" answers before said has a value`}, told(ref)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}

// lockstep waits for a target that calls its upstream late, as long as it waits for streams.
func TestALateRequestToAnUpstreamIsAwaited(t *testing.T) {
	const text = `
stubs: {llm: [{answer: {text: A}, times: TIMES}]}
steps:
  - {http: POST /a, json: {model: "${{ unique }}"}}
`
	for _, tc := range []struct {
		times string
		late  [2]time.Duration
		want  []string
		took  time.Duration
	}{
		{"1", [2]time.Duration{0, 300 * time.Millisecond}, []string{"llm.1 1", "llm.1 1"}, 300 * time.Millisecond},
		{"any", [2]time.Duration{300 * time.Millisecond, 0}, []string{"llm.1 1", "llm.1 1"}, 300 * time.Millisecond},
		{"1", [2]time.Duration{0, 3 * time.Second}, []string{"llm.1 1", "llm.1 0: a request, none came"}, 2 * time.Second},
		{"any", [2]time.Duration{3 * time.Second, 0}, []string{"llm.1 0", "llm.1 1"}, 2 * time.Second},
	} {
		inquire(t, strings.Replace(text, "TIMES", tc.times, 1), tc.late, func(t *testing.T, ref, cand *transcript.Transcript, took time.Duration) {
			if d := cmp.Diff(tc.want, told(ref, cand)); d != "" || took.Round(10*time.Millisecond) != tc.took {
				t.Errorf("%v: after %s (-want +got):\n%s", tc.late, took, d)
			}
			time.Sleep(5 * time.Second) // a call at this time belongs to no scenario
		})
	}
}

func TestAskedWaitsForTheUpstream(t *testing.T) {
	const text = `
stubs: {llm: [{name: a, times: any, answer: {text: A}}]}
steps:
  - {http: POST /a, json: {model: "${{ unique }}"}}
  - {asked: llm.a, within: 500ms}
  - {asked: llm.a, times: 2, within: 500ms}
`
	inquire(t, text, [2]time.Duration{300 * time.Millisecond, 700 * time.Millisecond}, func(t *testing.T, ref, cand *transcript.Transcript, _ time.Duration) {
		var got []string
		for _, s := range append(ref.Steps[1:], cand.Steps[1:]...) {
			line := s.ID + " " + s.Took.Round(10*time.Millisecond).String()
			if s.Unmet != nil {
				line += " " + s.Unmet.Kind + ": " + s.Unmet.What + ", " + s.Unmet.Why
			}
			got = append(got, line)
		}
		over := ": the step's 500ms were over"
		want := []string{"2 300ms", "3 500ms asked: 2 requests, 1 came" + over, "2 500ms asked: a request, none came" + over, "3 500ms asked: 2 requests, 1 came" + over}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}

// A target that calls its upstream without end is refused at some point, and the report says so.
func TestTheRecordOfAnUpstreamIsBounded(t *testing.T) {
	text := fmt.Sprintf(`
stubs: {llm: [{name: a, times: any, answer: {body: A}}]}
steps:
  - {http: POST /a, query: {times: %d}, json: {model: "${{ unique }}"}}
`, maxRequests+maxUnexpected+10)
	inquire(t, text, [2]time.Duration{}, func(t *testing.T, ref, _ *transcript.Transcript, _ time.Duration) {
		want := []string{"llm.a 1000", "llm.unexpected 100: no such request, the scenario got more requests than lockstep keeps"}
		if d := cmp.Diff(want, told(ref)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}
