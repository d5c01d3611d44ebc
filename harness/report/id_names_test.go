package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

func TestNamesReplaceIDsOnRequest(t *testing.T) {
	s := scenario("sessions", step(3, "1", "GET /", difference("identity", "body /of", "the candidate has ‹session 2›", `"/x/ses_0a1b/12"`, `"/x/ses_0a1b2c/12"`)))
	s.Names = []verdict.Name{
		{Target: "go", Name: "‹session 1›", Reference: "ses_0a1b", Candidate: "ses_ffff"}, {Target: "go", Name: "‹session 2›", Reference: "ses_9999", Candidate: "ses_0a1b2c"},
		{Target: "go", Name: "‹session 3›", Reference: "ses_8888", Candidate: "ses_0a1b"}, {Target: "go", Name: "‹id 1›", Reference: "12", Candidate: "12"},
		{Target: "rust", Name: "‹session 4›", Reference: "ses_0a1b", Candidate: "ses_0a1b2c"},
	}
	plain, named := shown(t, document(s), text.Options{}), shown(t, document(s), text.Options{Names: true})
	for _, want := range []string{`reference (typescript)  "/x/ses_0a1b/12"`, `candidate (go)          "/x/ses_0a1b2c/12"`} {
		if !strings.Contains(plain, want) {
			t.Errorf("without names, %q is missing:\n%s", want, plain)
		}
	}
	if strings.Contains(plain, "ses_ffff") {
		t.Errorf("names are listed that nobody has asked for:\n%s", plain)
	}
	for _, want := range []string{
		`reference (typescript)  "/x/‹session 1›/12"`, `candidate (go)          "/x/‹session 2›/12"`,
		"\n  ‹session 1›  typescript ses_0a1b · go ses_ffff\n", "\n  ‹session 2›  typescript ses_9999 · go ses_0a1b2c\n",
	} {
		if !strings.Contains(named, want) {
			t.Errorf("with names, %q is missing:\n%s", want, named)
		}
	}
}

func TestNamesAreBounded(t *testing.T) {
	s := scenario("sessions", step(3, "1", "GET /", difference("value", "body", "the values differ", "1", "2")))
	for n := range 50 {
		s.Names = append(s.Names, verdict.Name{Target: "go", Name: fmt.Sprintf("‹session %d›", n), Reference: "ses_\x1b" + strings.Repeat("a", 500), Candidate: "b"})
	}
	got := shown(t, document(s), text.Options{Names: true})
	if n := strings.Count(got, "‹session"); n != 20 || !strings.Contains(got, "and 30 more names in report.json") {
		t.Errorf("%d names are listed:\n%.3000s", n, got)
	}
	if strings.Contains(got, "\x1b") || strings.Contains(got, strings.Repeat("a", 200)) {
		t.Errorf("what a server sent acts, or is not cut:\n%.3000s", got)
	}
	if n := strings.Count(shown(t, document(s), text.Options{Names: true, Verbose: true}), "‹session"); n != 50 {
		t.Errorf("%d names are listed where all are asked for", n)
	}
}
