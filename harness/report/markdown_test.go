package report_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/html"
	"github.com/lockstep-dev/lockstep/harness/report/markdown"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

func summaryOf(t *testing.T, doc *report.Document, budget int) string {
	t.Helper()
	var b bytes.Buffer
	if err := markdown.Write(&b, doc, budget); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestASummaryKeepsItsBudgetAndCountsTheRest(t *testing.T) {
	var all []verdict.Scenario
	for i := range 400 {
		all = append(all, scenario(fmt.Sprintf("items/%03d", i), step(3, "1", "GET /items", printed(fmt.Sprint(i), difference("value", fmt.Sprintf("body /a%d", i), "the values differ", strings.Repeat("x", 300), "2")))))
	}
	doc := document(all...)
	more := regexp.MustCompile(`\*\*\+(\d+) more\*\*`)
	for _, budget := range []int{2 << 10, 20 << 10, markdown.DefaultBudget} {
		got := summaryOf(t, doc, budget)
		if len(got) > budget {
			t.Errorf("budget %d: %d bytes", budget, len(got))
		}
		shown := strings.Count(got, "the values differ")
		left := 0
		if m := more.FindStringSubmatch(got); m != nil {
			fmt.Sscan(m[1], &left)
		}
		if shown+left != 400 || budget == markdown.DefaultBudget && left != 0 || budget < markdown.DefaultBudget && left == 0 {
			t.Errorf("budget %d: %d shown, %d more", budget, shown, left)
		}
	}
}

func TestASummaryCountsTheRemarksOfTheContract(t *testing.T) {
	var remarks []verdict.Remark
	for n := range 5 {
		remarks = append(remarks, verdict.Remark{Target: "go", Place: "body", Text: fmt.Sprint("remark ", n), Line: 9})
	}
	got := summaryOf(t, document(scenario("a", step(3, "1", "GET /", difference("value", "body /a", "the values differ", "1", "2", remarks...)))), markdown.DefaultBudget)
	if strings.Count(got, ": remark ") != 2 || !strings.Contains(got, "\n  - and 3 more from the contract\n") {
		t.Errorf("the summary is\n%s", got)
	}
}

func TestAnnotationsAreEscapedAndCounted(t *testing.T) {
	var all []verdict.Scenario
	for i := range 30 {
		all = append(all, scenario(fmt.Sprintf("items/%03d", i), step(3, "1", "GET /items", printed(fmt.Sprint(i), difference("value", fmt.Sprintf("body /a%d", i), "100%\r\n::error::no", "a:b", "c,d")))))
	}
	var b bytes.Buffer
	if err := markdown.WriteAnnotations(&b, document(all...), "e2e/"); err != nil {
		t.Fatal(err)
	}
	const shown = 10 // by GitHub
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != shown || !strings.Contains(lines[shown-1], "21 more causes") {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
	const want = `::error file=e2e/scenarios/items/000.yaml,line=3,title=items/000%3A value::GET /items, body /a0: 100%25\r\n::error::no%0Areference: a:b%0Acandidate: c,d%0Ablame: contract silent`
	if lines[0] != want {
		t.Errorf("the first is\n%s\nwant\n%s", lines[0], want)
	}
}

func TestBadgesShowTheVerdict(t *testing.T) {
	for name, want := range map[string]string{"green": "lockstep: 3 match", "red": "lockstep: 4 differ", "unknown": "lockstep: unknown", "interrupted": "lockstep: unknown"} {
		for _, run := range runs {
			if run.name != name {
				continue
			}
			var b bytes.Buffer
			if err := html.WriteBadge(&b, run.doc()); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), `aria-label="`+want+`"`) {
				t.Errorf("%s: %s", name, b.String())
			}
		}
	}
}

func TestRequestsToUpstreamsAreNotInTheContract(t *testing.T) {
	asked := difference("count", "requests", "the numbers of requests differ", "1", "2")
	asked.Upstream = "llm"
	got := summaryOf(t, document(scenario("ask", step(3, "llm.models", "upstream llm", asked))), markdown.DefaultBudget)
	if want := "blame: not in the contract"; !strings.Contains(got, want) {
		t.Errorf("the summary does not say %q:\n%s", want, got)
	}
}
