package verdict

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/verdict/baseline"
	"github.com/lockstep-dev/lockstep/harness/verdict/waiver"
)

func TestWhatTheBaselineHasIsKnown(t *testing.T) {
	ref, cand := newSide("ref").answers(200, `{"n":1}`), newSide("cand").answers(200, `{"n":2}`)
	right := BaselineEntryOf(one(t, judged(t, ref, cand)))
	for _, tc := range []struct {
		name   string
		change func(*baseline.Entry)
		want   Verdict
	}{
		{"the finding", func(*baseline.Entry) {}, Waived},
		{"the finding, of whichever target", func(k *baseline.Entry) { k.Target = "" }, Waived},
		{"one of another target", func(k *baseline.Entry) { k.Target = "other" }, Differ},
		{"one of another scenario", func(k *baseline.Entry) { k.Scenario = "story[row]" }, Differ},
		{"one elsewhere", func(k *baseline.Entry) { k.At = "GET /n (2): body /n" }, Differ},
		{"one of another class", func(k *baseline.Entry) { k.Class = string(Violation) }, Differ},
		{"one of another kind", func(k *baseline.Entry) { k.Kind = "type" }, Differ},
		{"one that says something else", func(k *baseline.Entry) { k.Fingerprint = "00000000" }, Differ},
	} {
		k := right
		tc.change(&k)
		s := judgedBy(t, &Acceptance{Baseline: []baseline.Entry{k}, Today: today}, ref, cand)
		if f := one(t, s); s.Verdict != tc.want || f.Known != (tc.want == Waived) || f.Waiver != "" {
			t.Errorf("the baseline has %s: %s, known: %t; want %s", tc.name, s.Verdict, f.Known, tc.want)
		}
	}
}

func TestWhatIsKnownIsCounted(t *testing.T) {
	ref, cand := newSide("ref").answers(200, `{"n":1}`), newSide("cand").answers(200, `{"n":2}`)
	f := one(t, judged(t, ref, cand))
	for _, tc := range []struct {
		name string
		a    *Acceptance
		want Accepted
	}{
		{"by the baseline", &Acceptance{Baseline: []baseline.Entry{BaselineEntryOf(f)}, Today: today}, Accepted{Known: 1}},
		{"by a waiver too, which comes first", &Acceptance{Baseline: []baseline.Entry{BaselineEntryOf(f)}, Waivers: []waiver.Waiver{waiverOf(f)}, Today: today}, Accepted{Waived: 1}},
	} {
		var r Run
		r.Add(judgedBy(t, tc.a, ref, cand))
		r.ResolveAccepted(tc.a, []string{"story"})
		if got := r.Totals.Accepted; got != tc.want || r.Conclude() != Waived || len(r.Fixed) > 0 {
			t.Errorf("%s: %+v, %s, fixed %v; want %+v", tc.name, got, r.Verdict, r.Fixed, tc.want)
		}
	}
}

func TestNothingKnownMakesUnknownGreen(t *testing.T) {
	ref, cand := newSide("ref").answers(200, `{"n":1}`), newSide("cand").answers(200, `{"n":2}`)
	known := BaselineEntryOf(one(t, judged(t, ref, cand)))
	cand.Aborted = "the scenario's 1s were over"
	if s := judgedBy(t, &Acceptance{Baseline: []baseline.Entry{known}, Today: today}, ref, cand); s.Verdict != Unknown {
		t.Errorf("it is %s, want unknown", s.Verdict)
	}
}

// What a run has not judged stays in the baseline.
func TestTheBaselineOnlyLosesWhatWouldHaveShown(t *testing.T) {
	known := func(scenario string) baseline.Entry {
		return baseline.Entry{Scenario: scenario, At: "GET /n: body /n", Class: string(Difference), Kind: "value", Fingerprint: "00000000"}
	}
	there := Finding{Class: Difference, Kind: "value", Scenario: "there", At: "GET /n: body /n", Fingerprint: "00000000"}
	full := Run{Scenarios: []Scenario{
		{ID: "there", Verdict: Waived, Findings: []Finding{there}},
		{ID: "gone", Verdict: Match},
		{ID: "in doubt", Verdict: Differ, Reasons: []Reason{{Text: "cut short"}}},
		{ID: "not for here", Verdict: NotApplicable},
	}}
	all := []string{"there", "gone", "in doubt", "not for here", "not selected"}
	entries := []baseline.Entry{known("there"), known("gone"), known("in doubt"), known("not for here"), known("not selected"), known("no scenario any more")}
	for _, tc := range []struct {
		name   string
		change func(*Run)
		fixed  []baseline.Entry
	}{
		{"a whole run", func(*Run) {}, []baseline.Entry{known("gone"), known("no scenario any more")}},
		{"an incomplete run", func(r *Run) { r.Incomplete = "interrupted" }, []baseline.Entry{known("no scenario any more")}},
		{"a run without a target", func(r *Run) { r.Partial = true }, []baseline.Entry{known("no scenario any more")}},
	} {
		r := full
		tc.change(&r)
		kept, fixed := r.DivideBaseline(entries, all)
		if diff := cmp.Diff(tc.fixed, fixed); diff != "" || len(kept)+len(fixed) != len(entries) {
			t.Errorf("%s: %d are kept, and fixed are (-want +got):\n%s", tc.name, len(kept), diff)
		}
		r.ResolveAccepted(&Acceptance{Baseline: entries, Today: today}, all)
		if diff := cmp.Diff(tc.fixed, r.Fixed); diff != "" {
			t.Errorf("%s: the run says (-want +got):\n%s", tc.name, diff)
		}
	}
}

