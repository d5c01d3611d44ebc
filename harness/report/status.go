package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
)

// A Status is the progress of a run.
type Status struct {
	Done, Of        int // scenarios
	Differ, Unknown int
	Took            time.Duration // until now
	// These name what the run waits for: a step of a scenario on a target, or the start of a target when Scenario is
	// empty. All are empty when nothing is running.
	Scenario, Target, Step string
	Waited                 time.Duration // since the scenario's first step
	Targets                []TargetStatus
}

// A TargetStatus is what a target is doing.
type TargetStatus struct {
	Name     string
	Starting bool // some server of it
	Steps    int  // that are running
}

// String returns a text such as "go 3 steps", "go starting" or "go idle".
func (t TargetStatus) String() string {
	switch {
	case t.Steps == 1:
		return t.Name + " 1 step"
	case t.Steps > 1:
		return fmt.Sprintf("%s %d steps", t.Name, t.Steps)
	case t.Starting:
		return t.Name + " starting"
	}
	return t.Name + " idle"
}

// Line returns the status as one line of at most this many columns, for a terminal that overwrites it again and again:
// "12/509 · 1 differs · 3.4 s · client-tools/execute (go, step 4, 2.1 s) · typescript idle, go 3 steps". It contains no
// control characters.
func (s *Status) Line(columns int) string {
	parts := []string{fmt.Sprintf("%d/%d", s.Done, s.Of)}
	switch {
	case s.Differ == 1:
		parts = append(parts, "1 differs")
	case s.Differ > 1:
		parts = append(parts, fmt.Sprintf("%d differ", s.Differ))
	}
	if s.Unknown > 0 {
		parts = append(parts, fmt.Sprintf("%d unknown", s.Unknown))
	}
	parts = append(parts, textfit.Seconds(s.Took.Milliseconds()))
	switch {
	case s.Scenario != "":
		waited := ""
		if s.Waited >= time.Second {
			waited = ", " + textfit.Seconds(s.Waited.Milliseconds())
		}
		parts = append(parts, fmt.Sprintf("%s (%s, step %s%s)", s.Scenario, s.Target, s.Step, waited))
	case s.Target != "":
		parts = append(parts, "starting "+s.Target)
	}
	if len(s.Targets) > 0 {
		states := make([]string, len(s.Targets))
		for i, t := range s.Targets {
			states[i] = t.String()
		}
		parts = append(parts, strings.Join(states, ", "))
	}
	line := strings.Join(parts, " · ")
	shown, left := textfit.Fit(line, columns)
	if left == 0 || columns < 1 {
		return shown
	}
	shown, _ = textfit.Fit(line, columns-1)
	return shown + "…"
}

// Plain returns the status as a line of a log: "210/509, 0 differ, 10 s". Nothing else tells a reader of the log that a
// server is not ready yet.
func (s *Status) Plain() string {
	text := fmt.Sprintf("%d/%d, %d differ", s.Done, s.Of, s.Differ)
	if s.Unknown > 0 {
		text += fmt.Sprintf(", %d unknown", s.Unknown)
	}
	text += fmt.Sprintf(", %d s", int(s.Took.Round(time.Second).Seconds()))
	if s.Scenario == "" && s.Target != "" {
		text += ", starting " + textfit.Visible(s.Target)
	}
	return text
}
