package mutate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/lab/mutate"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// answered is a subject with one response on each side. The header has the length of its body.
func answered(t *testing.T, ref, cand string) *mutate.Subject {
	t.Helper()
	shape := func(name, pattern string) ident.IDShape {
		s, err := ident.NewIDShape(name, pattern, name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	told := func(s story, body string) *transcript.Transcript {
		x := s.answer("GET /sessions", 200, fmt.Sprintf("Content-Type: application/json\nContent-Length: %d", len(body)), body, time.Millisecond)
		return &transcript.Transcript{
			Unique: s.unique, Started: s.started, Took: time.Second, Steps: []transcript.Step{{ID: "1", Kind: "http", Exchanges: []*transcript.Exchange{x}}},
		}
	}
	return &mutate.Subject{Reference: told(reference, ref), Candidate: told(candidate, cand), Rules: &compare.Rules{
		Headers: []string{"Content-Length"},
		IDs:     []ident.IDShape{shape("session", "20[0-9]{6}_([0-9]+)"), shape("session-number", "New session ([0-9]+)")},
	}}
}

// mutants returns the bodies that an operator makes of a subject's body.
func mutants(t *testing.T, s *mutate.Subject, name string) []string {
	t.Helper()
	var out []string
	for _, op := range mutate.Operators() {
		if op.Name != name {
			continue
		}
		for m := range op.Mutants(s, 1) {
			out = append(out, string(m.Build().Steps[0].Exchanges[0].Response.Body.Bytes))
		}
	}
	return out
}

// If 20261120_68 became 20261120_6, it would be another valid id.
func TestIDsOfAProjectLeaveTheirShape(t *testing.T) {
	for _, tc := range []struct {
		name, operator, ref, cand string
		want                      []string
	}{
		{"shorter", "identity/shape", `{"id":"20261120_7"}`, `{"id":"20261120_68"}`, []string{`{"id":"20261120_"}`}},
		{"shorter, with words around it", "identity/shape", `{"name":"New session 7"}`, `{"name":"New session 68"}`, []string{`{"name":"New session "}`}},
		{"shorter behind it", "identity/shape", `{"id":"msg_20261120_7_0"}`, `{"id":"msg_20261120_68_0"}`, []string{`{"id":"msg_20261120_68_"}`}},
		{"one that is the beginning of another", "identity/other", `["20261120_7","20261120_70"]`, `["20261120_6","20261120_68"]`, nil},
		{"a text that both have by chance", "string/shorter", `{"name":"New session 68"}`, `{"name":"New session 68"}`, nil},
		{"a text that both have", "string/shorter", `{"name":"Session 68"}`, `{"name":"Session 68"}`, []string{`{"name":"Session 6"}`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := gocmp.Diff(tc.want, mutants(t, answered(t, tc.ref, tc.cand), tc.operator)); diff != "" {
				t.Errorf("mutants (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnotherIDDiffersInItsGeneratedPart(t *testing.T) {
	got := mutants(t, answered(t, `["20261120_7","20261120_7"]`, `["20261120_68","20261120_68"]`), "identity/other")
	if len(got) != 2 {
		t.Fatalf("%d mutants: %q", len(got), got)
	}
	for _, body := range got {
		if strings.Count(body, "20261120_68") != 1 || strings.Count(body, "20261120_") != 2 {
			t.Errorf("%s", body)
		}
	}
}

func TestAFreshIDDiffersInItsGeneratedPartEverywhere(t *testing.T) {
	s := answered(t, `{"id":"20261120_70","all":["msg_20261120_70_0","20261120_701","20261120_7"]}`, `{"id":"20261120_68","all":["msg_20261120_68_0","20261120_681","20261120_6"]}`)
	bodies := mutants(t, s, "same/fresh-ids")
	if len(bodies) != 3 { // one for each id
		t.Fatalf("%d mutants: %q", len(bodies), bodies)
	}
	var id, more, short, tiny string
	if _, err := fmt.Sscanf(strings.NewReplacer(`"`, " ", ",", " ").Replace(bodies[0]), "{ id : %s all :[ %s %s %s ]}", &id, &more, &short, &tiny); err != nil {
		t.Fatalf("%s: %v", bodies[0], err)
	}
	if id == "20261120_68" || !strings.HasPrefix(id, "20261120_") || len(id) != len("20261120_68") || more != "msg_"+id+"_0" || short != "20261120_681" || tiny != "20261120_6" {
		t.Errorf("one id is another, and the rest is not: %s", bodies[0])
	}
	if got := mutants(t, answered(t, `{"id":"20261120_68"}`, `{"id":"20261120_68"}`), "same/fresh-ids"); got != nil {
		t.Errorf("an id that both have, and a scenario may count on: %q", got)
	}
}

// Here the order of a list does not matter, and each side has another one.
func TestAnIDThatTheScenarioGivesIsNotGenerated(t *testing.T) {
	const ids = `["call-a0000001","call-a0000002"]`
	for name, tc := range map[string]struct {
		give func(*transcript.Transcript)
		to   int // how many sides
		want int
	}{
		"nowhere":      {func(*transcript.Transcript) {}, 2, 2},
		"in a request": {func(t *transcript.Transcript) { t.Steps[0].Exchanges[0].Request.Body.Bytes = []byte(ids) }, 2, 0},
		"in a path": {func(t *transcript.Transcript) {
			t.Steps[0].Exchanges[0].Request.Target = "/calls/call-a0000001,call-a0000002"
		}, 2, 0},
		"in a header": {func(t *transcript.Transcript) {
			t.Steps[0].Exchanges[0].Request.Header = transcript.Header{{Name: "X-Calls", Value: ids}}
		}, 2, 0},
		"in the response of a stub": {func(t *transcript.Transcript) {
			x := &transcript.Exchange{Response: &transcript.Response{Body: transcript.Body{Bytes: []byte(ids)}}}
			t.Upstream = []transcript.Step{{ID: "model.calls", Exchanges: []*transcript.Exchange{x}}}
		}, 2, 0},
		"in a line of a stub": {func(t *transcript.Transcript) {
			t.Streams = []*transcript.Stream{{Name: "cli", Stub: true, Wire: transcript.WireProgram, Events: []transcript.Event{{Item: transcript.ItemLine, Data: ids, Sent: true}}}}
		}, 2, 0},
		"the target says it": {func(t *transcript.Transcript) {
			t.Streams = []*transcript.Stream{{Name: "cli", Events: []transcript.Event{{Data: ids}}}}
		}, 2, 2},
		"only one side, which had it before": {func(t *transcript.Transcript) { t.Steps[0].Exchanges[0].Request.Body.Bytes = []byte(ids) }, 1, 2},
		"the beginning of an id that it does not": {func(t *transcript.Transcript) {
			t.Steps[0].Exchanges[0].Request.Body.Bytes = []byte(strings.ReplaceAll(ids, "000", "000x"))
		}, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := answered(t, ids, `["call-a0000002","call-a0000001"]`)
			for _, side := range []*transcript.Transcript{s.Candidate, s.Reference}[:tc.to] {
				tc.give(side)
			}
			if got := mutants(t, s, "same/fresh-ids"); len(got) != tc.want {
				t.Errorf("%d mutants, want %d: %q", len(got), tc.want, got)
			}
		})
	}
}

// If a text contains the time, the time also gives it away.
func TestAFreshIDWithATimeIsOfTheSameSecond(t *testing.T) {
	at := func(s story) string { return fmt.Sprint(s.started.UnixMilli()) }
	s := answered(t, `{"id":"call-`+reference.unique+`_`+at(reference)+`"}`, `{"id":"call-`+candidate.unique+`_`+at(candidate)+`"}`)
	for _, body := range mutants(t, s, "same/fresh-ids") {
		if was := `{"id":"call-` + candidate.unique + `_` + at(candidate); body[:len(was)-3] != was[:len(was)-3] || strings.HasPrefix(body, was) {
			t.Errorf("%s, and was %s", body, was)
		}
	}
}

func TestALengthThatCountedItsBodyCountsTheMutants(t *testing.T) {
	s := answered(t, `{"n":1}`, `{"n":1}`)
	for _, tc := range []struct{ length, want string }{{"7", "8"}, {"9", "9"}} {
		s.Candidate.Steps[0].Exchanges[0].Response.Header[1].Value = tc.length
		for _, op := range mutate.Operators() {
			if op.Name != "same/last-line" {
				continue
			}
			for m := range op.Mutants(s, 1) {
				if got, _ := m.Build().Steps[0].Exchanges[0].Response.Header.Get("Content-Length"); got != tc.want {
					t.Errorf("a length of %s is %s then, want %s", tc.length, got, tc.want)
				}
			}
		}
	}
}

func TestAFieldOfTheConnectionThatAScenarioDemandsMatters(t *testing.T) {
	s := answered(t, `{}`, `{}`)
	if got := mutants(t, s, "same/connection"); len(got) != 1 {
		t.Errorf("%d mutants of an answer without demands, want 1", len(got))
	}
	for _, e := range []*transcript.Expect{
		{Header: map[string]*string{"Connection": ptr("close")}},
		{OneOf: []transcript.Expect{{Status: 200}, {Header: map[string]*string{"connection": nil}}}},
	} {
		s.Candidate.Steps[0].Expect = e
		if got := mutants(t, s, "same/connection"); got != nil {
			t.Errorf("%d mutants of a field that is demanded, want none", len(got))
		}
		if got := mutants(t, s, "same/header-case"); len(got) != 1 {
			t.Errorf("%d mutants in lower case, want 1", len(got))
		}
	}
}

func TestAScenarioThatExpectsATimeAgainExpectsTheLaterOne(t *testing.T) {
	body := func(s story) string { return `{"at":"` + s.started.Format(time.RFC3339) + `"}` }
	s := answered(t, body(reference), body(candidate))
	s.Candidate.Steps[0].Expect = &transcript.Expect{Body: ptr(body(candidate))}
	for _, op := range mutate.Operators() {
		if op.Name != "same/clock" {
			continue
		}
		for m := range op.Mutants(s, 1) {
			step := m.Build().Steps[0]
			want := `{"at":"` + candidate.started.Add(7*time.Minute).Format(time.RFC3339) + `"}`
			if got := string(step.Exchanges[0].Response.Body.Bytes); got != want || *step.Expect.Body != want {
				t.Errorf("%s, and expected %s, want %s", got, *step.Expect.Body, want)
			}
		}
	}
	if *s.Candidate.Steps[0].Expect.Body != body(candidate) {
		t.Error("the original was changed")
	}
}

func TestWordsThatAServerMayChooseAreNoID(t *testing.T) {
	s := answered(t, `{"id":"abc123","why":"it was stopped","system":"x64 it is"}`, `{"id":"abd124","why":"context canceled","system":"an amd64"}`)
	s.Rules.Volatile = []jsondiff.Volatile{{At: "$.why", Kind: jsondiff.Text}, {At: "$.system", Kind: jsondiff.Text}}
	want := []string{`{"id":"abd12","why":"context canceled","system":"an amd64"}`, `{"id":"abd124","why":"context canceled","system":"an amd6"}`}
	if diff := gocmp.Diff(want, mutants(t, s, "identity/shape")); diff != "" {
		t.Errorf("mutants (-want +got):\n%s", diff)
	}
}
