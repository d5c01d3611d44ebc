package report_test

import (
	"io"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/html"
	"github.com/lockstep-dev/lockstep/harness/report/jsonreport"
	"github.com/lockstep-dev/lockstep/harness/report/junit"
	"github.com/lockstep-dev/lockstep/harness/report/markdown"
	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

func TestABusyMachineIsMentionedInFailures(t *testing.T) {
	scenario := func(id string, v verdict.Verdict, waited ...int64) verdict.Scenario {
		return verdict.Scenario{ID: id, Verdict: v, Millis: 9100, Targets: []verdict.Target{
			{Name: "typescript", Waited: waited[0]}, {Name: "go", Waited: waited[1]}}}
	}
	for _, tc := range []struct {
		name      string
		scenarios []verdict.Scenario
		want      string
	}{
		{"a machine with time", []verdict.Scenario{scenario("a", verdict.Differ, 0, 0), scenario("b", verdict.Match, 0, 0)}, ""},
		{"green all the same", []verdict.Scenario{scenario("a", verdict.Match, 5000, 0), scenario("b", verdict.Waived, 0, 5000)}, ""},
		{"red", []verdict.Scenario{
			scenario("a", verdict.Differ, 1200, 0), scenario("b", verdict.Unknown, 0, 5200), scenario("c", verdict.Differ, 0, 0), scenario("d", verdict.Match, 9000, 0),
		}, "too busy: servers had to wait in 2 of 3 scenarios that differ or are unknown, go longest: for 5.2 s of 9.1 s in b; " +
			"findings about times there may be due to this (use fewer --jobs, or run less at the same time)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			doc := document(tc.scenarios...)
			if got := report.MachineLoad(doc); got != tc.want {
				t.Errorf("busy: %q, want %q", got, tc.want)
			}
			for format, text := range texts(t, doc) {
				if said := strings.Contains(text, "servers had to wait"); said != (tc.want != "") {
					t.Errorf("%s says so: %t", format, said)
				}
			}
		})
	}
}

func texts(t *testing.T, doc *report.Document) map[string]string {
	t.Helper()
	var plain, md, page strings.Builder
	for _, err := range []error{text.Write(&plain, doc, text.Options{}), markdown.Write(&md, doc, markdown.DefaultBudget), html.Write(&page, doc)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return map[string]string{"text": plain.String(), "markdown": md.String(), "html": page.String()}
}

func TestEveryReportNamesTheTargetsWithAnUncheckedPort(t *testing.T) {
	doc := document(scenario("one"))
	doc.OwnerUnchecked = map[string]string{"go": "nobody has asked"}
	for name, write := range map[string]func(io.Writer) error{
		"terminal": func(w io.Writer) error { return text.Write(w, doc, text.Options{}) },
		"JSON":     func(w io.Writer) error { return jsonreport.Write(w, doc) },
		"JUnit":    func(w io.Writer) error { return junit.Write(w, doc) },
		"Markdown": func(w io.Writer) error { return markdown.Write(w, doc, 1<<20) },
		"page":     func(w io.Writer) error { return html.Write(w, doc) },
	} {
		var out strings.Builder
		if err := write(&out); err != nil || !strings.Contains(out.String(), "nobody has asked") {
			t.Errorf("the %s report does not say it: %v", name, err)
		}
	}
}
