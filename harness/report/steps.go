package report

import (
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A StepLine is a step of a scenario that was run, in one line.
type StepLine struct {
	Line int    // in the scenario's file
	Text string // as in the file
	Took int64  // in microseconds, on the reference
	// Statuses are those of its first response, one for each target: that of HTTP, StatusOK or StatusError for what a
	// driver was told to do, and 0 when there is none.
	Statuses []int
}

// Statuses of what a driver was told to do.
const (
	StatusOK    = 1
	StatusError = 2
)

// maxSteps limits the steps that are kept of a scenario.
const maxSteps = 60

// StepLines returns the steps of a scenario that were run. The reference's transcript comes first.
func StepLines(all []*transcript.Transcript) []StepLine {
	if len(all) == 0 {
		return nil
	}
	var out []StepLine
	for i := range all[0].Steps {
		s := &all[0].Steps[i]
		if s.Skipped != "" {
			continue
		}
		if len(out) == maxSteps {
			break
		}
		line := StepLine{Line: s.Line, Text: s.Text, Took: micros(s.Took)}
		for _, t := range all {
			line.Statuses = append(line.Statuses, statusOf(t, i, s.ID))
		}
		out = append(out, line)
	}
	return out
}

// statusOf returns the status of the first response in a target's i-th step.
func statusOf(t *transcript.Transcript, i int, id string) int {
	if i >= len(t.Steps) || t.Steps[i].ID != id || len(t.Steps[i].Exchanges) == 0 || t.Steps[i].Exchanges[0].Response == nil {
		return 0
	}
	switch x := t.Steps[i].Exchanges[0]; x.Outcome() {
	case transcript.OutcomeOK:
		return StatusOK
	case transcript.OutcomeError:
		return StatusError
	default:
		return x.Response.Status
	}
}
