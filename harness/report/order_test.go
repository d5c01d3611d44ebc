package report_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/html"
	"github.com/lockstep-dev/lockstep/harness/report/markdown"
	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// inOrder returns the words of a text in the order in which they first occur in it.
func inOrder(text string, words ...string) []string {
	words = slices.DeleteFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	slices.SortFunc(words, func(a, b string) int { return strings.Index(text, a) - strings.Index(text, b) })
	return words
}

func TestEveryFormatListsTheWorstCausesFirst(t *testing.T) {
	at := func(place string, words ...verdict.Remark) verdict.Finding {
		return step(3, "1", "GET /", difference("value", "body /"+place, "the values differ", "1", "2", words...))
	}
	word := verdict.Remark{Target: "go", Place: "body/proven", Text: "it is no text", Line: 9}
	doc := document(
		scenario("a", at("silent")),
		scenario("b", at("frequent")),
		scenario("c", at("frequent"), at("later")),
		scenario("d", step(3, "1", "GET /", violation("go", "type", "body/broken", "it is no number", "", 12))),
		scenario("e", at("proven", word)),
		scenario("f", at("proven", word)),
	)
	want := []string{"/proven", "/frequent", "/broken", "/silent", "/later"}
	alike := document(slices.Clone(doc.Scenarios)...) // and more scenarios in which both sides do the same
	for _, id := range []string{"g", "h", "i"} {
		alike.Scenarios = append(alike.Scenarios, scenario(id,
			step(3, "1", "GET /", violation("typescript", "type", "body/alike", "it is no number", "", 12)),
			step(3, "1", "GET /", violation("go", "type", "body/alike", "it is no number", "", 12))))
	}
	for name, write := range map[string]func(io.Writer, *report.Document) error{
		"the terminal": func(w io.Writer, d *report.Document) error { return text.Write(w, d, text.Options{}) },
		"the page":     html.Write,
		"the summary":  func(w io.Writer, d *report.Document) error { return markdown.Write(w, d, markdown.DefaultBudget) },
		"annotations":  func(w io.Writer, d *report.Document) error { return markdown.WriteAnnotations(w, d, "") },
		"lockstep diff": func(w io.Writer, d *report.Document) error {
			before := document(scenario("a"), scenario("b"), scenario("c"), scenario("d"), scenario("e"), scenario("f"))
			for i := range d.Scenarios {
				for k := range d.Scenarios[i].Findings {
					f := &d.Scenarios[i].Findings[k]
					f.Fingerprint = f.Place
				}
			}
			return text.WriteDiff(w, report.Compare(before, "before", d, "after"), text.Options{})
		},
	} {
		var b strings.Builder
		doc, want := doc, want
		if name != "lockstep diff" { // it lists each side of its own
			doc, want = alike, append(slices.Clone(want), "/alike")
		}
		if err := write(&b, doc); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, inOrder(b.String(), "/alike", "/silent", "/frequent", "/later", "/broken", "/proven")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A scenario shows few of its causes. These are the worst ones, in the order of its steps.
func TestAScenarioShowsItsWorstCauses(t *testing.T) {
	var findings []verdict.Finding
	for n := range 7 {
		f := difference("value", fmt.Sprintf("body /%d", n), "the values differ", "1", "2")
		if n > 4 {
			f.Blame = verdict.BlameCandidate
		}
		findings = append(findings, step(n+3, fmt.Sprint(n+1), "GET /", f))
	}
	got := shown(t, document(scenario("many", findings...)), text.Options{})
	want := []string{"body /0", "body /1", "body /2", "body /5", "body /6"}
	if diff := cmp.Diff(want, inOrder(got, "body /0", "body /1", "body /2", "body /3", "body /4", "body /5", "body /6")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
