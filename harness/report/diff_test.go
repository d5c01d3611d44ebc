package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/jsonreport"
	"github.com/lockstep-dev/lockstep/harness/report/markdown"
	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

func TestCompareShowsTheWorstFirstAndOneCauseOnce(t *testing.T) {
	value := func(print string) verdict.Finding {
		return step(3, "1", "GET /", printed(print, difference("value", "body /a", "the values differ", "1", "2")))
	}
	late := step(5, "2", "await bus", printed("late", shortfall("go", "event-awaited", "event", "no event", "an event", "nothing")))
	waived := value("waived")
	waived.Waiver = "W-0001"
	known := value("known")
	known.Known = true
	before := document(scenario("one"), scenario("three"), scenario("two"))
	after := document(scenario("one", waived, late), scenario("three", value("rare"), known), scenario("two", value("often"), value("often")))
	d := report.Compare(before, "a", after, "b")
	type line struct {
		print, accepted string
		count           int
	}
	var got []line
	for _, i := range d.New {
		got = append(got, line{i.After, i.Accepted, i.Count})
	}
	want := []line{{"late", "", 1}, {"often", "", 2}, {"rare", "", 1}, {"waived", "W-0001", 1}, {"known", "baseline", 1}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(line{})); diff != "" || d.Verdict() != verdict.Differ {
		t.Errorf("%s (-want +got):\n%s", d.Verdict(), diff)
	}
	both := document(scenario("one", value("x")), scenario("three"), scenario("two", value("x")))
	d = report.Compare(both, "a", both, "b")
	if len(d.Unchanged) != 1 || !cmp.Equal(d.Unchanged[0].Scenarios, []string{"one", "two"}) || d.Verdict() != verdict.Match {
		t.Errorf("%+v", d.Unchanged)
	}
}

func TestAcceptedFindingsDoNotCount(t *testing.T) {
	waived := step(3, "1", "GET /", printed("1", difference("value", "body", "the values differ", "1", "2")))
	waived.Waiver = "W-0001"
	d := report.Compare(document(scenario("one")), "a", document(scenario("one", waived)), "b")
	if len(d.New) != 1 || d.Verdict() != verdict.Match {
		t.Errorf("%s, %+v", d.Verdict(), d.New)
	}
}

func TestAScenarioThatDoesNotApplyAnyMoreIsLost(t *testing.T) {
	gone := scenario("one")
	gone.Verdict = verdict.NotApplicable
	d := report.Compare(document(scenario("one")), "a", document(gone), "b")
	if diff := cmp.Diff([]report.VerdictChange{{Scenario: "one", Before: verdict.Match, After: verdict.NotApplicable}}, d.Lost); diff != "" || d.Verdict() != verdict.Unknown {
		t.Errorf("%s (-want +got):\n%s", d.Verdict(), diff)
	}
}

func TestNothingIsExecutedInAComparison(t *testing.T) {
	d := report.Compare(document(scenario("hostile/server"), scenario("hostile/log")), "\x1b[2Ja", hostile(), "b\u202e")
	var plain, json, md bytes.Buffer
	for _, err := range []error{text.WriteDiff(&plain, d, text.Options{}), jsonreport.WriteDiff(&json, d), markdown.WriteDiff(&md, d)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, out := range map[string]string{"text": plain.String(), "JSON": json.String(), "Markdown": md.String()} {
		for _, bad := range []string{"\x1b", "\u202e", "\x07", "\u2028", "\xff"} {
			if strings.Contains(out, bad) {
				t.Errorf("the %s has %q", name, bad)
			}
		}
	}
	if strings.Contains(strings.ReplaceAll(md.String(), "`", ""), "\n<script>") || !strings.Contains(plain.String(), "NEW hostile/server") {
		t.Errorf("%s\n%s", md.String(), plain.String())
	}
}
