package report_test

import (
	"html"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/report/markdown"
	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

func TestEveryReportNamesWhatPassesByChance(t *testing.T) {
	moody := scenario("items/moody", step(3, "1", "GET /", difference("value", "body /n", "the values differ", "1", "2")))
	moody.Repeated = &verdict.Repeated{Of: 5, Differ: 2, Unknown: 1, Shown: 3}
	always := scenario("items/wrong", step(3, "1", "GET /", difference("value", "body /m", "the values differ", "1", "2")))
	always.Repeated = &verdict.Repeated{Of: 5, Differ: 5, Shown: 1}
	steady := scenario("items/steady")
	steady.Repeated = &verdict.Repeated{Of: 5, Shown: 1}
	doc := document(moody, always, steady)
	const all = "5 runs of 3 scenarios; 1 red and steady; flaky: items/moody (2 of 5 differ, 1 unknown)"

	var md, plain strings.Builder
	if err := markdown.Write(&md, doc, markdown.DefaultBudget); err != nil {
		t.Fatal(err)
	}
	if err := text.Write(&plain, doc, text.Options{}); err != nil {
		t.Fatal(err)
	}
	ci := suitesOf(t, doc)
	facts := map[string]string{}
	for _, fact := range dataOf(t, pageOf(t, doc)).Facts {
		facts[fact[0]] = fact[1]
	}
	properties := map[string]string{}
	for _, p := range ci.Suites[0].Properties {
		properties[p.Name] = p.Value
	}
	for name, got := range map[string]string{
		"terminal": plain.String(), "summary": html.UnescapeString(strings.ReplaceAll(md.String(), `\`, "")),
		"page": facts["repeated"], "JUnit": properties["repeated"],
	} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), all) {
			t.Errorf("the %s report does not say %q:\n%s", name, all, got)
		}
	}
	for _, c := range ci.Suites[0].Cases {
		if c.Failure == nil {
			continue
		}
		want := map[string]string{"items/moody": "flaky: 2 of 5 differ, 1 unknown: ", "items/wrong": "steady in 5 runs: "}[c.Name]
		if !strings.HasPrefix(c.Failure.Message, want) {
			t.Errorf("JUnit says of %s: %s", c.Name, c.Failure.Message)
		}
	}
	for _, want := range []string{"items/moody.yaml:2  flaky: 2 of 5 differ, 1 unknown\n", "items/wrong.yaml:2  steady in 5 runs\n"} {
		if !strings.Contains(plain.String(), want) {
			t.Errorf("the terminal does not say %q:\n%s", want, plain.String())
		}
	}
}
