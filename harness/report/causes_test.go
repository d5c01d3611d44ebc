package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/markdown"
	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A listedCause is a cause as a format lists it.
type listedCause struct {
	place     string // with the operation
	findings  int    // 0 if the format does not say it
	scenarios int
}

// manyCauses returns a run in which twelve places of two operations are wrong, of which waivers accept the last one. It
// has another order than its scenarios: by the number of scenarios, then by what is new, then what both sides do wrong.
func manyCauses() *report.Document {
	var all, before []verdict.Scenario
	for n := range 12 {
		operation := []string{"GET /items", "POST /items"}[n%2]
		for k := range 1 + n%4 {
			f := step(3, "1", operation, difference("value", fmt.Sprintf("body /p%d", n), "the values differ", "1", fmt.Sprintf("%d", 2+k%2)))
			f.Fingerprint = fmt.Sprint(n, "-", k%2)
			if n == 11 {
				f.Waiver = "W-0001"
			}
			if n == 7 {
				f = step(3, "1", operation, violation("go", "type", "body/p7", "it is no number", "", 12))
			}
			findings := []verdict.Finding{f}
			if n == 7 {
				findings = append(findings, step(3, "1", operation, violation("typescript", "type", "body/p7", "it is no number", "", 12)))
			}
			s := scenario(fmt.Sprintf("s%02d-%d", n, k), findings...)
			all = append(all, s)
			if n != 8 {
				before = append(before, s)
			} else {
				before = append(before, scenario(s.ID))
			}
		}
	}
	doc := document(all...)
	doc.Changes = report.ChangesSince(document(before...), "yesterday", doc)
	return doc
}

func causesOfJSON(t *testing.T, doc *report.Document) (out []listedCause) {
	t.Helper()
	var v struct {
		Causes []struct {
			Operation, Place    string
			Findings, Scenarios int
			First               struct {
				Scenario string
				Finding  int
			}
		}
		Scenarios []verdict.Scenario
	}
	if err := json.Unmarshal(written(t, doc), &v); err != nil {
		t.Fatal(err)
	}
	for _, c := range v.Causes {
		out = append(out, listedCause{c.Operation + ", " + c.Place, c.Findings, c.Scenarios})
		for _, s := range v.Scenarios {
			if s.ID == c.First.Scenario && s.Findings[c.First.Finding].Place != c.Place {
				t.Errorf("the first finding of %s is at %s", c.Place, s.Findings[c.First.Finding].Place)
			}
		}
	}
	return out
}

func causesOfPage(t *testing.T, doc *report.Document) (out []listedCause) {
	v := dataOf(t, pageOf(t, doc))
	for _, r := range v.Rows {
		g := v.List[r.First]
		out = append(out, listedCause{g.StepText + ", " + g.Place, r.Findings, r.Scenarios})
	}
	return out
}

// causesIn finds the causes of a text: groups of the pattern are the place, the findings and the scenarios.
func causesIn(text string, pattern *regexp.Regexp) (out []listedCause) {
	number := func(s string) int {
		if n, err := strconv.Atoi(s); err == nil {
			return n
		}
		return 1
	}
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		out = append(out, listedCause{m[1], number(m[2]), number(m[3])})
	}
	return out
}

