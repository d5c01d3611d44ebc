package verdict

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// cellsOf returns the blame matrix of one scenario.
func cellsOf(s Scenario) BlameMatrix {
	var r Run
	r.Add(s)
	return r.Blame
}

// mirrored returns the matrix with the roles of the targets swapped.
func mirrored(c BlameMatrix) string {
	c.Differ.Candidate, c.Differ.Reference = c.Differ.Reference, c.Differ.Candidate
	c.Equal.Candidate, c.Equal.Reference = c.Equal.Reference, c.Equal.Candidate
	return c.String()
}

// with adds a header field to the last response.
func (s side) with(name, value string) side {
	r := s.Steps[len(s.Steps)-1].Exchanges[0].Response
	r.Header = append(r.Header, transcript.Field{Name: name, Value: value})
	return s
}

// strictDocument is document with a header field, and without the status 404 and the event ping.
var strictDocument = strings.NewReplacer(
	"          description: A number.\n", "          description: A number.\n          headers: {X: {schema: {type: integer}}}\n",
	"        '404': {description: None.}\n", "",
	"                  ping: {schema: {type: object, additionalProperties: false}}\n", "",
).Replace(document)

func TestEachCellHasItsFindings(t *testing.T) {
	doc, err := contract.Parse([]byte(strictDocument), &contract.Options{File: "numbers.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name      string
		ref, cand side
		want      string
	}{
		{"nothing to tell", newSide("a").answers(200, `{"n":1}`), newSide("b").answers(200, `{"n":1}`), ""},
		{"differ, candidate", newSide("a").answers(200, `{"n":1}`), newSide("b").answers(200, `{"n":"1"}`), "differ: candidate 1"},
		{"differ, reference", newSide("a").answers(200, `{"n":"1"}`), newSide("b").answers(200, `{"n":1}`), "differ: reference 1"},
		{"differ, both", newSide("a").answers(200, `{"n":"1"}`), newSide("b").answers(200, `{"n":true}`), "differ: both 1"},
		{"differ, contract silent", newSide("a").answers(200, `{"n":1}`), newSide("b").answers(200, `{"n":2}`), "differ: contract silent 1"},
		{"equal, both", newSide("a").answers(200, `{"n":"1"}`), newSide("b").answers(200, `{"n":"1"}`), "equal: both 1"},
		{"equal, candidate, in a field that is not compared", newSide("a").answers(200, `{"n":1}`).with("X", "1"), newSide("b").answers(200, `{"n":1}`).with("X", "one"), "equal: candidate 1"},
		{"equal, reference, in a field that is not compared", newSide("a").answers(200, `{"n":1}`).with("X", "one"), newSide("b").answers(200, `{"n":1}`).with("X", "1"), "equal: reference 1"},
		{"equal, both, with values that are not compared", newSide("a").answers(200, `{"n":1}`).with("X", "one"), newSide("b").answers(200, `{"n":1}`).with("X", "two"), "equal: both 1"},
		{"each in another way, and nothing compared", newSide("a").answers(200, `{"n":"1"}`).with("X", "one"), newSide("b").answers(200, `{"n":"1"}`).with("X", "1"), "equal: reference 1, both 1"},
		{"several at once",
			newSide("a").answers(200, `{"n":"1","m":1}`, 200, `{"n":1}`), newSide("b").answers(200, `{"n":"1","m":2}`, 200, `{"n":"1"}`),
			"differ: candidate 1, contract silent 1 · equal: both 1"},
		{"the same in two answers is not one", newSide("a").answers(200, `{"n":"1"}`, 200, `{"n":1}`), newSide("b").answers(200, `{"n":1}`, 200, `{"n":"1"}`),
			"differ: candidate 1, reference 1"},
		{"events, alike beside one that differs", newSide("a").stream(`n {"n":"1"}`, `n {"n":2}`), newSide("b").stream(`n {"n":"1"}`, `n {"n":"2"}`),
			"differ: candidate 1 · equal: both 1"},
		{"events, all alike", newSide("a").stream(`n {"n":"1"}`, `n {"n":"1"}`), newSide("b").stream(`n {"n":"1"}`, `n {"n":"1"}`), "equal: both 2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cells := func(sides ...side) BlameMatrix {
				c := &Case{ID: "story", Contract: doc, Rules: &compare.Rules{}}
				for _, s := range sides {
					c.Transcripts = append(c.Transcripts, s.Transcript)
				}
				return cellsOf(Judge(c))
			}
			if got := cells(tc.ref, tc.cand).String(); got != tc.want {
				t.Errorf("the cells are %q, want %q", got, tc.want)
			}
			if got := mirrored(cells(tc.cand, tc.ref)); got != tc.want {
				t.Errorf("with the targets swapped, and the cells swapped back, they are %q, want %q", got, tc.want)
			}
		})
	}
}

func TestEveryDifferenceAndViolationIsInACell(t *testing.T) {
	s := judged(t,
		newSide("ref").answers(200, `{"n":"1","m":1}`, 404, 200, `{"n":1,"m":1}`).stream(`n {"n":1,"m":1}`),
		newSide("cand").answers(200, `{"n":"1","m":2}`, 500, 200, `{"n":1,"m":2} {}`).stream(`n {"n":"1","m":2}`, `ping {"x":1}`),
	)
	told := map[int]int{}
	c := cellsOf(s)
	for _, row := range []BlameRow{c.Differ, c.Equal} {
		for _, b := range blames {
			for _, x := range *row.entries(b) {
				for _, i := range x.Findings {
					told[i]++
				}
			}
		}
	}
	for i, f := range s.Findings {
		if f.Class != Unmet && told[i] == 0 {
			t.Errorf("no cell has %s", f)
		}
	}
	if len(s.Findings) < 8 {
		t.Errorf("only %d findings: the test has become too easy", len(s.Findings))
	}
}

func TestATargetAloneHasNoCells(t *testing.T) {
	s := judged(t, newSide("only").answers(200, `{"n":"1"}`))
	if got := cellsOf(s); len(s.Findings) == 0 || got.String() != "" {
		t.Errorf("%d findings, and the cells are %q; want some, and none", len(s.Findings), got)
	}
}

func TestCandidatesAreDistinguished(t *testing.T) {
	c := cellsOf(judged(t, newSide("ref").answers(200, `{"n":"1"}`), newSide("like").answers(200, `{"n":"1"}`), newSide("unlike").answers(200, `{"n":1}`)))
	got := fmt.Sprint(c.Differ.Reference, c.Equal.Both)
	if want := "[{story unlike [0 1]}] [{story like [1 2]}]"; got != want {
		t.Errorf("differ, reference and equal, both are %s, want %s", got, want)
	}
	if none := c.Filter(func(id string) bool { return id != "story" }); none.String() != "" {
		t.Errorf("of another scenario there is %q", none)
	}
	if all := c.Filter(func(id string) bool { return id == "story" }); !cmp.Equal(all, c) {
		t.Errorf("of the scenario there is %q, want %q", all, c)
	}
}

// No contract describes what servers ask their upstreams.
func TestUpstreamRequestsAreNotInTheContract(t *testing.T) {
	got := cellsOf(Scenario{ID: "ask", Targets: []Target{{Name: "ref"}, {Name: "cand"}}, Findings: []Finding{
		{Class: Difference, Target: "cand", Upstream: "llm", Blame: BlameNobody}, {Class: Difference, Target: "cand", Blame: BlameNobody},
	}}).String()
	if want := "differ: contract silent 1, not in the contract 1"; got != want {
		t.Errorf("the cells are %q, want %q", got, want)
	}
}
