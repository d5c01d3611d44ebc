package jsonreport

import (
	"cmp"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/cause"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A Cause is a place in the answers of one operation where something was found, as all reports list them. What it
// says is that of its first finding.
type Cause struct {
	Operation string        `json:"operation"` // the text of the step if the contract has no operation for it
	Place     string        `json:"place"`
	Text      string        `json:"text"`
	Reference string        `json:"reference,omitempty"`
	Candidate string        `json:"candidate,omitempty"`
	Want      string        `json:"want,omitempty"`
	Got       string        `json:"got,omitempty"`
	Blame     verdict.Blame `json:"blame"`
	Scenarios int           `json:"scenarios"`
	Findings  int           `json:"findings"`
	Causes    int           `json:"causes"`
	Accepted  bool          `json:"accepted,omitempty"`
	First     Location      `json:"first"`
}

// A Location locates a finding in a run.
type Location struct {
	Scenario string `json:"scenario"`
	Finding  int    `json:"finding"` // the index among those of the scenario
}

// causes returns the causes of a run in the order of all reports.
func causes(d *report.Document) (out []Cause) {
	for _, r := range cause.Rows(cause.NewLayout(d.Scenarios, true), d.Changes.NewFindings()) {
		c := r.Causes[0]
		out = append(out, Cause{
			Operation: cmp.Or(c.Operation, c.StepText), Place: c.Place, Text: c.Text,
			Reference: c.Reference, Candidate: c.Candidate, Want: c.Want, Got: c.Got, Blame: c.Side(),
			Scenarios: len(r.In), Findings: r.Findings, Causes: len(r.Causes), Accepted: c.Accepted(),
			First: Location{c.In.ID, c.Index},
		})
	}
	return out
}
