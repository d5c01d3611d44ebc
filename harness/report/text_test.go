package report_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/cause"
	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

func shown(t *testing.T, doc *report.Document, paint text.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := text.Write(&b, doc, paint); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// worst is a finding that is as long as a finding can be.
func worst(i int) verdict.Finding {
	var words []verdict.Remark
	for n := range 50 {
		words = append(words, verdict.Remark{Target: "go", Place: "body", Text: fmt.Sprintf("objection %d to %d", n, i), Line: n + 1})
	}
	lines := strings.Repeat("a line\n", 40)
	return difference("body", "body", fmt.Sprintf("the bodies %d differ", i), lines+"this\u00a0way\n"+lines, lines+"this way\n"+lines, words...)
}

func TestACauseTakesAtMost25Lines(t *testing.T) {
	var scenarios []verdict.Scenario
	for n := range 40 {
		scenarios = append(scenarios, scenario(fmt.Sprintf("area/story-%d", n), step(4, "1", "GET /", worst(0)), step(5, "2", "GET /", worst(0))))
		for i := range scenarios[n].Findings {
			scenarios[n].Findings[i].Note = "the waiver W-0001 is for another finding at this place"
		}
	}
	doc := document(scenarios...)
	at := &report.Source{4, 5, "  - http: GET /" + strings.Repeat("x", 300)}
	doc.Evidence = map[string]*report.Evidence{"area/story-0": {Findings: []report.FindingEvidence{{Source: at}, {Source: at}}}}
	terminal := shown(t, doc, text.Options{})
	if !strings.Contains(terminal, "4 |   - http: GET /x") {
		t.Errorf("the line of the scenario is not shown:\n%s", terminal)
	}
	_, block, _ := strings.Cut(terminal, "finds them again.\n")
	block, _, _ = strings.Cut(block, "\n\n")
	if n := strings.Count(block, "\n") + 1; n > 25 {
		t.Errorf("the cause takes %d lines:\n%s", n, block)
	}
	if n := strings.Count(terminal, "DIFFER"); n != 1 {
		t.Errorf("%d blocks for one cause in 40 scenarios", n)
	}
}

func TestWhatIsLeftOutIsCounted(t *testing.T) {
	var findings []verdict.Finding
	for n := range 17 {
		findings = append(findings, step(n+3, fmt.Sprint(n+1), "GET /", difference("value", fmt.Sprintf("body /%d", n), "the values differ", "1", "2")))
	}
	doc := document(scenario("many", append(findings, step(20, "18", "GET /", difference("more", "all of it", "500 more differences are not listed", "—", "—")))...))
	terminal := shown(t, doc, text.Options{})
	if want := "all of it: 500 more differences are not listed"; !strings.Contains(terminal, want) {
		t.Errorf("the text does not say %q:\n%s", want, terminal)
	}
	if got, want := strings.Count(terminal, "[value]"), cause.MaxCauses; got != want {
		t.Errorf("%d findings are shown, want %d", got, want)
	}
	if want := "\n  and 12 more in report.json\n"; !strings.Contains(terminal, want) {
		t.Errorf("the text does not say %q:\n%s", want, terminal)
	}
	if got := strings.Count(shown(t, doc, text.Options{Verbose: true}), "[value]"); got != 17 {
		t.Errorf("%d findings are shown when all are asked for, want 17", got)
	}
}

func TestManyScenariosAreALineEach(t *testing.T) {
	var scenarios []verdict.Scenario
	for n := range 100 {
		scenarios = append(scenarios, scenario(fmt.Sprintf("story-%d", n), step(3, "1", "GET /", difference("value", fmt.Sprintf("body /%d", n), "the values differ", "1", "2"))))
	}
	terminal := shown(t, document(scenarios...), text.Options{})
	if got := strings.Count(terminal, "[value]"); got != cause.MaxBlocks {
		t.Errorf("%d scenarios are shown in full, want %d", got, cause.MaxBlocks)
	}
	for _, want := range []string{"\nDIFFER story-25  scenarios/story-25.yaml:2  step 1: body /25: the values differ: reference 1, go 2\n", "\nand 25 scenarios more in report.json\n"} {
		if !strings.Contains(terminal, want) {
			t.Errorf("the text does not say %q:\n%s", want, terminal)
		}
	}
}

// The report must not refer to a scenario that it does not show.
func TestOnlyWhatIsShownIsReferredTo(t *testing.T) {
	hidden := difference("header-missing", "header Vary", "the candidate lacks the header field", "1", "—")
	var many []verdict.Finding
	for n := range cause.MaxCauses {
		worse := difference("value", fmt.Sprintf("body /%d", n), "the values differ", "1", "2")
		worse.Blame = verdict.BlameCandidate
		many = append(many, step(n+3, fmt.Sprint(n), "GET /", worse))
	}
	terminal := shown(t, document(
		scenario("first", append(many, step(40, "9", "GET /", hidden))...),
		scenario("second", step(3, "1", "GET /", hidden)),
		scenario("third", step(3, "1", "GET /", hidden)),
		scenario("fourth", many...), scenario("fifth", many...), scenario("sixth", many...),
	), text.Options{})
	if !strings.Contains(terminal, "DIFFER second") || !strings.Contains(terminal, "also in 1 scenario: third\n") {
		t.Errorf("the cause is not shown in the second scenario with the third:\n%s", terminal)
	}
}

func TestDifferComesBeforeUnknown(t *testing.T) {
	doubtful := func(id string) verdict.Scenario {
		s := scenario(id)
		s.Verdict, s.Reasons = verdict.Unknown, []verdict.Reason{{Text: "nobody knows " + id}}
		return s
	}
	one := step(3, "1", "GET /", difference("status", "status", "the statuses differ", "200", "204"))
	two := step(3, "1", "GET /", difference("status", "status", "the statuses differ", "200", "404"))
	terminal := shown(t, document(doubtful("a"), scenario("b", one), doubtful("c"), scenario("d", two)), text.Options{})
	var got []string
	for line := range strings.Lines(terminal) {
		if word, rest, _ := strings.Cut(line, " "); word == "DIFFER" || word == "UNKNOWN" {
			id, _, _ := strings.Cut(rest, " ")
			got = append(got, word+" "+id)
		}
	}
	if diff := cmp.Diff([]string{"DIFFER b", "DIFFER d", "UNKNOWN a", "UNKNOWN c"}, got); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

func TestAViolationIsReportedWithTheDifferenceItExplains(t *testing.T) {
	word := verdict.Remark{Target: "go", Place: "status", Text: "500 is not declared", Line: 9}
	told := violation("go", "undocumented-status", "status", word.Text, "", 9)
	own := violation("go", "missing-header", "header Allow", "it is required", "", 12)
	doc := document(scenario("one",
		step(3, "1", "GET /", difference("status", "status", "the statuses differ", "200", "500", word)),
		step(3, "1", "GET /", told),
		step(7, "2", "GET /", told),
		step(7, "2", "GET /", own),
	))
	terminal := shown(t, doc, text.Options{})
	for want, n := range map[string]int{
		"500 is not declared":         2, // with the difference, and at the step without one
		"[undocumented-status]":       1,
		"[missing-header]":            1,
		"1 difference, 3 violations,": 1, // all are counted
	} {
		if got := strings.Count(terminal, want); got != n {
			t.Errorf("%q occurs %d times, want %d:\n%s", want, got, n, terminal)
		}
	}
}

func TestWhatIsLeftOutIsCountedWithItsOtherSteps(t *testing.T) {
	var findings []verdict.Finding
	for n := range cause.MaxCauses + 1 {
		f := difference("value", fmt.Sprintf("body /%d", n), "the values differ", "1", "2")
		findings = append(findings, step(3, "1", "GET /", f), step(3, "1", "GET /", f), step(4, "2", "GET /", f))
	}
	other := scenario("other", step(4, "2", "GET /", findings[0]))
	terminal := shown(t, document(scenario("many", findings...), other), text.Options{})
	for _, want := range []string{"\n  and 3 more in report.json\n", "[value, 2 times]", "also at 1 step: line 4 (step 2)\n      also in 1 scenario: other\n"} {
		if !strings.Contains(terminal, want) {
			t.Errorf("the text does not say %q:\n%s", want, terminal)
		}
	}
}

func TestReasonsAreBoundedLikeFindings(t *testing.T) {
	log := make([]string, 30)
	for n := range log {
		log[n] = fmt.Sprintf("stderr: line %d", n)
	}
	var scenarios []verdict.Scenario
	for n := range cause.MaxBlocks + 1 {
		s := scenario(fmt.Sprintf("story-%d", n))
		s.Verdict = verdict.Unknown
		for i := range cause.MaxCauses + 2 {
			s.Reasons = append(s.Reasons, verdict.Reason{Target: "go", Text: fmt.Sprintf("nobody knows %d of %d", i, n), Log: log})
		}
		scenarios = append(scenarios, s)
	}
	terminal := shown(t, document(scenarios...), text.Options{})
	for want, n := range map[string]int{
		"\n  go: nobody knows":                    cause.MaxBlocks * cause.MaxCauses,
		"  and 2 more in report.":                 cause.MaxBlocks,
		"| stderr: line 2\n      … 5 lines cut\n": cause.MaxBlocks * cause.MaxCauses,
		"line 7":              0,
		"| stderr: line 8\n":  cause.MaxBlocks * cause.MaxCauses,
		"| stderr: line 29\n": cause.MaxBlocks * cause.MaxCauses,
		"UNKNOWN story-25  ":  1,
		"yaml:2  go: nobody knows 0 of 25, and 6 more\n": 1,
	} {
		if got := strings.Count(terminal, want); got != n {
			t.Errorf("%q occurs %d times, want %d", want, got, n)
		}
	}
}

func TestAScenarioWithoutFindingsIsNamed(t *testing.T) {
	s := scenario("silent")
	s.Verdict = verdict.Unknown
	if terminal := shown(t, document(s), text.Options{}); !strings.Contains(terminal, "\nUNKNOWN silent  scenarios/silent.yaml:2  no reason given\n") {
		t.Errorf("the scenario is not named:\n%s", terminal)
	}
}

func TestTheContractNamesThePlaceFirst(t *testing.T) {
	word := func(target, place string) verdict.Remark {
		return verdict.Remark{Target: target, Place: place, Text: "it is wrong", Line: 5}
	}
	first := difference("value", "body /error/code", "the values differ", "1", "2", word("typescript", "header Allow"), word("go", "header Allow"), word("go", "body/error/code"))
	rust := first
	rust.Target = "rust"
	rust.Contract = []verdict.Remark{word("typescript", "header Allow"), word("rust", "body/error/code")}
	terminal := shown(t, document(scenario("one", step(3, "1", "GET /", first), step(3, "1", "GET /", rust))), text.Options{})
	want := "      go and rust break the contract at openapi.yaml:5: body/error/code: it is wrong\n" +
		"      typescript and go break the contract at openapi.yaml:5: header Allow: it is wrong\n"
	if !strings.Contains(terminal, want) {
		t.Errorf("the text does not say\n%s:\n%s", want, terminal)
	}
}

func TestWhatIsMissingInAFileIsLeftOut(t *testing.T) {
	bare := verdict.Finding{Class: verdict.Difference, Kind: "value", Place: "body", Text: "the values differ", Reference: "1", Candidate: "2", Target: "go", Blame: verdict.BlameCandidate}
	broken := verdict.Finding{Class: verdict.Violation, Kind: "type", Place: "body", Text: "the number 7", Target: "go"}
	doc := &report.Document{}
	doc.Add(verdict.Scenario{ID: "one", File: "one.yaml", Verdict: verdict.Differ, Findings: []verdict.Finding{bare, broken}})
	doc.Conclude()
	const want = `lockstep  · no contract · seed 0

DIFFER one  one.yaml
  one.yaml
    body: the values differ [value]
      reference (the first target)  1
      candidate (go)                2
      outside the contract: candidate
    body: the number 7 [type]
      go breaks the contract

`
	if terminal := shown(t, doc, text.Options{}); !strings.HasPrefix(terminal, want) {
		t.Errorf("text (-want +got):\n%s", cmp.Diff(want, terminal))
	}
}

func TestTheMostFrequentReasonComesFirst(t *testing.T) {
	got := report.ReasonCounts(map[string]int{"b": 2, "a": 2, "c": 7})
	if want := "7 (c), 2 (a), 2 (b)"; got != want {
		t.Errorf("reasons: %q, want %q", got, want)
	}
}

func TestTargetsThatShareACauseAreNamedTogether(t *testing.T) {
	rust := difference("status", "status", "the statuses differ", "200", "404")
	rust.Target = "rust"
	terminal := shown(t, document(scenario("one",
		step(3, "1", "GET /", difference("status", "status", "the statuses differ", "200", "404")),
		step(3, "1", "GET /", rust),
		step(4, "2", "GET /", violation("typescript", "type", "body", "the number 7", "", 9)),
		step(4, "2", "GET /", violation("go", "type", "body", "the number 7", "", 9)),
		step(4, "2", "GET /", violation("rust", "type", "body", "the number 7", "", 9)),
	)), text.Options{})
	for _, want := range []string{"candidate (go, rust)    404\n", "typescript, go and rust break the contract at openapi.yaml:9\n"} {
		if !strings.Contains(terminal, want) {
			t.Errorf("the text does not say %q:\n%s", want, terminal)
		}
	}
}

func TestDifferencesOnlyInGeneratedValuesAreReportedOnce(t *testing.T) {
	missing := func(id, fingerprint string) verdict.Finding {
		f := difference("header-missing", "header Location", "the candidate lacks the header field", `"/items/`+id+`"`, "—")
		f.Fingerprint = fingerprint
		return step(3, "1", "POST /items", f)
	}
	terminal := shown(t, document(scenario("one", missing("itm_1", "a")), scenario("two", missing("itm_2", "a")), scenario("three", missing("itm_1", "b"))), text.Options{})
	for want, times := range map[string]int{"header Location: the candidate lacks": 2, "also in 1 scenario: two\n": 1} {
		if n := strings.Count(terminal, want); n != times {
			t.Errorf("the text says %q %d times, want %d:\n%s", want, n, times, terminal)
		}
	}
}

func TestTheLastLineIsTheVerdictInWords(t *testing.T) {
	status := step(3, "1", "GET /", difference("status", "status", "the statuses differ", "200", "404"))
	broken := step(3, "1", "GET /", violation("go", "type", "body", "the number 7", "", 9))
	short := func(target, got string) verdict.Finding {
		return step(3, "1", "GET /", shortfall(target, "exchange-failed", "head", "the exchange failed in the response's head", "a complete answer", got))
	}
	doubtful, beside := scenario("u"), scenario("n")
	doubtful.Verdict, beside.Verdict = verdict.Unknown, verdict.NotApplicable
	for _, tc := range []struct {
		name string
		doc  *report.Document
		want string
	}{
		{"green", document(scenario("a"), scenario("b")), "match: typescript and go do the same in 2 scenarios"},
		{"one", document(scenario("a")), "match: typescript and go do the same in 1 scenario"},
		{"beside", document(scenario("a"), beside), "match: typescript and go do the same in 1 scenario, and 1 does not apply"},
		{"two beside", document(scenario("a"), beside, beside), "match: typescript and go do the same in 1 scenario, and 2 do not apply"},
		{"red", document(scenario("a", status), scenario("b")), "differ: typescript and go differ in 1 of 2 scenarios"},
		{"red and broken", document(scenario("a", status), scenario("b", broken), doubtful), "differ: typescript and go differ in 1 of 3 scenarios; in 1 more, they do not differ, but have violations or shortfalls; 1 could not be judged"},
		{"broken", document(scenario("a", broken), scenario("b")), "differ: typescript and go do not differ, but have violations or shortfalls in 1 of 2 scenarios"},
		{"one hangs", document(scenario("a", short("go", "the step's 8s were over")), scenario("b")), "differ: typescript and go differ in 1 of 2 scenarios"},
		{"the reference hangs", document(scenario("a", short("typescript", "the step's 8s were over")), scenario("b")), "differ: typescript and go differ in 1 of 2 scenarios"},
		{"both hang", document(scenario("a", short("typescript", "the step's 8s were over after 6 bytes"), short("go", "the step's 8s were over after 7 bytes"))), "differ: typescript and go do not differ, but have violations or shortfalls in 1 of 1 scenario"},
		{"one hangs and one resets", document(scenario("a", short("typescript", "the step's 8s were over"), short("go", "the connection was reset"))), "differ: typescript and go differ in 1 of 1 scenario"},
		{"one hangs, and in another scenario both", document(scenario("a", short("go", "the step's 8s were over")), scenario("b", short("typescript", "it broke"), short("go", "it broke"))), "differ: typescript and go differ in 1 of 2 scenarios; in 1 more, they do not differ, but have violations or shortfalls"},
		{"in doubt", document(scenario("a"), doubtful), "unknown: 1 of 2 scenarios could not be judged"},
		{"only beside", document(beside), "unknown: nothing was judged, because the only scenario is not applicable; lockstep run --allow-empty accepts that"},
		{"nothing", document(), "unknown: nothing was judged; lockstep run --allow-empty accepts that"},
		{"interrupted", interrupted(), "unknown: interrupted after 2 of 72 scenarios: interrupt"},
		{"alone and green", func() *report.Document {
			d := document(scenario("a"))
			d.Alone, d.Totals.Targets = true, d.Totals.Targets[1:]
			return d
		}(), "match: go meets the contract and all expectations in 1 scenario"},
		{"alone", alone(), "differ: go has violations or shortfalls in 1 of 2 scenarios"},
	} {
		lines := strings.Split(strings.TrimSuffix(shown(t, tc.doc, text.Options{}), "\n"), "\n")
		if got := lines[len(lines)-1]; got != tc.want {
			t.Errorf("%s ends in\n%q, want\n%q", tc.name, got, tc.want)
		}
	}
}

func TestAGreenRunIsAHandfulOfLines(t *testing.T) {
	if terminal := shown(t, green(), text.Options{}); strings.Count(terminal, "\n") > 12 {
		t.Errorf("a green run takes %d lines:\n%s", strings.Count(terminal, "\n"), terminal)
	}
}

func TestColorChangesNoWord(t *testing.T) {
	for _, run := range runs {
		plain, painted := shown(t, run.doc(), text.Options{}), shown(t, run.doc(), text.Options{Color: true})
		if diff := cmp.Diff(plain, colors.ReplaceAllString(painted, "")); diff != "" {
			t.Errorf("%s (-plain +painted, without colour):\n%s", run.name, diff)
		}
	}
}

func TestProgressShowsWhatDoesNotMatch(t *testing.T) {
	for _, tc := range []struct {
		verdict verdict.Verdict
		paint   text.Options
		want    string
	}{
		{verdict.Match, text.Options{}, ""},
		{verdict.Match, text.Options{Verbose: true}, "MATCH client-tools/register (3/72)\n"},
		{verdict.Differ, text.Options{}, "DIFFER client-tools/register (3/72)\n"},
		{verdict.Unknown, text.Options{}, "UNKNOWN client-tools/register (3/72)\n"},
		{verdict.NotApplicable, text.Options{}, "NOT-APPLICABLE client-tools/register (3/72)\n"},
		{verdict.Differ, text.Options{Color: true}, "\x1b[31mDIFFER\x1b[0m client-tools/register \x1b[2m(3/72)\x1b[0m\n"},
	} {
		var b bytes.Buffer
		text.WriteProgress(&b, tc.paint, 3, 72, &verdict.Scenario{ID: "client-tools/register", Verdict: tc.verdict})
		if b.String() != tc.want {
			t.Errorf("Progress of %s with %+v: %q, want %q", tc.verdict, tc.paint, b.String(), tc.want)
		}
	}
}

type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestAReportThatCannotBeWrittenIsAnError(t *testing.T) {
	for _, format := range formats {
		if err := format.write(full{}, red()); !errors.Is(err, errFull) {
			t.Errorf("%s: %v, want %v", format.file, err, errFull)
		}
	}
}

// An error is at the end of a log, or above the stack trace that ends it.
func TestOfALongLogTheBeginningAndTheEndAreShown(t *testing.T) {
	for _, tc := range []struct {
		lines int
		want  string // the lines around the cut
		shown int
	}{
		{25, "", 25},
		{26, "", 26},
		{27, "      | line 3\n      … 2 lines cut\n      | line 6\n", 25},
		{200, "      | line 3\n      … 175 lines cut\n      | line 179\n", 25},
	} {
		s := scenario("one")
		s.Verdict, s.Reasons = verdict.Unknown, []verdict.Reason{{Text: "it died"}}
		for n := range tc.lines {
			s.Reasons[0].Log = append(s.Reasons[0].Log, fmt.Sprint("line ", n+1))
		}
		terminal := shown(t, document(s), text.Options{})
		if n := strings.Count(terminal, "| line "); n != tc.shown || !strings.Contains(terminal, tc.want) || strings.Contains(terminal, " cut\n") != (tc.want != "") {
			t.Errorf("of %d lines %d are shown, want %d:\n%s", tc.lines, n, tc.shown, terminal)
		}
		if !strings.Contains(terminal, fmt.Sprintf("| line %d\n", tc.lines)) {
			t.Errorf("of %d lines the last is not shown", tc.lines)
		}
	}
}

// The project may have forgotten header fields that differ and that no rule names.
func TestUnnamedHeaderFieldsAreListed(t *testing.T) {
	const names = "header fields that no rule names: Cache-Control, Location, X-\\x1b[2j (name them in compare.headers)\n"
	for _, tc := range []struct {
		reasons map[string]int
		want    string
	}{
		{nil, "\nnot compared  " + names},
		{map[string]int{"the scenario says so": 2}, "\nnot compared  2 (the scenario says so); " + names},
	} {
		s := scenario("one")
		s.Compared.NotCompared = tc.reasons
		s.Compared.Unnamed = map[string]int{"Location": 1, "Cache-Control": 12, "X-\x1b[2j": 1}
		if terminal := shown(t, document(s), text.Options{}); !strings.Contains(terminal, tc.want) {
			t.Errorf("the text does not say %q:\n%s", tc.want, terminal)
		}
	}
}

func TestRulesThatNeverAppliedAreNamed(t *testing.T) {
	doc := green()
	doc.Unused = []verdict.Rule{{File: "lockstep.yaml", Line: 12, Column: 5, Rule: "header ETag"}, {File: "scenarios/a.yaml", Line: 3, Column: 7, Rule: "volatile $.\x1bid"}}
	var b strings.Builder
	if err := text.Write(&b, doc, text.Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "\nrules that never applied: header ETag (lockstep.yaml:12), volatile $.") || strings.Contains(b.String(), "\x1b") {
		t.Errorf("the summary is:\n%s", b.String())
	}
}
