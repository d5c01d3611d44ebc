package verdict

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestARunIsAsGoodAsItsWorstScenario(t *testing.T) {
	for _, tc := range []struct {
		name       string
		scenarios  []Verdict
		incomplete string
		want       Verdict
	}{
		{"all match", []Verdict{Match, Match}, "", Match},
		{"one differs", []Verdict{Match, Differ, Unknown}, "", Differ},
		{"one is unknown", []Verdict{Match, Unknown, NotApplicable}, "", Unknown},
		{"one does not apply", []Verdict{NotApplicable, Match}, "", Match},
		{"none applies", []Verdict{NotApplicable, NotApplicable}, "", Unknown},
		{"none at all", nil, "", Unknown},
		{"all match, and some are missing", []Verdict{Match}, "interrupted", Unknown},
		{"one differs, and some are missing", []Verdict{Differ}, "interrupted", Differ},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := Run{Incomplete: tc.incomplete}
			for _, v := range tc.scenarios {
				r.Add(Scenario{Verdict: v})
			}
			if got := r.Conclude(); got != tc.want || r.Verdict != tc.want {
				t.Errorf("the run is %s, want %s", got, tc.want)
			}
		})
	}
}

func TestTotalsSumUpScenarios(t *testing.T) {
	var r Run
	r.Add(Scenario{
		Verdict: Differ, Findings: []Finding{{Class: Difference}, {Class: Violation}, {Class: Violation}, {Class: Unmet}},
		Targets:  []Target{{Name: "ref", Exchanges: 3, Tally: transcript.Tally{Events: 2}, Success: 1, Unauthorized: 1, Upstream: 5}, {Name: "cand", Exchanges: 2, Tally: transcript.Tally{Events: 2}, Success: 1, Unauthorized: 1, Upstream: 4}},
		Compared: Compared{Exchanges: 2, Tally: transcript.Tally{Events: 2}, NotCompared: map[string]int{"an exchange that failed": 1}, Unnamed: map[string]int{"Vary": 1}},
	})
	r.Add(Scenario{Verdict: NotApplicable})
	r.Add(Scenario{
		Verdict: Match, Targets: []Target{{Name: "ref", Exchanges: 1, Tally: transcript.Tally{Events: 0}, Success: 1, Unauthorized: 1, Upstream: 0}, {Name: "cand", Exchanges: 1, Tally: transcript.Tally{Events: 0}, Success: 1, Unauthorized: 1, Upstream: 2}},
		Compared: Compared{Exchanges: 1, NotCompared: map[string]int{"an exchange that failed": 2, "other": 1}, Unnamed: map[string]int{"Vary": 2, "Etag": 1}},
	})
	r.Add(Scenario{Verdict: Unknown})
	want := Totals{
		Match: 1, Differ: 1, Unknown: 1, NotApplicable: 1, Differences: 1, Violations: 2, Unmet: 1,
		Targets:  []Target{{Name: "ref", Exchanges: 4, Tally: transcript.Tally{Events: 2}, Success: 2, Unauthorized: 2, Upstream: 5}, {Name: "cand", Exchanges: 3, Tally: transcript.Tally{Events: 2}, Success: 2, Unauthorized: 2, Upstream: 6}},
		Compared: Compared{Exchanges: 3, Tally: transcript.Tally{Events: 2}, NotCompared: map[string]int{"an exchange that failed": 3, "other": 1}, Unnamed: map[string]int{"Vary": 3, "Etag": 1}},
	}
	if diff := cmp.Diff(want, r.Totals); diff != "" {
		t.Errorf("totals (-want +got):\n%s", diff)
	}
}