// A finding that is known for one target is new for another. A baseline of the first format has no targets. An update
// replaces its entries by one for each target that shows the finding.
func TestAKnownFindingOfOneTargetIsNewInAnother(t *testing.T) {
	ref, go1, go2 := newSide("ref").answers(200, `{"n":1}`), newSide("go1").answers(200, `{"n":2}`), newSide("go2").answers(200, `{"n":2}`)
	all := judged(t, ref, go1, go2)
	if len(all.Findings) != 2 || all.Findings[0].Fingerprint != all.Findings[1].Fingerprint {
		t.Fatalf("findings %+v, want the same of two targets", all.Findings)
	}
	known := BaselineEntryOf(&all.Findings[0])
	s := judgedBy(t, &Acceptance{Baseline: []baseline.Entry{known}, Today: today}, ref, go1, go2)
	if f := s.Findings; s.Verdict != Differ || !f[0].Known || f[1].Known {
		t.Errorf("%s, known: %t and %t; want that of %s only", s.Verdict, f[0].Known, f[1].Known, known.Target)
	}
	run := Run{Scenarios: []Scenario{s}}
	if diff := cmp.Diff([]baseline.Entry{BaselineEntryOf(&all.Findings[1])}, run.NewFindings([]baseline.Entry{known})); diff != "" {
		t.Errorf("new are (-want +got):\n%s", diff)
	}
	old := known.WithoutTarget()
	if news := run.NewFindings([]baseline.Entry{old}); len(news) > 0 {
		t.Errorf("new beside the first format are %v", news)
	}
	s.Reasons = nil
	for _, partial := range []bool{false, true} {
		run.Partial = partial
		want := []baseline.Entry{BaselineEntryOf(&all.Findings[0]), BaselineEntryOf(&all.Findings[1])}
		if partial { // other targets may show it too
			want = []baseline.Entry{old}
		}
		kept, fixed := run.DivideBaseline([]baseline.Entry{old}, []string{"story"})
		if diff := cmp.Diff(want, kept); diff != "" || len(fixed) > 0 {
			t.Errorf("partial %t: fixed are %v, and kept (-want +got):\n%s", partial, fixed, diff)
		}
	}
}

func TestFindingsThatNothingAcceptsAreNew(t *testing.T) {
	finding := func(at, waiver string) Finding {
		return Finding{Class: Difference, Kind: "value", Scenario: "story", At: at, Fingerprint: "00000000", Waiver: waiver}
	}
	r := Run{Scenarios: []Scenario{{ID: "story", Findings: []Finding{
		finding("a", ""), finding("b", "W-0001"), finding("c", ""), finding("a", ""), finding("d", ""),
	}}}}
	known := finding("c", "")
	var got []string
	for _, k := range r.NewFindings([]baseline.Entry{BaselineEntryOf(&known)}) {
		got = append(got, k.At)
	}
	if diff := cmp.Diff([]string{"a", "d"}, got); diff != "" {
		t.Errorf("new are (-want +got):\n%s", diff)
	}
}

func TestCommonAreTheViolationsOfAllTargets(t *testing.T) {
	violation := func(target, place, schema string) Finding {
		return Finding{
			Class: Violation, Kind: "pattern", Scenario: "story", Step: "1", Target: target, Place: place, At: place + " of " + target,
			Contract: []Remark{{Target: target, Schema: schema}},
		}
	}
	difference := Finding{Class: Difference, Kind: "value", Scenario: "story", At: "a difference"}
	story := Scenario{ID: "story", Targets: []Target{{Name: "old"}, {Name: "new"}}, Findings: []Finding{
		violation("old", "body/id", "#/a"), violation("new", "body/id", "#/a"), violation("new", "body/id", "#/a"), difference,
		violation("old", "body/at", "#/a"), violation("new", "body/at", "#/b"), violation("new", "body/name", "#/a"),
	}}
	alone := Scenario{ID: "alone", Targets: story.Targets[:1], Findings: story.Findings[:1]}
	r := Run{Scenarios: []Scenario{story, alone}}
	var got []string
	for _, k := range r.SharedViolations(r.NewFindings(nil)) {
		got = append(got, k.At)
	}
	if diff := cmp.Diff([]string{"body/id of old", "body/id of new"}, got); diff != "" {
		t.Errorf("in common are (-want +got):\n%s", diff)
	}
	if got := (&Run{Scenarios: []Scenario{alone}}).SharedViolations(r.NewFindings(nil)); len(got) > 0 {
		t.Errorf("in common with nobody are %v", got)
	}
}

// A run of the files knows nothing of scenarios in Go, so it cannot tell that their findings are fixed.
func TestTheBaselineKeepsScenariosInGo(t *testing.T) {
	entry := func(id string) baseline.Entry {
		return baseline.Entry{Scenario: id, At: "GET /: status", Kind: "status"}
	}
	entries := []baseline.Entry{entry("TestA/b"), entry("Tested"), entry("Test")}
	kept, fixed := (&Run{}).DivideBaseline(entries, nil)
	if !slices.Equal(kept, []baseline.Entry{entries[0], entries[2]}) || !slices.Equal(fixed, entries[1:2]) {
		t.Errorf("kept %v, fixed %v", kept, fixed)
	}
}
