package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
)

func TestAStatusIsOneLine(t *testing.T) {
	for _, tc := range []struct {
		name    string
		status  report.Status
		columns int
		line    string
		plain   string
	}{
		{
			"a scenario", report.Status{Done: 12, Of: 509, Differ: 1, Took: 3449 * time.Millisecond, Scenario: "client-tools/execute/timeout", Target: "go", Step: "4"}, 80,
			"12/509 · 1 differs · 3.4 s · client-tools/execute/timeout (go, step 4)", "12/509, 1 differ, 3 s",
		},
		{
			"what takes long", report.Status{Of: 9, Took: 5 * time.Second, Scenario: "a", Target: "go", Step: "4", Waited: 2100 * time.Millisecond, Targets: []report.TargetStatus{
				{Name: "old"}, {Name: "go", Steps: 3, Starting: true}, {Name: "new", Starting: true}, {Name: "x", Steps: 1},
			}}, 100,
			"0/9 · 5.0 s · a (go, step 4, 2.1 s) · old idle, go 3 steps, new starting, x 1 step", "0/9, 0 differ, 5 s",
		},
		{"what does not take long", report.Status{Of: 9, Scenario: "a", Target: "go", Step: "4", Waited: 999 * time.Millisecond}, 80, "0/9 · 0.0 s · a (go, step 4)", "0/9, 0 differ, 0 s"},
		{"a target that starts", report.Status{Of: 2, Took: 100 * time.Millisecond, Target: "go"}, 80, "0/2 · 0.1 s · starting go", "0/2, 0 differ, 0 s, starting go"},
		{"nothing under way", report.Status{Done: 2, Of: 2, Differ: 2, Unknown: 3, Took: time.Minute}, 80, "2/2 · 2 differ · 3 unknown · 60.0 s", "2/2, 2 differ, 3 unknown, 60 s"},
		{"too long for the terminal", report.Status{Done: 1, Of: 2, Scenario: "a/b/c", Target: "go", Step: "1"}, 16, "1/2 · 0.0 s · a…", "1/2, 0 differ, 0 s"},
		{"as long as the terminal", report.Status{Done: 1, Of: 2}, 11, "1/2 · 0.0 s", "1/2, 0 differ, 0 s"},
		{"characters of two columns", report.Status{Done: 1, Of: 2, Scenario: "世界", Target: "go", Step: "1"}, 18, "1/2 · 0.0 s · 世…", "1/2, 0 differ, 0 s"},
		{"a name that acts", report.Status{Of: 1, Scenario: "\x1b[2J\u202e", Target: "a\rb", Step: "1"}, 80, `0/1 · 0.0 s · \x1b[2J\u202e (a\rb, step 1)`, "0/1, 0 differ, 0 s"},
		{"a target whose name acts", report.Status{Of: 1, Target: "a\rb"}, 80, `0/1 · 0.0 s · starting a\rb`, `0/1, 0 differ, 0 s, starting a\rb`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := tc.status.Line(tc.columns)
			if got != tc.line || textfit.Columns(got) > tc.columns {
				t.Errorf("Line(%d) is %q, want %q", tc.columns, got, tc.line)
			}
			if got := tc.status.Plain(); got != tc.plain {
				t.Errorf("Plain() is %q, want %q", got, tc.plain)
			}
		})
	}
}

// The line fits whatever the width of the terminal.
func TestAStatusFitsAnyTerminal(t *testing.T) {
	s := report.Status{Done: 1, Of: 2, Scenario: strings.Repeat("界é\x1b", 20), Target: "go", Step: "1"}
	for n := range 200 {
		if got := s.Line(n); textfit.Columns(got) > n {
			t.Errorf("Line(%d) takes %d columns: %q", n, textfit.Columns(got), got)
		}
	}
}
