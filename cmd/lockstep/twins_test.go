//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/jsonreport"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/busy"
)

// twinRuns names the variable that says how often TestTwins runs each server of this repository against itself.
// twinParts names the variable for the number of parts. Each run takes the next part of the scenarios. The default is 1.
const (
	twinRuns  = "LOCKSTEP_TWINS"
	twinParts = "LOCKSTEP_TWIN_PARTS"
)

// TestTwins runs servers against themselves. Every finding is a false alarm: of the harness, or of a scenario that
// demands more than a server can guarantee, such as a time on a busy machine. Half of the runs have a busy machine.
func TestTwins(t *testing.T) {
	runs, err := strconv.Atoi(os.Getenv(twinRuns))
	if err != nil {
		t.Skip("make test-twins runs it")
	}
	parts := 1
	if text := os.Getenv(twinParts); text != "" {
		if parts, err = strconv.Atoi(text); err != nil || parts < 1 {
			t.Fatalf("%s=%q: want a number of parts, such as 10", twinParts, text)
		}
	}
	t.Chdir(root)
	var results, alarms int
	for n := range runs {
		for _, name := range []string{"go", "typescript"} {
			jobs, isBusy := 1+rand.IntN(8), n%2 == 1
			part := fmt.Sprintf("%d/%d", n/2%parts+1, parts) // each part runs on a quiet and on a busy machine
			doc := twins(t, name, part, jobs, isBusy)
			wrong := 0
			for _, s := range doc.Scenarios {
				switch s.Verdict {
				case verdict.NotApplicable:
					continue
				case verdict.Match:
				default:
					wrong++
					t.Errorf("%s against itself, %d jobs, busy %t, seed %d: %s", name, jobs, isBusy, doc.Seed, told(&s))
				}
				results++
			}
			if doc.Incomplete != "" {
				t.Errorf("%s against itself: %s", name, doc.Incomplete)
			}
			alarms += wrong
			fmt.Printf("run %d of %d: %s against itself, part %s, %d jobs, busy %t: %d scenarios, %d false alarms\n", n+1, runs, name, part, jobs, isBusy, len(doc.Scenarios), wrong)
		}
	}
	fmt.Printf("%d results of scenarios, %d false alarms\n", results, alarms)
}

// twins runs a part of the scenarios on a server and itself, on a machine that is busy or not.
func twins(t *testing.T, name, part string, jobs int, isBusy bool) *report.Document {
	t.Helper()
	if isBusy {
		defer busy.Threads(4)()
	}
	// This is the program that make has built, because scenarios start it again as an MCP server. A test binary cannot
	// be that.
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(t.Context(), "bin/lockstep", "run", "--target", name, "--target", name,
		"--shard", part, "--jobs", strconv.Itoa(jobs), "--format", "json", "--reports", "-")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	doc, unread := jsonreport.Read(strings.NewReader(stdout.String()))
	if unread != nil {
		t.Fatalf("%v; %v, stderr:\n%s", unread, err, stderr.String())
	}
	return doc
}

// told lists the findings of a scenario, one per line.
func told(s *verdict.Scenario) string {
	lines := []string{fmt.Sprintf("%s is %s", s.ID, s.Verdict)}
	for _, r := range s.Reasons {
		lines = append(lines, r.String())
	}
	for i, f := range s.Findings {
		if i == 5 {
			lines = append(lines, fmt.Sprintf("and %d more", len(s.Findings)-i))
			break
		}
		lines = append(lines, f.String(), "  "+f.Reference+f.Want, "  "+f.Candidate+f.Got)
	}
	return strings.Join(lines, "\n\t")
}
