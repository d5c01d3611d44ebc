package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
)

// NoContract is what reports say of a run without a contract.
const NoContract = "none: nothing was judged by a contract"

// unreached lists what is declared and was not reached.
type unreached struct {
	Operations, Statuses, Events []string
}

// UnreachedOf lists what was not reached. For an operation that was never called, it lists nothing further.
func UnreachedOf(c *coverage.Coverage) unreached {
	var m unreached
	for i := range c.Operations {
		op := &c.Operations[i]
		if op.Reached == 0 {
			m.Operations = append(m.Operations, Operation(op))
			continue
		}
		for _, r := range op.Requests {
			if r.Reached == 0 {
				m.Operations = append(m.Operations, Operation(op)+" with "+textfit.Clip(r.Type, 60))
			}
		}
		var statuses []string
		for _, s := range op.Statuses {
			if s.Reached == 0 {
				statuses = append(statuses, textfit.Clip(s.Status, 20))
				continue
			}
			for _, code := range s.Codes {
				if !code.Seen {
					statuses = append(statuses, textfit.Clip(s.Status, 20)+" with "+textfit.Clip(code.Name, 60))
				}
			}
			for _, media := range s.Media {
				if media.Reached == 0 {
					statuses = append(statuses, textfit.Clip(s.Status, 20)+" as "+textfit.Clip(media.Type, 60))
					continue
				}
				m.Events = append(m.Events, unreachedEvents(op, media.Stream)...)
			}
		}
		m.Events = append(m.Events, unreachedEvents(op, op.Messages)...)
		if len(statuses) > 0 {
			m.Statuses = append(m.Statuses, Operation(op)+" "+strings.Join(statuses, " "))
		}
	}
	return m
}

// UnreachedItems lists what was not reached of some measures. where describes the line where each item is declared.
func UnreachedItems(c *coverage.Coverage, where func(line int) string, measures ...coverage.Measure) []string {
	var out []string
	for _, it := range c.Items() {
		if !it.Reached && slices.Contains(measures, it.Measure) {
			out = append(out, textfit.Clip(it.Name, 100)+" ("+where(it.Line)+")")
		}
	}
	return out
}

// LineText describes a line of the contract where it is clear that the contract is meant.
func LineText(line int) string { return "line " + strconv.Itoa(line) }

func unreachedEvents(op *coverage.Operation, s *coverage.Stream) []string {
	if s == nil {
		return nil
	}
	var out []string
	for _, e := range s.Events {
		if e.Reached == 0 {
			out = append(out, textfit.Clip(e.Name, 60)+" of "+Operation(op))
		}
	}
	return out
}

func Operation(op *coverage.Operation) string {
	return strings.TrimPrefix(textfit.Clip(op.Method, 20)+" "+textfit.Clip(op.Path, 100), " ")
}

// Undocumented lists what the contract does not have. With where, it adds the scenarios. Requests that a target has
// accepted come first: either the contract lacks them, or the target has too much. It is correct to refuse requests
// outside the contract.
func Undocumented(c *coverage.Coverage, where bool) []string {
	var out []string
	for _, refused := range []bool{false, true} {
		for i := range c.Undocumented {
			u := &c.Undocumented[i]
			if u.Refused() != refused {
				continue
			}
			text := textfit.Clip(u.What, 80) + statusCounts(u.Statuses) + " " + CountOrNever(u.Count)
			if where {
				text += seenIn(u.Scenarios)
			}
			out = append(out, text)
		}
	}
	return out
}

// seenIn names the first of some scenarios.
func seenIn(scenarios []string) string {
	switch len(scenarios) {
	case 0:
		return ""
	case 1:
		return " in " + textfit.Clip(scenarios[0], 80)
	}
	return " in " + textfit.Clip(scenarios[0], 80) + " and others"
}

// statusCounts writes the statuses of responses: " (404)", " (200 ×1, 404 ×3)"; "" when the name has the status
// already.
func statusCounts(statuses []coverage.StatusCount) string {
	switch len(statuses) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" (%d)", statuses[0].Status)
	}
	cells := make([]string, len(statuses))
	for i, s := range statuses {
		cells[i] = fmt.Sprintf("%d %s", s.Status, CountOrNever(s.Count))
	}
	return " (" + strings.Join(cells, ", ") + ")"
}

// CountOrNever writes a count. It writes "never" for 0, so that what was not reached stands out.
func CountOrNever(n int) string {
	if n == 0 {
		return "never"
	}
	return "×" + strconv.Itoa(n)
}

// DemandedCoverage is the summary's row about demanded coverage. It is "" without a demand, or when the block has it
// already.
func DemandedCoverage(g *coverage.Gate) string {
	switch {
	case g == nil || g.State == coverage.GateMissed:
		return ""
	case g.State == coverage.GateNotJudged:
		return "not judged: " + textfit.Clip(g.Why, 160)
	}
	parts := make([]string, len(g.Measures))
	for i, m := range g.Measures {
		parts[i] = textfit.Clip(string(m.Measure), 40) + " " + textfit.Clip(m.Percent, 20)
		if m.Percent != m.Least {
			parts[i] += " (at least " + textfit.Clip(m.Least, 20) + ")"
		}
	}
	text := strings.Join(parts, ", ")
	if n := len(g.Except); n > 0 {
		text += "; " + textfit.Count(n, "exception")
	}
	return text
}

// MissedCoverage says that less of the contract was reached than demanded; "" when enough was reached.
func MissedCoverage(d *Document) string {
	if d.Gate == nil || d.Gate.State != coverage.GateMissed {
		return ""
	}
	return "the contract coverage is too low: " + textfit.Clip(d.Gate.String(), 300)
}
