package text

import (
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
)

// A coveragePage shows how much of the contract a run has reached.
type coveragePage struct{ run *runPage }

// totals writes the totals, what was not reached, and what occurred without being declared. With Options.Verbose it
// also writes the whole table.
func (p *coveragePage) totals() {
	c := &p.run.doc.Coverage
	if p.run.doc.Contract == "" {
		p.run.row("contract", report.NoContract)
		return
	}
	if len(c.Operations) == 0 {
		return
	}
	p.sums()
	if text := report.DemandedCoverage(p.run.doc.Gate); text != "" {
		p.run.row("demanded", text)
	}
	if p.run.opts.Verbose {
		p.table(c)
		p.unreachedInside(c)
		return
	}
	if !p.run.doc.Selection || !p.run.doc.Verdict.Red() {
		p.gaps(c)
	}
	p.list("undocumented", report.Undocumented(c, false))
}

// gaps lists what was not reached.
func (p *coveragePage) gaps(c *coverage.Coverage) {
	m := report.UnreachedOf(c)
	p.list("not called", m.Operations)
	p.list("not answered", m.Statuses)
	p.list("not sent", m.Events)
	p.list("not seen", report.UnreachedItems(c, report.LineText, coverage.PropertiesSeen, coverage.EnumsSeen, coverage.AlternativesSeen))
}

func (p *coveragePage) list(label string, items []string) {
	if len(items) > 0 {
		p.run.row(label, textfit.List(items, ", "))
	}
}

// sums writes in numbers how much of the contract was reached.
func (p *coveragePage) sums() {
	p.run.row("contract", p.run.doc.Coverage.Totals().String())
	if text := p.run.doc.Coverage.SchemaTotals().String(); text != "" {
		p.run.row("schema", text)
	}
}

// contractLine returns a place in the contract.
func (p *coveragePage) contractLine(line int) string {
	return textfit.FileLine(p.run.doc.Contract, line)
}

// unreachedInside writes what the table cannot show: what was not seen inside of messages, and what was not compared.
func (p *coveragePage) unreachedInside(c *coverage.Coverage) {
	for _, m := range []coverage.Measure{coverage.RequestsSent, coverage.CodesReached, coverage.PropertiesSeen, coverage.EnumsSeen, coverage.AlternativesSeen} {
		for _, what := range report.UnreachedItems(c, p.contractLine, m) {
			p.run.line(2, p.run.red("never: "), what, p.run.dim(" ["+string(m)+"]"))
		}
	}
	for _, what := range c.Uncompared {
		p.run.line(2, "not compared: ", textfit.Clip(what, 160))
	}
}

// table writes a row for each operation, and its streams below it.
func (p *coveragePage) table(c *coverage.Coverage) {
	width := 0
	for i := range c.Operations {
		width = max(width, textfit.Columns(report.Operation(&c.Operations[i])))
	}
	for i := range c.Operations {
		op := &c.Operations[i]
		var cells []string
		for _, s := range op.Statuses {
			cells = append(cells, p.cell(textfit.Clip(s.Status, 20), s.Reached))
		}
		p.run.line(2, textfit.Pad(report.Operation(op), width), "  ", p.cell("", op.Reached), "  ", strings.Join(cells, ", "))
		for _, s := range op.Statuses {
			p.media(&s)
		}
		if op.Messages != nil {
			p.run.line(6, strings.Join(p.events("messages", op.Messages), ", "))
		}
	}
	for _, u := range report.Undocumented(c, true) {
		p.run.line(2, p.run.red("undocumented: "), u)
	}
}

// media writes the content types of a status, if there are several, and the events of its streams.
func (p *coveragePage) media(s *coverage.Status) {
	for _, m := range s.Media {
		if m.Stream == nil && len(s.Media) < 2 {
			continue
		}
		cells := []string{p.cell(textfit.Clip(m.Type, 60), m.Reached)}
		if m.Stream != nil {
			cells = append(cells, p.events("events", m.Stream)...)
		}
		p.run.line(6, fmt.Sprintf("%s %s", textfit.Clip(s.Status, 20), strings.Join(cells, ", ")))
	}
}

// events returns the cells of a stream's events, or of messages.
func (p *coveragePage) events(noun string, s *coverage.Stream) (cells []string) {
	for _, e := range s.Events {
		cells = append(cells, p.cell(textfit.Clip(e.Name, 60), e.Reached))
	}
	if !s.Described {
		cells = append(cells, noun+" not described")
	}
	return cells
}

func (p *coveragePage) cell(name string, n int) string {
	text := strings.TrimSpace(name + " " + report.CountOrNever(n))
	if n == 0 {
		return p.run.red(text)
	}
	return text
}
