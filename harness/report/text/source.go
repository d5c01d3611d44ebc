package text

import (
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/cause"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// sourceOf returns what a cause is about in its scenario's file; nil without evidence.
func sourceOf(d *report.Document, s *verdict.Scenario, c *cause.Cause) *report.Source {
	if ev := d.Evidence[s.ID]; ev != nil && c.Index < len(ev.Findings) {
		return ev.Findings[c.Index].Source
	}
	return nil
}

// Limits of what is shown of a scenario's line. With its number, the line fits into 80 columns.
const (
	maxSourceColumns  = 68
	columnsBeforeMark = 40 // in a longer line, columns before the key
)

// source writes a line of the scenario and points at the key.
func (p *blockPage) source(at *report.Source) {
	all := []rune(at.Text) // YAML counts columns in characters
	n := min(max(at.Column-1, 0), len(all))
	before, behind := textfit.Visible(string(all[:n])), string(all[n:])
	if textfit.Columns(before)+textfit.Columns(textfit.Visible(behind)) > maxSourceColumns && textfit.Columns(before) > columnsBeforeMark {
		runes := []rune(before)
		before = "…" + string(runes[max(0, len(runes)-columnsBeforeMark+1):])
	}
	number := strconv.Itoa(at.Line)
	behind, left := textfit.Fit(behind, maxSourceColumns-textfit.Columns(before)-1)
	if left > 0 {
		behind += "…"
	}
	p.run.line(4, p.run.dim(number+" | "), before, behind)
	p.run.line(4, strings.Repeat(" ", len(number)), p.run.dim(" | "), strings.Repeat(" ", textfit.Columns(before)), p.run.red("^"))
}
