package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

func summary(t *testing.T, doc *Document, budget int) string {
	t.Helper()
	var b bytes.Buffer
	if err := Markdown(&b, doc, budget); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestASummaryKeepsItsBudgetAndCountsTheRest(t *testing.T) {
	var all []verdict.Scenario
	for i := range 400 {
		all = append(all, scenario(fmt.Sprintf("items/%03d", i), step(3, "1", "GET /items", printed(fmt.Sprint(i), difference("value", "body /a", "the values differ", strings.Repeat("x", 300), "2")))))
	}
	doc := document(all...)
	more := regexp.MustCompile(`\*\*\+(\d+) more\*\*`)
	for _, budget := range []int{2 << 10, 20 << 10, MarkdownBudget} {
		got := summary(t, doc, budget)
		if len(got) > budget {
			t.Errorf("budget %d: %d bytes", budget, len(got))
		}
		shown := strings.Count(got, "the values differ")
		left := 0
		if m := more.FindStringSubmatch(got); m != nil {
			fmt.Sscan(m[1], &left)
		}
		if shown+left != 400 || budget == MarkdownBudget && left != 0 || budget < MarkdownBudget && left == 0 {
			t.Errorf("budget %d: %d shown, %d more", budget, shown, left)
		}
	}
}

func TestNothingInASummaryIsMarkup(t *testing.T) {
	for _, text := range []string{"**bold**", "<img src=x>", "[a](http://x)", "@everyone", "#12", "http://x.example", "www.example.org", "a | b", "`code`", "![x](y)", "&lt;", "~~x~~", "$x$"} {
		got := mdText(text, 100)
		for _, bad := range []string{"**", "<", "[a]", "@", "http://", "www.", " | ", "![", "~~"} {
			if strings.Contains(strings.ReplaceAll(got, `\|`, ""), bad) && !strings.Contains(got, `\`+bad[:1]) {
				t.Errorf("%q is written as %q", text, got)
			}
		}
	}
	for text, want := range map[string]string{"plain": "` plain `", "a`b": "`` a`b ``", "a```b``": "```` a```b`` ````"} {
		if got := mdCode(text, 100); got != want {
			t.Errorf("mdCode(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestValuesThatFaceEachOtherBeginNearTheirDifference(t *testing.T) {
	a, b := facing(strings.Repeat("x", 1000)+"left", strings.Repeat("x", 1000)+"right")
	if a != "…"+strings.Repeat("x", 40)+"left" || b != "…"+strings.Repeat("x", 40)+"right" {
		t.Errorf("facing: %q, %q", a, b)
	}
	if a, b := facing("left", "right"); a != "left" || b != "right" {
		t.Errorf("facing: %q, %q", a, b)
	}
}

func TestAnnotationsAreEscapedAndCounted(t *testing.T) {
	var all []verdict.Scenario
	for i := range 30 {
		all = append(all, scenario(fmt.Sprintf("items/%03d", i), step(3, "1", "GET /items", printed(fmt.Sprint(i), difference("value", "body /a", "100%\r\n::error::no", "a:b", "c,d")))))
	}
	var b bytes.Buffer
	if err := Annotations(&b, document(all...), "e2e/"); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != mostAnnotations || !strings.Contains(lines[mostAnnotations-1], "21 causes more") {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
	const want = `::error file=e2e/scenarios/items/000.yaml,line=3,title=items/000%3A value::body /a: 100%25\r\n::error::no%0Areference: a:b%0Acandidate: c,d%0Ablame: contract silent`
	if lines[0] != want {
		t.Errorf("the first is\n%s\nwant\n%s", lines[0], want)
	}
}

func TestBadgesSayTheVerdict(t *testing.T) {
	for name, want := range map[string]string{"green": "lockstep: 3 match", "red": "lockstep: 4 differ", "unknown": "lockstep: unknown", "interrupted": "lockstep: unknown"} {
		for _, run := range runs {
			if run.name != name {
				continue
			}
			var b bytes.Buffer
			if err := Badge(&b, run.doc()); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), `aria-label="`+want+`"`) {
				t.Errorf("%s: %s", name, b.String())
			}
		}
	}
}
