package verdict

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/verdict/waiver"
)

var today = time.Date(2026, 11, 20, 23, 30, 0, 0, time.UTC)

// waiverOf accepts a finding for ten days.
func waiverOf(f *Finding) waiver.Waiver {
	return waiver.Waiver{
		ID: "W-0001", Scenario: f.Scenario, At: f.At, Kind: f.Kind, Fingerprint: f.Fingerprint, Class: "intended",
		Reason: "it was always so", Owner: "ann", Expires: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), File: "waivers.yaml", Line: 1,
	}
}

func accepting(waivers ...waiver.Waiver) *Acceptance {
	return &Acceptance{Waivers: waivers, Today: today}
}

func judgedBy(t *testing.T, a *Acceptance, sides ...side) Scenario {
	t.Helper()
	c := &Case{ID: "story", File: "story.yaml", Line: 1, Rules: &compare.Rules{}, Contract: numbers(t), Alone: len(sides) == 1, Accept: a}
	for _, s := range sides {
		c.Transcripts = append(c.Transcripts, s.Transcript)
	}
	return Judge(c)
}

// one returns the only finding of a scenario.
func one(t *testing.T, s Scenario) *Finding {
	t.Helper()
	if len(s.Findings) != 1 {
		t.Fatalf("findings %v, want one", s.Findings)
	}
	return &s.Findings[0]
}

func TestAWaiverAcceptsOneFinding(t *testing.T) {
	ref, cand := newSide("ref").answers(200, `{"n":1}`), newSide("cand").answers(200, `{"n":2}`)
	right := waiverOf(one(t, judged(t, ref, cand)))
	if want := "GET /n: body /n"; right.At != want {
		t.Fatalf("it is at %q, want %q", right.At, want)
	}
	const other = "waiver W-0001 is for a different finding here"
	for _, tc := range []struct {
		name   string
		change func(*waiver.Waiver)
		want   Verdict
		note   string
	}{
		{"the one", func(*waiver.Waiver) {}, Waived, ""},
		{"of any scenario", func(w *waiver.Waiver) { w.Scenario = "*" }, Waived, ""},
		{"of another scenario", func(w *waiver.Waiver) { w.Scenario = "stories" }, Differ, ""},
		{"at another step", func(w *waiver.Waiver) { w.At = "GET /n (2): body /n" }, Differ, ""},
		{"at another place", func(w *waiver.Waiver) { w.At = "GET /n: body /m" }, Differ, ""},
		{"of another kind", func(w *waiver.Waiver) { w.Kind = "type" }, Differ, other},
		{"with another fingerprint", func(w *waiver.Waiver) { w.Fingerprint = "00000000" }, Differ, other},
		{"for the target", func(w *waiver.Waiver) { w.When.Targets = []string{"x", "cand"} }, Waived, ""},
		{"for another target", func(w *waiver.Waiver) { w.When.Targets = []string{"ref"} }, Differ, ""},
		{"for this environment", func(w *waiver.Waiver) { w.When.Env = map[string]string{"CI": "true", "OS": ""} }, Waived, ""},
		{"for another environment", func(w *waiver.Waiver) { w.When.Env = map[string]string{"CI": "true", "HOME": "/"} }, Differ, ""},
		{"that expires tomorrow", func(w *waiver.Waiver) { w.Expires = today.Truncate(24*time.Hour).AddDate(0, 0, 1) }, Waived, ""},
		{"that expires today", func(w *waiver.Waiver) { w.Expires = today.Truncate(24 * time.Hour) }, Differ, "waiver W-0001 expired on 2026-11-20"},
	} {
		w := right
		tc.change(&w)
		a := accepting(w)
		a.Environ = []string{"CI=false", "CI=true"}
		s := judgedBy(t, a, ref, cand)
		f := one(t, s)
		if s.Verdict != tc.want || (f.Waiver == "W-0001") != (tc.want == Waived) || !strings.HasPrefix(f.Note, tc.note) || (tc.note == "") != (f.Note == "") {
			t.Errorf("a waiver %s: %s, waiver %q, note %q; want %s, %q", tc.name, s.Verdict, f.Waiver, f.Note, tc.want, tc.note)
		}
	}
}

