//go:build unix

package engine_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// walks runs a scenario with this many rows on two correct processes, and returns the transcripts of the reference.
func walks(t *testing.T, jobs, rows int, steps string) (all []*transcript.Transcript) {
	t.Helper()
	file := fauxproject.Write(t, process(t, "right", "right", "")+process(t, "wrong", "right", ""))
	text := "scenario: many\nwhy: There are many\nsource: openapi.yaml\ntable:\n"
	for i := range rows {
		text += fmt.Sprintf("  - {name: r%d}\n", i)
	}
	fauxproject.Add(t, file, "scenarios/many.yaml", text+steps)
	tape, result := fauxproject.Record(t, fauxproject.Load(t, file), engine.Options{Jobs: jobs, Select: project.Selection{Paths: []string{"many"}}, Environ: os.Environ()})
	if result.Verdict != verdict.Match || result.Totals.Match != rows {
		t.Fatalf("%s: %+v", result.Verdict, result.Totals)
	}
	keep := func(got *transcript.Transcript) error {
		if got.Target == "right" {
			all = append(all, got)
		}
		return nil
	}
	if _, err := transcript.ReadRun(tape, func(transcript.RunHeader) error { return nil }, keep); err != nil {
		t.Fatal(err)
	}
	return all
}

// Other scenarios run while lockstep watches processes that have ended a stream.
func TestScenariosDoNotWaitForProcessesOfOthers(t *testing.T) {
	t.Parallel()
	const rows = 16
	all := walks(t, 2, rows, "steps:\n  - {open: feed, sse: GET /events, query: {shelf: \"s-${{ unique }}\", last: 1}}\n  - {await: feed, end: server}\n")
	first, last := all[0].Started, all[0].Started
	for _, got := range all {
		if got.Started.Before(first) {
			first = got.Started
		}
		if got.Started.After(last) {
			last = got.Started
		}
	}
	if took, most := last.Sub(first), (rows/2-1)*500*time.Millisecond; took >= most {
		t.Errorf("the last of %d scenarios began %s after the first, as if one had waited for the other; want less than %s", rows, took, most)
	}
}

// The targets of a fresh scenario start while others run, unless scenarios run one at a time.
func TestFreshTargetsStartAhead(t *testing.T) {
	const steps = "isolate: fresh\nsteps:\n  - {open: feed, sse: GET /events, query: {shelf: \"s-${{ unique }}\"}, ready: {event: hello}}\n" +
		"  - {never: feed, match: {event: created}, within: 300ms}\n"
	for _, jobs := range []int{1, 2} {
		t.Run(fmt.Sprint(jobs), func(t *testing.T) {
			t.Parallel()
			ahead := 0
			all := walks(t, jobs, 4, steps)
			for _, next := range all {
				began := 0 // scenarios that began before this scenario's target
				over := 0
				for _, other := range all {
					if other != next && other.Process.Before(next.Process) {
						began++
						if other.Started.Add(other.Took).Before(next.Process) {
							over++
						}
					}
				}
				if began-over >= jobs {
					ahead++
				}
			}
			if jobs == 1 && ahead > 0 || jobs > 1 && ahead == 0 {
				t.Errorf("%d jobs: %d targets were started while others ran", jobs, ahead)
			}
		})
	}
}
