package verdict

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// document has one operation that responds with 200 and {n: integer}, or with 404 and no body, and a stream.
const document = `
openapi: 3.0.3
info: {title: Numbers, version: "1"}
paths:
  /n:
    get:
      responses:
        '200':
          description: A number.
          content:
            application/json:
              schema: {type: object, properties: {n: {type: integer}, m: {}}}
        '404': {description: None.}
  /events:
    get:
      responses:
        '200':
          description: Numbers.
          content:
            text/event-stream:
              schema: {type: string}
              x-events:
                events:
                  n: {schema: {type: object, properties: {n: {type: integer}}}}
                  ping: {schema: {type: object, additionalProperties: false}}
`

func numbers(t *testing.T) *contract.Document {
	t.Helper()
	doc, err := contract.Parse([]byte(document), &contract.Options{File: "numbers.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// A side builds what one target did.
type side struct{ *transcript.Transcript }

func newSide(target string) side {
	return side{&transcript.Transcript{Target: target, Started: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}}
}

// answers adds a step for each response: a status, and a body after a 200.
func (s side) answers(all ...any) side {
	for i := 0; i < len(all); i++ {
		x := &transcript.Exchange{
			Request:  transcript.Request{Method: "GET", Target: "/n"},
			Response: &transcript.Response{Proto: "HTTP/1.1", Status: all[i].(int)},
		}
		if x.Response.Status == 200 {
			i++
			body := all[i].(string)
			x.Response.Header = transcript.Header{{Name: "Content-Type", Value: "application/json"}}
			x.Response.Body = transcript.Body{Bytes: []byte(body), Size: int64(len(body))}
		}
		s.step(transcript.Step{Text: "GET /n", Exchanges: []*transcript.Exchange{x}})
	}
	return s
}

func (s side) step(st transcript.Step) side {
	st.ID, st.Line = fmt.Sprint(len(s.Steps)+1), 10+len(s.Steps)
	s.Steps = append(s.Steps, st)
	return s
}

// stream adds a stream of events, each as "name data".
func (s side) stream(events ...string) side {
	s.step(transcript.Step{Text: "open feed", Stream: "feed", Exchanges: []*transcript.Exchange{{
		Request:  transcript.Request{Method: "GET", Target: "/events"},
		Response: &transcript.Response{Proto: "HTTP/1.1", Status: 200, Header: transcript.Header{{Name: "Content-Type", Value: "text/event-stream"}}},
		Stream:   "feed",
	}}})
	st := &transcript.Stream{Name: "feed", Step: s.Steps[len(s.Steps)-1].ID, Operation: "GET /events", Ended: transcript.EndedByClient}
	for _, e := range events {
		name, data, _ := strings.Cut(e, " ")
		st.Events = append(st.Events, transcript.Event{Name: name, Type: name, Data: data})
	}
	s.Streams = append(s.Streams, st)
	return s
}

func judged(t *testing.T, sides ...side) Scenario {
	t.Helper()
	c := &Case{ID: "story", File: "story.yaml", Line: 1, Rules: &compare.Rules{}, Contract: numbers(t), Alone: len(sides) == 1}
	for _, s := range sides {
		c.Transcripts = append(c.Transcripts, s.Transcript)
	}
	return Judge(c)
}

// said returns "class kind place (blame)" for each finding.
func said(s Scenario) []string {
	var out []string
	for _, f := range s.Findings {
		out = append(out, fmt.Sprintf("%s %s %s (%s)", f.Class, f.Kind, f.Place, f.Blame))
	}
	return out
}

func reasons(s Scenario) []string {
	var out []string
	for _, r := range s.Reasons {
		out = append(out, r.String())
	}
	return out
}

func TestBlameIsOnTheSideThatBreaksTheContract(t *testing.T) {
	for _, tc := range []struct {
		name      string
		ref, cand string
		want      []string
	}{
		{"nobody", `{"n":1}`, `{"n":2}`, []string{"difference value body /n (contract silent)"}},
		{"the candidate", `{"n":1}`, `{"n":"1"}`, []string{"difference type body /n (candidate)", "violation type body/n (candidate)"}},
		{"the reference", `{"n":"1"}`, `{"n":1}`, []string{"difference type body /n (reference)", "violation type body/n (reference)"}},
		{"both", `{"n":"1"}`, `{"n":true}`, []string{"difference type body /n (both)", "violation type body/n (reference)", "violation type body/n (candidate)"}},
		{"both, in the same way", `{"n":"1"}`, `{"n":"1"}`, []string{"violation type body/n (reference)", "violation type body/n (candidate)"}},
		{"one, elsewhere in the same answer", `{"n":1,"m":1}`, `{"n":"1","m":2}`, []string{
			"difference type body /n (candidate)", "difference value body /m (contract silent)", "violation type body/n (candidate)",
		}},
		{"one, and nothing differs there", `{"n":"1","m":1}`, `{"n":"1","m":2}`, []string{
			"difference value body /m (contract silent)", "violation type body/n (reference)", "violation type body/n (candidate)",
		}},
		{"one, at a field of another name", `{"m":{"n":1}}`, `{"m":{"n":2},"N":1}`, []string{
			"difference value body /m/n (contract silent)", "difference field-extra body /N (candidate)", "violation undocumented-field body/N (candidate)",
		}},
		{"one, around what differs", `{"n":1}`, `{"n":{"x":1}}`, []string{"difference type body /n (candidate)", "violation type body/n (candidate)"}},
		{"one, below what differs", `[]`, `{"n":"1"}`, []string{
			"difference type body (both)", "violation type body (reference)", "violation type body/n (candidate)",
		}},
		{"one, in the whole body", `{"n":1,"m":1}`, `{"n":1,"m":2} {}`, []string{
			"difference value body /m (candidate)", "violation json-trailing-text body (candidate)",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := judged(t, newSide("ref").answers(200, tc.ref), newSide("cand").answers(200, tc.cand))
			if diff := cmp.Diff(tc.want, said(got)); diff != "" {
				t.Errorf("said (-want +got):\n%s", diff)
			}
			if got.Verdict != Differ {
				t.Errorf("the verdict is %s, want %s", got.Verdict, Differ)
			}
		})
	}
}

// accepted changes the status of a side's first response to 202.
func accepted(s side) *transcript.Transcript {
	s.Steps[0].Exchanges[0].Response.Status = 202
	return s.Transcript
}

func TestBlameForAStatusFollowsItsSchema(t *testing.T) {
	const schemas = `openapi: 3.0.3
info: {title: t, version: "1"}
paths:
  /n:
    get:
      responses:
        '200': {description: ok, content: {application/json: {schema: {type: object, properties: {code: {type: string, enum: [A]}, n: {type: integer}}}}}}
        '202': {description: ok, content: {application/json: {schema: {type: object, properties: {code: {type: string, enum: [B]}, n: {type: integer}}}}}}
`
	d, err := contract.Parse([]byte(schemas), &contract.Options{File: "openapi.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name      string
		ref, cand string
		want      string
	}{
		{"the body is that of the other status", `{"code":"A"}`, `{"code":"A"}`, "difference status status (candidate)"},
		{"each body is that of its status", `{"code":"A"}`, `{"code":"B"}`, "difference status status (contract silent)"},
		{"something else is wrong, where they differ", `{"code":"A","n":1}`, `{"code":"B","n":"1"}`, "difference status status (contract silent)"},
		{"something else is wrong on both sides", `{"code":"A","n":"1"}`, `{"code":"B","n":"1"}`, "difference status status (contract silent)"},
	} {
		got := Judge(&Case{
			ID: "story", Contract: d, Rules: &compare.Rules{},
			Transcripts: []*transcript.Transcript{newSide("ref").answers(200, tc.ref).Transcript, accepted(newSide("cand").answers(200, tc.cand))},
		})
		if first := said(got)[0]; first != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, first, tc.want)
		}
	}
}

func TestBlameForAHeaderFieldIsAboutTheFieldOrTheWholeAnswer(t *testing.T) {
	answer := func(target, content, extra string) side {
		s := newSide(target).answers(200, `{"n":1}`)
		s.Steps[0].Exchanges[0].Response.Header = transcript.Header{{Name: "content-type", Value: content}, {Name: "X", Value: extra}}
		return s
	}
	c := &Case{
		ID: "story", Contract: numbers(t), Rules: &compare.Rules{Headers: []string{"Content-Type", "X"}},
		Transcripts: []*transcript.Transcript{answer("ref", "application/json", "1").Transcript, answer("cand", "text/csv", "2").Transcript},
	}
	want := []string{
		"difference header-value header Content-Type (candidate)", "difference header-value header X (candidate)",
		"violation undocumented-media-type header Content-Type (candidate)",
	}
	if diff := cmp.Diff(want, said(Judge(c))); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
}

func TestBlameForAnEventDependsOnItsPlace(t *testing.T) {
	got := judged(t, newSide("ref").stream(`n {"n":1,"m":1}`), newSide("cand").stream(`n {"n":"1","m":2}`))
	want := []string{
		"difference type event 1 (n) data /n (candidate)", "difference value event 1 (n) data /m (both)",
		"violation undocumented-field event 1 data/m (reference)",
		"violation type event 1 data/n (candidate)", "violation undocumented-field event 1 data/m (candidate)",
	}
	if diff := cmp.Diff(want, said(got)); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
	for _, f := range got.Findings[:2] {
		for _, w := range f.Contract {
			if !strings.HasSuffix(f.Place, strings.TrimPrefix(w.Place, "event data")) {
				t.Errorf("%s has the evidence of %s", f.Place, w.Place)
			}
		}
	}
}

func TestACauseIsReportedBeforeItsConsequences(t *testing.T) {
	// Each side opens a stream, and then does one step per second. The candidate's third step fails.
	ref, cand := newSide("ref").stream(`n {"n":1}`, `n {"n":3}`), newSide("cand").stream()
	for _, s := range []side{ref, cand} {
		s.answers(200, `{"n":1}`, 200, `{"n":1}`)
		for i := range s.Steps {
			at := time.Duration(i) * time.Second
			s.Steps[i].At, s.Steps[i].Exchanges[0].Sent, s.Steps[i].Exchanges[0].Done = at, at, at
		}
	}
	ref.Streams[0].Events[0].At, ref.Streams[0].Events[1].At = 1500*time.Millisecond, 2500*time.Millisecond
	broken := cand.Steps[2].Exchanges[0]
	broken.Response, broken.Failure = nil, &transcript.Failure{Kind: transcript.FailTimeout, Phase: transcript.PhaseHead, Text: "it hangs"}
	want := []string{
		"difference event-missing event 1 (n) (contract silent)", // belongs to the previous step
		"shortfall exchange-failed head (candidate)",
		"difference event-missing event 2 (n) (contract silent)",
	}
	if diff := cmp.Diff(want, said(judged(t, ref, cand))); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
	want = []string{
		"difference event-extra event 1 (n) (contract silent)",
		"shortfall exchange-failed head (reference)",
		"difference event-extra event 2 (n) (contract silent)",
	}
	if diff := cmp.Diff(want, said(judged(t, cand, ref))); diff != "" {
		t.Errorf("said with the sides changed (-want +got):\n%s", diff)
	}
	// The same, but the third step joins what the second has started.
	for _, s := range []side{ref, cand} {
		s.Steps[1].Exchanges, s.Steps[2].Exchanges[0].Sent = nil, 1100*time.Millisecond
	}
	want = []string{
		"shortfall exchange-failed head (candidate)",
		"difference event-missing event 1 (n) (contract silent)", "difference event-missing event 2 (n) (contract silent)",
	}
	if diff := cmp.Diff(want, said(judged(t, ref, cand))); diff != "" {
		t.Errorf("said of a join (-want +got):\n%s", diff)
	}
}

func TestFindingsSayWhere(t *testing.T) {
	got := judged(t, newSide("ref").answers(200, `{"n":1}`, 200, `{"n":1}`), newSide("cand").answers(200, `{"n":1}`, 200, `{"n":"1"}`))
	if len(got.Findings) != 2 {
		t.Fatalf("findings %v", said(got))
	}
	for _, f := range got.Findings {
		if f.Scenario != "story" || f.Step != "2" || f.Line != 11 || f.StepText != "GET /n" || f.Target != "cand" {
			t.Errorf("finding %+v", f)
		}
		if len(f.Contract) != 1 || f.Contract[0].Target != "cand" || f.Contract[0].Line == 0 {
			t.Errorf("what the contract says: %+v", f.Contract)
		}
	}
}

func TestEventsHaveTheSameNamesInDifferencesAndViolations(t *testing.T) {
	c := &Case{
		ID: "story", Contract: numbers(t), Rules: &compare.Rules{Streams: map[string]streamdiff.Rules{"feed": {Heartbeat: &streamdiff.Heartbeat{Event: "ping"}}}},
		Transcripts: []*transcript.Transcript{
			newSide("ref").stream(`ping {}`, `n {"n":1}`, `n {"n":2}`).Transcript,
			newSide("cand").stream(`n {"n":1}`, `ping {}`, `ping {}`, `n {"n":"2"}`, `ping {"x":1}`).Transcript,
		},
	}
	want := []string{
		"difference type event 2 (n) data /n (candidate)",
		"difference heartbeat heartbeat 3 (ping) (candidate)",
		"violation type event 2 data/n (candidate)",
		"violation forbidden-field heartbeat 3 data/x (candidate)",
	}
	if diff := cmp.Diff(want, said(Judge(c))); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
}

func TestWhatCannotBeJudgedIsUnknown(t *testing.T) {
	one := func(target string) side { return newSide(target).answers(200, `{"n":1}`) }
	exit := &transcript.Exit{Status: "exit status 2", Log: []string{"panic: oh no"}}
	for _, tc := range []struct {
		name      string
		ref, cand side
		change    func(ref, cand side)
		verdict   Verdict
		findings  []string
		reasons   []string
	}{
		{"nothing is wrong", one("ref"), one("cand"), func(ref, cand side) {}, Match, nil, nil},
		{
			"the reference was not there", newSide("ref"), one("cand"), func(ref, cand side) { ref.Unusable = "not ready" },
			Unknown, nil, []string{"ref: not ready"},
		},
		{
			"the candidate was not there", one("ref"), newSide("cand"), func(ref, cand side) { cand.Unusable = "not ready" },
			Unknown, nil, []string{"cand: not ready"},
		},
		{
			"the reference died, and the candidate is wrong", one("ref"), newSide("cand").answers(200, `{"n":"1"}`), func(ref, cand side) { ref.Exit = exit },
			Unknown, nil, []string{"ref: the reference's process ended: exit status 2"},
		},
		{
			"the candidate died", one("ref"), one("cand"), func(ref, cand side) { cand.Exit = exit },
			Differ, []string{"shortfall target-exited process (candidate)"}, []string{"cand: the process ended: exit status 2"},
		},
		{
			"it was cut short", one("ref"), one("cand"), func(ref, cand side) { ref.Aborted = "its 5s were over" },
			Unknown, nil, []string{"ref: cut short: its 5s were over"},
		},
		{
			"it was cut short, and something differs", one("ref"), newSide("cand").answers(200, `{"n":2}`), func(ref, cand side) { cand.Aborted = "its 5s were over" },
			Differ, []string{"difference value body /n (contract silent)"}, []string{"cand: cut short: its 5s were over"},
		},
		{
			"a step could not be done as it is written", one("ref").step(transcript.Step{Fault: "it makes no sense"}), one("cand").step(transcript.Step{}), func(ref, cand side) {},
			Unknown, nil, []string{"ref: step 2: it makes no sense"},
		},
		{
			"nothing was compared", newSide("ref").step(transcript.Step{}), newSide("cand").step(transcript.Step{}), func(ref, cand side) {},
			Unknown, nil, []string{"nothing was compared"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.change(tc.ref, tc.cand)
			got := judged(t, tc.ref, tc.cand)
			isJudged(t, got, tc.verdict, tc.findings, tc.reasons)
			for _, r := range got.Reasons {
				if strings.Contains(r.Text, "ended") && len(r.Log) != 1 {
					t.Errorf("%s: the log is %q", r, r.Log)
				}
			}
		})
	}
}

func isJudged(t *testing.T, got Scenario, verdict Verdict, findings, why []string) {
	t.Helper()
	if got.Verdict != verdict {
		t.Errorf("the verdict is %s, want %s", got.Verdict, verdict)
	}
	if diff := cmp.Diff(findings, said(got)); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(why, reasons(got)); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

func TestOneTargetAloneIsJudgedByTheContractAndTheScenario(t *testing.T) {
	for _, tc := range []struct {
		name    string
		side    side
		verdict Verdict
		want    []string
		reasons []string
	}{
		{"it is right", newSide("only").answers(200, `{"n":1}`), Match, nil, nil},
		{"it breaks the contract", newSide("only").answers(200, `{"n":"1"}`), Differ, []string{"violation type body/n (candidate)"}, nil},
		{"it is not as the scenario expects", newSide("only").answers(404).expects(200), Differ, []string{"shortfall expectation status (candidate)"}, nil},
		{"it is a program", newSide("only").runs("done"), Match, nil, nil},
		{"it is a program that says nothing", newSide("only").runs(), Unknown, nil, []string{"no target answered"}},
		{"it did not answer", newSide("only").step(transcript.Step{}), Unknown, nil, []string{"no target answered"}},
		{"it died", newSide("only").answers(200, `{"n":1}`).exits(), Differ, []string{"shortfall target-exited process (candidate)"}, []string{"only: the process ended: exit status 2"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := judged(t, tc.side)
			isJudged(t, got, tc.verdict, tc.want, tc.reasons)
		})
	}
}

func (s side) expects(status int) side {
	s.Steps[len(s.Steps)-1].Expect = &transcript.Expect{Status: status}
	return s
}

// runs has a program that is told something, and writes lines.
func (s side) runs(lines ...string) side {
	st := &transcript.Stream{Name: "tool", Step: "1", Wire: transcript.WireProgram, Events: []transcript.Event{{Name: "line", Item: transcript.ItemLine, Data: "go", Sent: true}}}
	for _, line := range lines {
		st.Events = append(st.Events, transcript.Event{Name: "line", Item: transcript.ItemLine, Data: line})
	}
	s.Streams = append(s.Streams, st)
	return s.step(transcript.Step{Kind: "open", Stream: "tool"})
}

func (s side) exits() side {
	s.Exit = &transcript.Exit{Status: "exit status 2"}
	return s
}

func TestAScenarioThatDoesNotApplyIsNotJudged(t *testing.T) {
	got := Judge(&Case{ID: "story", NotApplicable: "it wants processes"})
	if got.Verdict != NotApplicable || len(got.Findings) > 0 || len(got.Reasons) != 1 || got.Reasons[0].Text != "it wants processes" {
		t.Errorf("judged %+v", got)
	}
}

func TestEachCandidateIsComparedWithTheReference(t *testing.T) {
	got := judged(t, newSide("ref").answers(200, `{"n":1}`), newSide("one").answers(200, `{"n":1}`), newSide("two").answers(200, `{"n":2}`))
	if len(got.Findings) != 1 || got.Findings[0].Target != "two" || got.Compared.Exchanges != 2 {
		t.Errorf("said %v of %d pairs", said(got), got.Compared.Exchanges)
	}
}

func TestOurOwnRequestsAreNotBlamedOnAServer(t *testing.T) {
	ref, cand := newSide("ref").answers(200, `{"n":1}`), newSide("cand").answers(200, `{"n":1}`)
	for _, s := range []side{ref, cand} {
		s.Steps[0].Exchanges[0].Request.Target = "/nowhere"
	}
	if got := judged(t, ref, cand); got.Verdict != Match || len(got.Findings) > 0 {
		t.Errorf("%s: %v", got.Verdict, said(got))
	}
}

func TestAFloodOfFindingsIsCut(t *testing.T) {
	var events []string
	for range 5000 {
		events = append(events, "stranger {}")
	}
	got := judged(t, newSide("ref").stream(events...), newSide("cand").stream(events...))
	if len(got.Findings) != maxFindings || got.Verdict != Differ {
		t.Errorf("%d findings, %s", len(got.Findings), got.Verdict)
	}
	want := []string{"10000 findings; only the first 1000 are listed"}
	if diff := cmp.Diff(want, reasons(got)); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

func TestTargetsAreCounted(t *testing.T) {
	got := judged(t, newSide("ref").answers(200, `{"n":1}`, 404, 401).stream(`n {"n":1}`), newSide("cand").answers(200, `{"n":1}`, 404, 401).stream(`n {"n":1}`))
	want := []Target{{Name: "ref", Exchanges: 4, Tally: transcript.Tally{Events: 1}, Success: 2, Unauthorized: 1}, {Name: "cand", Exchanges: 4, Tally: transcript.Tally{Events: 1}, Success: 2, Unauthorized: 1}}
	if diff := cmp.Diff(want, got.Targets); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
}

// A program has no responses with a status, and a driver's calls have none of HTTP. What a program writes is an answer.
func TestProgramsAndDriversAreCountedByWhatTheyDo(t *testing.T) {
	program := newSide("tool")
	program.step(transcript.Step{Text: "open tool: program", Kind: "open", Stream: "tool"})
	program.Streams = append(program.Streams, &transcript.Stream{Name: "tool", Step: program.Steps[0].ID, Wire: transcript.WireProgram, Ended: transcript.EndedByServer, Events: []transcript.Event{
		{Item: transcript.ItemLine, Name: "line", Sent: true}, {Item: transcript.ItemLine, Name: "line"},
		{Item: transcript.ItemStderr, Name: "stderr"}, {Item: transcript.ItemExit, Name: "exit", Data: `{"status":0}`},
	}})
	driver := newSide("lib")
	for _, body := range []string{`{"ok":1}`, `{"error":{}}`} {
		driver.step(transcript.Step{Text: "do it", Kind: "do", Exchanges: []*transcript.Exchange{{
			Request:  transcript.Request{Method: transcript.Do, Target: "it"},
			Response: &transcript.Response{Proto: "driver", Status: 200, Body: transcript.Body{Bytes: []byte(body), Size: int64(len(body))}},
		}}})
	}
	for _, tc := range []struct {
		side side
		want Target
	}{
		{program, Target{Name: "tool", Tally: transcript.Tally{Lines: 2}}},
		{driver, Target{Name: "lib", Calls: 2, Done: 1}},
	} {
		got := judged(t, tc.side)
		if diff := cmp.Diff([]Target{tc.want}, got.Targets); diff != "" {
			t.Errorf("targets (-want +got):\n%s", diff)
		}
		if got.Verdict != Match {
			t.Errorf("%s alone: %s, %v", tc.want.Name, got.Verdict, got.Reasons)
		}
	}
}

func TestALongWaitForAProcessorIsReported(t *testing.T) {
	waits := func(d time.Duration) side {
		s := newSide("x").answers(200, `{"n":1}`)
		s.Took, s.Starved = 9*time.Second, []transcript.Starvation{{From: 0, Until: 8 * time.Second, For: d}}
		return s
	}
	got := judged(t, waits(999*time.Millisecond), waits(5*time.Second))
	if got.Verdict != Match || got.Targets[0].Waited != 0 || got.Targets[1].Waited != 5000 {
		t.Errorf("%s, %+v; want a match, and 5 s of the second target alone", got.Verdict, got.Targets)
	}
}

// The number of heartbeats depends on the clock.
func TestHeartbeatsDoNotCount(t *testing.T) {
	c := &Case{
		ID: "story", Contract: numbers(t), Rules: &compare.Rules{Streams: map[string]streamdiff.Rules{"feed": {Heartbeat: &streamdiff.Heartbeat{Event: "ping"}}}},
		Transcripts: []*transcript.Transcript{
			newSide("ref").stream(`n {"n":1}`).Transcript, newSide("cand").stream(`ping {}`, `n {"n":1}`, `ping {}`).Transcript,
		},
	}
	for _, target := range Judge(c).Targets {
		if target.Events != 1 {
			t.Errorf("%s has %d events, want 1", target.Name, target.Events)
		}
	}
}

// A value that a rule calls a token is not shown in any finding or reason.
func TestATokenIsConcealed(t *testing.T) {
	const secret = "s3cr3t-0123456789"
	c := &Case{ID: "story", Contract: numbers(t), Rules: &compare.Rules{Volatile: []jsondiff.Volatile{{At: "$.n", Kind: jsondiff.Token}}}}
	for _, s := range []side{newSide("ref").answers(200, `{"n":"`+secret+`"}`, 200, `{"m":"`+secret+`"}`), newSide("cand").answers(200, `{"n":"`+secret+`"}`, 200, `{"m":"other"}`)} {
		s.step(transcript.Step{Text: "close feed", Fault: "it says " + secret})
		c.Transcripts = append(c.Transcripts, s.Transcript)
	}
	out := Judge(c)
	if len(out.Findings) < 3 || len(out.Reasons) != 2 {
		t.Errorf("findings %q, reasons %q", said(out), reasons(out))
	}
	if text := fmt.Sprintf("%+v", out); strings.Contains(text, secret) || !strings.Contains(text, "it says ‹token of 17 characters›") {
		t.Errorf("a token is shown: %s", text)
	}
}

// What a refused rule would have covered was compared, but the result is not reliable.
func TestARefusedRuleLeavesItsScenarioUnknown(t *testing.T) {
	c := &Case{ID: "story", Contract: numbers(t), Rules: &compare.Rules{Volatile: []jsondiff.Volatile{{At: "$.m", Kind: jsondiff.Text, Rule: "lockstep.yaml:7:5"}}}}
	for _, target := range []string{"ref", "cand", "other"} {
		c.Transcripts = append(c.Transcripts, newSide(target).answers(200, `{"m":{"a":1}}`).Transcript)
	}
	out := Judge(c)
	want := []Reason{{Kind: "rule-structural", Text: "lockstep.yaml:7:5: the rule for $.m selects an object, at step 1 body /m: select the values in it"}}
	if diff := cmp.Diff(want, out.Reasons); diff != "" || out.Verdict != Unknown {
		t.Errorf("it is %s, reasons (-want +got):\n%s", out.Verdict, diff)
	}
}