// A waiver accepts only its own finding, and not others of the same scenario.
func TestOneFindingThatIsNotWaivedIsEnough(t *testing.T) {
	ref, cand := newSide("ref").answers(200, `{"n":1}`), newSide("cand").answers(200, `{"n":"1"}`)
	all := judged(t, ref, cand).Findings // the difference, and the violation that explains it
	if len(all) != 2 || all[0].Class != Difference || all[1].Class != Violation {
		t.Fatalf("findings %v", all)
	}
	first, second := waiverOf(&all[0]), waiverOf(&all[1])
	second.ID = "W-0002"
	if want := "GET /n: body/n (candidate)"; second.At != want {
		t.Errorf("the violation is at %q, want %q", second.At, want)
	}
	for _, tc := range []struct {
		name    string
		waivers []waiver.Waiver
		want    Verdict
	}{{"neither", nil, Differ}, {"the difference", []waiver.Waiver{first}, Differ}, {"the violation", []waiver.Waiver{second}, Differ}, {"both", []waiver.Waiver{first, second}, Waived}} {
		if s := judgedBy(t, accepting(tc.waivers...), ref, cand); s.Verdict != tc.want {
			t.Errorf("with %s waived it is %s, want %s", tc.name, s.Verdict, tc.want)
		}
	}
}

// The same violation of the reference and of the candidate are two findings.
func TestAWaiverForOneSideDoesNotHoldForTheOther(t *testing.T) {
	good, bad := newSide("ref").answers(200, `{"n":"1"}`), newSide("cand").answers(200, `{"n":"1"}`)
	all := judged(t, good, bad).Findings
	if len(all) != 2 || all[0].Fingerprint != all[1].Fingerprint {
		t.Fatalf("findings %+v, want two that say the same", all)
	}
	if s := judgedBy(t, accepting(waiverOf(&all[0])), good, bad); s.Verdict != Differ || s.Findings[0].Waiver == "" || s.Findings[1].Waiver != "" {
		t.Errorf("it is %s: %+v", s.Verdict, s.Findings)
	}
}

func TestNothingMakesUnknownGreen(t *testing.T) {
	ref, cand := newSide("ref").answers(200, `{"n":1}`), newSide("cand").answers(200, `{"n":2}`)
	w := waiverOf(one(t, judged(t, ref, cand)))
	cand.Aborted = "the scenario's 1s were over"
	if s := judgedBy(t, accepting(w), ref, cand); s.Verdict != Unknown || one(t, s).Waiver == "" {
		t.Errorf("it is %s, %+v; want unknown, although all that was found is waived", s.Verdict, s.Findings)
	}
}

// A place consists of words of the script, so it does not change when steps are inserted before it.
func TestAFindingStaysWhereItIsWhenStepsAreAdded(t *testing.T) {
	at := func(before ...any) []string {
		ref, cand := newSide("ref").answers(before...), newSide("cand").answers(before...)
		for range 2 {
			ref.answers(200, `{"n":1}`)
			cand.answers(200, `{"n":2}`)
		}
		for _, s := range []side{ref, cand} {
			for i := range s.Steps[:len(before)] {
				s.Steps[i].Text = "GET /before"
			}
		}
		var out []string
		for _, f := range judged(t, ref, cand).Findings {
			out = append(out, f.Fingerprint+" "+f.At)
		}
		return out
	}
	alone, behind := at(), at(404, 404, 404)
	if diff := cmp.Diff(alone, behind); diff != "" {
		t.Errorf("with three steps before (-alone +behind):\n%s", diff)
	}
	if len(alone) != 2 || !strings.HasSuffix(alone[0], " GET /n: body /n") || !strings.HasSuffix(alone[1], " GET /n (2): body /n") || alone[0][:8] != alone[1][:8] {
		t.Errorf("two steps that say the same: %q", alone)
	}
}

func TestPatternsOfScenarios(t *testing.T) {
	for _, tc := range []struct {
		pattern string
		covers  []string
	}{
		{"tools/odd", []string{"tools/odd", "tools/odd[slash]"}},
		{"tools/odd[slash]", []string{"tools/odd[slash]"}},
		{"tools/*", []string{"tools/odd", "tools/odd[slash]", "tools/odder"}},
		{"*/odd*h]", []string{"tools/odd[slash]"}},
		{"*odd", []string{"tools/odd"}},
		{"tools", nil},
		{"*[slash]*[slash]", nil},
		{"tools/odd*odd", nil},
		{"*", []string{"tools/odd", "tools/odd[slash]", "tools/odder"}},
	} {
		var got []string
		for _, id := range []string{"tools/odd", "tools/odd[slash]", "tools/odder"} {
			if w := (waiver.Waiver{Scenario: tc.pattern}); w.Covers(id) {
				got = append(got, id)
			}
		}
		if !slices.Equal(got, tc.covers) {
			t.Errorf("%q covers %q, want %q", tc.pattern, got, tc.covers)
		}
	}
}

