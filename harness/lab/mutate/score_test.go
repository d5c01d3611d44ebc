package mutate_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/lab/mutate"
)

func score() *mutate.Score {
	s := mutate.NewScore([]mutate.Operator{
		{Name: "status/class", Family: "status", Matters: true, Doc: "It fails"},
		{Name: "header/value", Family: "header", Matters: true, Doc: "It sends another value"},
		{Name: "header/missing", Family: "header", Matters: true, Doc: "It leaves the field out"},
		{Name: "same/escapes", Family: "same", Doc: "It escapes"},
	}, 7)
	for name, n := range map[string][3]int{"status/class": {10, 5, 5}, "header/value": {20, 6, 4}, "header/missing": {20, 5, 5}, "same/escapes": {9, 4, 1}} {
		op := s.Operator(name)
		op.Mutants, op.Judged, op.Found = n[0], n[1], n[2]
	}
	s.Took = 2 * time.Second
	s.Survivors = append(s.Survivors,
		mutate.Case{Operator: "header/value", Scenario: "b", Target: "go", Place: "step 1 header X", Before: "1", After: "\x1b[2J", Hidden: "header field X is not named in compare.headers"},
		mutate.Case{Operator: "header/value", Scenario: "a", Target: "go", Place: "step 1 header X", Before: "", After: "2", Hidden: "header field X is not named in compare.headers"},
	)
	s.FalseAlarms = append(s.FalseAlarms, mutate.Case{Operator: "same/escapes", Scenario: "a", Target: "go", Place: "step 2 body", Before: "/", After: `\/`, Found: "step 2: body: the values differ"})
	s.Conclude()
	return s
}

func TestTheTextOfAScore(t *testing.T) {
	var out strings.Builder
	if err := score().Text(&out, false); err != nil {
		t.Fatal(err)
	}
	want := `family              killed  of
status                   5  5        100.00 %
header                   9  11       81.81 %

lives: header/value, 2×
  hidden by: header field X is not named in compare.headers
  a (go): step 1 header X
    — → 2

false alarm: same/escapes, 1×
  a (go): step 2 body
    / → \\/
    found: step 2: body: the values differ

judged 20 of 59 mutants in 2.0 s, 600 a minute · seed 7
killed 14 of 16 that matter: 87.50 %; 1 of 4 that do not were flagged
`
	if diff := gocmp.Diff(want, out.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	out.Reset()
	if err := score().Text(&out, true); err != nil || !strings.Contains(out.String(), `1 → \x1b[2J`) || !strings.Contains(out.String(), "header/missing") {
		t.Errorf("verbose: %v\n%s", err, out.String())
	}
}

func TestTheJSONOfAScoreHasEveryCase(t *testing.T) {
	var out strings.Builder
	if err := score().JSON(&out); err != nil {
		t.Fatal(err)
	}
	var got mutate.Score
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(score(), &got); diff != "" {
		t.Errorf("read again (-want +got):\n%s", diff)
	}
}

func TestNothingThatMattersIsNoScore(t *testing.T) {
	s := mutate.NewScore(nil, 1)
	s.Conclude()
	if p := s.Percent(); p != 0 {
		t.Errorf("%g %% of nothing were killed", p)
	}
}
