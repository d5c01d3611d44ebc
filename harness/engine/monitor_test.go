package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

func TestAMonitorShowsWhatTheRunWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m Monitor
		m.Begin(3, "old", "new")
		is := func(what string, want report.Status) {
			t.Helper()
			want.Of = 3
			if diff := cmp.Diff(want, m.Status()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		targets := func(old, new report.TargetStatus) []report.TargetStatus {
			old.Name, new.Name = "old", "new"
			return []report.TargetStatus{old, new}
		}
		idle, steps := report.TargetStatus{}, func(n int) report.TargetStatus { return report.TargetStatus{Steps: n} }
		is("nothing is under way", report.Status{Targets: targets(idle, idle)})

		started := m.Starting("new")
		is("a target starts", report.Status{Target: "new", Targets: targets(idle, report.TargetStatus{Starting: true})})
		started()

		slow := m.Watch("new")(run.Activity{Scenario: "slow", Step: "1"})
		time.Sleep(time.Second) // by the fake clock
		quick := m.Watch("old")(run.Activity{Scenario: "quick", Step: "1"})
		m.Watch("new")(run.Activity{Scenario: "quick", Step: "1"})
		is("two scenarios", report.Status{
			Took: time.Second, Scenario: "slow", Target: "new", Step: "1", Waited: time.Second, Targets: targets(steps(1), steps(2)),
		})

		slow(run.Answered)
		again := m.Watch("old")(run.Activity{Scenario: "slow", Step: "2"})
		time.Sleep(time.Second)
		is("the same scenario, another step", report.Status{
			Took: 2 * time.Second, Scenario: "slow", Target: "old", Step: "2", Waited: 2 * time.Second, Targets: targets(steps(2), steps(1)),
		})

		again(run.Answered)
		quick(run.Answered)
		m.Judged("slow", verdict.Differ)
		is("the other one is left", report.Status{
			Done: 1, Differ: 1, Took: 2 * time.Second, Scenario: "quick", Target: "new", Step: "1", Waited: time.Second, Targets: targets(idle, steps(1)),
		})
	})
}