func TestAWaiverIsStaleOnlyWhenItWouldHaveShown(t *testing.T) {
	gone := waiver.Waiver{ID: "W-0001", Scenario: "story*", At: "GET /n: body /n", Kind: "value", Fingerprint: "00000000", Expires: today.AddDate(1, 0, 0)}
	match := func(id string) Scenario { return Scenario{ID: id, Verdict: Match} }
	for _, tc := range []struct {
		name   string
		run    Run
		change func(*waiver.Waiver)
		want   WaiverState
	}{
		{"all were judged", Run{Scenarios: []Scenario{match("story"), match("story-2")}}, nil, Stale},
		{"one was not selected", Run{Scenarios: []Scenario{match("story")}}, nil, NotLooked},
		{"one does not apply", Run{Scenarios: []Scenario{match("story"), {ID: "story-2", Verdict: NotApplicable}}}, nil, NotLooked},
		{"one is unknown", Run{Scenarios: []Scenario{match("story"), {ID: "story-2", Verdict: Unknown, Reasons: []Reason{{Text: "it died"}}}}}, nil, NotLooked},
		{"one differs, and was cut short", Run{Scenarios: []Scenario{match("story"), {ID: "story-2", Verdict: Differ, Reasons: []Reason{{Text: "cut short"}}}}}, nil, NotLooked},
		{"the run is incomplete", Run{Scenarios: []Scenario{match("story"), match("story-2")}, Incomplete: "interrupted"}, nil, NotLooked},
		{"a target was left out", Run{Scenarios: []Scenario{match("story"), match("story-2")}, Partial: true}, nil, NotLooked},
		{"it is for another environment", Run{Scenarios: []Scenario{match("story"), match("story-2")}}, func(w *waiver.Waiver) { w.When.Env = map[string]string{"CI": "1"} }, NotLooked},
		{"it has expired, too", Run{Scenarios: []Scenario{match("story"), match("story-2")}}, func(w *waiver.Waiver) { w.Expires = today.AddDate(0, 0, -1) }, Stale},
	} {
		w := gone
		if tc.change != nil {
			tc.change(&w)
		}
		r := tc.run
		r.Verdict = Match
		r.ResolveAccepted(accepting(w), []string{"story", "story-2", "other"})
		if got := r.Waivers[0].State; got != tc.want {
			t.Errorf("%s: it is %s, want %s", tc.name, got, tc.want)
		}
		if v := r.Conclude(); (v == Differ) != (tc.want == Stale) {
			t.Errorf("%s: the run is %s", tc.name, v)
		}
	}
}

func TestTheStateOfWaiversThatAreNeeded(t *testing.T) {
	ref, cand := newSide("ref").answers(200, `{"n":1}`), newSide("cand").answers(200, `{"n":2}`)
	w := waiverOf(one(t, judged(t, ref, cand)))
	for _, tc := range []struct {
		day  int
		want string
	}{{1, "holds 29 waived"}, {29, "holds 1 waived"}, {30, "expired 0 differ"}} {
		a := accepting(w)
		a.Today = time.Date(2026, 11, tc.day, 23, 59, 0, 0, time.UTC)
		var r Run
		r.Add(judgedBy(t, a, ref, cand))
		r.ResolveAccepted(a, []string{"story"})
		r.Conclude()
		use := r.Waivers[0]
		if got := fmt.Sprintf("%s %d %s", use.State, use.Days, r.Verdict); got != tc.want || use.Findings != 1 {
			t.Errorf("on day %d: %s, of %d findings; want %s", tc.day, got, use.Findings, tc.want)
		}
		if r.Totals.Waived+r.Totals.Differ != 1 || r.Totals.Accepted.Waived != r.Totals.Waived || r.Totals.Differences != 1 {
			t.Errorf("on day %d: totals %+v", tc.day, r.Totals)
		}
	}
}

func TestWaivedIsBetweenUnknownAndMatch(t *testing.T) {
	order := []Verdict{Differ, Unknown, Waived, Match, NotApplicable}
	for i, worse := range order {
		for _, better := range order[i:] {
			if Worse(worse, better) != worse || Worse(better, worse) != worse {
				t.Errorf("%s is not worse than %s", worse, better)
			}
		}
	}
}