// TestAllFormatsListTheSameCauses checks that the page, the JSON, the summary, the annotations and the terminal list the
// same causes in the same order with the same counts, and that a list that is cut says how many it leaves out.
func TestAllFormatsListTheSameCauses(t *testing.T) {
	doc := manyCauses()
	all := causesOfJSON(t, doc)
	want := []listedCause{{"POST /items, body /p3", 4, 4}, {"GET /items, body /p2", 3, 3}}
	if diff := cmp.Diff(want, all[:2], cmp.AllowUnexported(listedCause{})); diff != "" || len(all) != 12 {
		t.Fatalf("JSON lists %d causes, the first are (-want +got):\n%s", len(all), diff)
	}
	if last := all[10:]; last[0].place != "POST /items, body/p7" || last[1].place != "POST /items, body /p11" {
		t.Errorf("what both do, and what is accepted, come last: %v", last)
	}
	if diff := cmp.Diff(all, causesOfPage(t, doc), cmp.AllowUnexported(listedCause{})); diff != "" {
		t.Errorf("the page (-JSON +page):\n%s", diff)
	}
	all = all[:11] // other formats list what is accepted elsewhere, or not at all

	extent := `(?:, (\d+) times)?(?:, in (\d+) scenarios)?`
	entry := regexp.MustCompile(`(?m)^- (?:\*\*new\*\* )?.*? ((?:GET|POST) /items, [^:]*): .*? \(\w+` + extent)
	summary := summaryOf(t, doc, markdown.DefaultBudget)
	if diff := cmp.Diff(all, causesIn(summary, entry), cmp.AllowUnexported(listedCause{})); diff != "" {
		t.Errorf("the summary (-JSON +summary):\n%s\n%s", diff, summary)
	}
	short := summaryOf(t, doc, 1500)
	listed := causesIn(short, entry)
	if diff := cmp.Diff(all[:len(listed)], listed, cmp.AllowUnexported(listedCause{})); diff != "" || !strings.Contains(short, fmt.Sprintf("**+%d more** in report.html", 11-len(listed))) {
		t.Errorf("a short summary (-JSON +summary):\n%s\n%s", diff, short)
	}

	var annotations bytes.Buffer
	if err := markdown.WriteAnnotations(&annotations, doc, ""); err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)::((?:GET|POST) /items, [^:%]*): [^:%,]*` + extent)
	if diff := cmp.Diff(all[:9], causesIn(annotations.String(), line), cmp.AllowUnexported(listedCause{})); diff != "" || !strings.Contains(annotations.String(), "::2 more causes are in the report") {
		t.Errorf("the annotations (-JSON +annotations):\n%s\n%s", diff, annotations.String())
	}

	var top []listedCause
	terminal := shown(t, doc, text.Options{})
	for _, m := range regexp.MustCompile(`(?m)^(?:causes| {6}) +(\d+) scenarios?: ((?:GET|POST) /items, [^:]*):`).FindAllStringSubmatch(terminal, -1) {
		n, _ := strconv.Atoi(m[1])
		top = append(top, listedCause{m[2], all[len(top)].findings, n})
	}
	if diff := cmp.Diff(all[:5], top, cmp.AllowUnexported(listedCause{})); diff != "" || !strings.Contains(terminal, "\n              and 6 more in report.html\n") {
		t.Errorf("the terminal (-JSON +terminal):\n%s\n%s", diff, terminal)
	}
}

// TestALimitOfThePageIsSaid checks the largest number of causes that the page and the summary list, and that a cause
// without evidence, for which the page has no room, does not count as left out of the summary.
func TestALimitOfThePageIsSaid(t *testing.T) {
	var findings []verdict.Finding
	evidence := &report.Evidence{}
	for n := range 2100 {
		findings = append(findings, step(3, "1", "GET /items", printed(fmt.Sprint(n), difference("value", fmt.Sprintf("body /p%d", n), "the values differ", "1", "2"))))
		evidence.Findings = append(evidence.Findings, report.FindingEvidence{Sides: []report.Side{{Target: "go", Answer: fmt.Sprint(n, strings.Repeat("x", 4000))}}})
	}
	for _, tc := range []struct{ all, missing int }{{1000, 0}, {2100, 100}} {
		doc := document(scenario("many", findings[:tc.all]...))
		doc.Evidence = map[string]*report.Evidence{"many": evidence}
		if n := len(causesOfJSON(t, doc)); n != tc.all {
			t.Errorf("JSON lists %d of %d causes", n, tc.all)
		}
		page := pageOf(t, doc)
		listed := len(dataOf(t, page).List)
		left := 0
		if m := regexp.MustCompile(`"left":(\d+)[,}]`).FindStringSubmatch(page); m != nil {
			left, _ = strconv.Atoi(m[1])
		}
		if listed != tc.all-tc.missing || left <= tc.missing || left >= tc.all {
			t.Errorf("the page lists %d of %d causes, and says that %d are incomplete", listed, tc.all, left)
		}
		summary := summaryOf(t, doc, 10<<20)
		if n := strings.Count(summary, ": the values differ"); n != listed {
			t.Errorf("the summary lists %d causes, the page %d", n, listed)
		}
		if said := strings.Contains(summary, "more causes"); said != (tc.missing > 0) || said && !strings.Contains(summary, fmt.Sprintf("- and %d more causes\n", tc.missing)) {
			t.Errorf("%d causes are missing: %s", tc.missing, summary[len(summary)-200:])
		}
	}
}
