package report_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/markdown"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

func TestSince(t *testing.T) {
	finding := func(place, fingerprint string) verdict.Finding {
		return step(3, "1", "GET /", printed(fingerprint, difference("value", place, "the values differ", "1", "2")))
	}
	run := func(fs ...verdict.Finding) *report.Document { return document(scenario("one", fs...), scenario("two")) }
	is := func(at, before, after string) report.Change {
		return report.Change{Scenario: "one", Target: "go", Class: "difference", Kind: "value", At: at, Text: "the values differ", Before: before, After: after}
	}
	for _, tc := range []struct {
		name          string
		before, after *report.Document
		want          report.Changes
	}{
		{"nothing", run(), run(), report.Changes{}},
		{"the same", run(finding("a", "1")), run(finding("a", "1")), report.Changes{Unchanged: 1}},
		{"new", run(finding("a", "1")), run(finding("a", "1"), finding("b", "2")), report.Changes{New: []report.Change{is("b", "", "2")}, Unchanged: 1}},
		{"fixed", run(finding("a", "1"), finding("b", "2")), run(finding("a", "1")), report.Changes{Fixed: []report.Change{is("b", "2", "")}, Unchanged: 1}},
		{"changed", run(finding("a", "1")), run(finding("a", "2")), report.Changes{Changed: []report.Change{is("a", "1", "2")}}},
		{"once more", run(finding("a", "1")), run(finding("a", "1"), finding("a", "1")), report.Changes{New: []report.Change{is("a", "", "1")}, Unchanged: 1}},
		{"once less", run(finding("a", "1"), finding("a", "1")), run(finding("a", "1")), report.Changes{Fixed: []report.Change{is("a", "1", "")}, Unchanged: 1}},
	} {
		tc.want.Against = "before"
		if diff := cmp.Diff(&tc.want, report.ChangesSince(report.FindingsOnly(tc.before), "before", tc.after)); diff != "" {
			t.Errorf("%s, of what is kept (-want +got):\n%s", tc.name, diff)
		}
		if diff := cmp.Diff(&tc.want, report.ChangesSince(tc.before, "before", tc.after)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// A violation that is shown with a difference is no line of its own, neither in the list of causes nor among the changes.
func TestAViolationShownWithADifferenceIsNoChangeOfItsOwn(t *testing.T) {
	run := func(status string) *report.Document {
		says := verdict.Remark{Target: "go", Place: "status", Text: status + " is not declared", Line: 12}
		d := step(3, "1", "GET /", printed("d"+status, difference("status", "status", "the statuses differ", "201", status)))
		d.Contract = []verdict.Remark{says}
		v := step(3, "1", "GET /", printed("v"+status, verdict.Finding{Class: verdict.Violation, Kind: "status", Target: "go", Place: "status", Text: says.Text, Contract: d.Contract}))
		return document(scenario("one", d, v))
	}
	counts := func(before, after *report.Document) [5]int {
		c := report.ChangesSince(before, "", after)
		return [5]int{len(c.New), len(c.Changed), len(c.Fixed), c.Unchanged, c.Unjudged}
	}
	green, absent := document(scenario("one")), document(scenario("two"))
	for name, tc := range map[string]struct {
		before, after *report.Document
		want          [5]int
	}{
		"new": {green, run("200"), [5]int{0: 1}}, "changed": {run("200"), run("500"), [5]int{1: 1}}, "fixed": {run("200"), green, [5]int{2: 1}},
		"unchanged": {run("200"), run("200"), [5]int{3: 1}}, "not judged then": {absent, run("200"), [5]int{4: 1}},
	} {
		if got := counts(tc.before, tc.after); got != tc.want {
			t.Errorf("%s: new, changed, fixed, unchanged, not judged then are %v, want %v", name, got, tc.want)
		}
	}
}

// A cause that was there before, and is now in one more scenario, says how many of its findings are new.
func TestAKnownCauseInOneMoreScenarioIsMarked(t *testing.T) {
	finding := func() verdict.Finding {
		return step(3, "1", "GET /", printed("aaaa", difference("value", "body /n", "the values differ", "1", "2")))
	}
	after := document(scenario("one", finding()), scenario("two", finding()))
	for want, before := range map[string]*report.Document{
		"\n- **1 new** `": document(scenario("one", finding()), scenario("two")), "\n- **new** `": document(scenario("one"), scenario("two")), "\n- `": after,
	} {
		after.Changes = report.ChangesSince(before, "before", after)
		var md strings.Builder
		if err := markdown.Write(&md, after, 1<<16); err != nil || !strings.Contains(md.String(), want) {
			t.Errorf("%v, want %q in:\n%s", err, want, &md)
		}
	}
}

// For findings in scenarios that were not judged in both runs, the report has only their number in the later run.
func TestOfScenariosThatWereNotJudgedTwiceNothingIsSaid(t *testing.T) {
	red := scenario("one", step(3, "1", "GET /", printed("1", difference("value", "a", "the values differ", "1", "2"))))
	unjudged := scenario("one")
	unjudged.Verdict = verdict.Unknown
	for name, other := range map[string]*report.Document{"not selected": document(scenario("two")), "unknown": document(unjudged)} {
		if diff := cmp.Diff(&report.Changes{}, report.ChangesSince(document(red), "", other)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		later := report.ChangesSince(other, "", document(red))
		if diff := cmp.Diff(&report.Changes{Unjudged: 1}, later); diff != "" {
			t.Errorf("%s before (-want +got):\n%s", name, diff)
		}
		doc := document(red)
		doc.Changes = later
		var md strings.Builder
		if err := markdown.Write(&md, doc, 1<<16); err != nil || !strings.Contains(md.String(), ", 0 unchanged, 1 in scenarios that were not judged then\n") {
			t.Errorf("%v\n%s", err, &md)
		}
	}
}
