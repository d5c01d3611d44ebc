package text

import (
	"strconv"

	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
)

// maxMissing limits how many missing items of a measure are listed without Verbose.
const maxMissing = 5

// gate writes a block when less of the contract was reached than demanded, or an exception is stale.
func (p *coveragePage) gate() {
	g := p.run.doc.Gate
	if g == nil || g.State != coverage.GateMissed {
		return
	}
	p.run.line(0, p.run.red("COVERAGE"), "  ", p.run.dim(textfit.FileLine(g.File, g.Line)))
	for i := range g.Measures {
		if m := &g.Measures[i]; !m.Met {
			p.missingOf(m)
		}
	}
	for _, x := range g.Except {
		if x.Stale {
			p.run.line(2, "the exception for ", textfit.Clip(x.What, 120), " is stale: it was reached, so remove it  ", p.run.dim(textfit.FileLine(x.File, x.Line)))
		}
	}
	if text := g.WithoutThem(); text != "" {
		p.run.line(2, textfit.Clip(text, 240))
	}
	p.run.blankLine()
}

// missingOf writes what is missing of a measure.
func (p *coveragePage) missingOf(m *coverage.MeasureGate) {
	p.run.line(2, textfit.Clip(string(m.Measure), 40), " ", textfit.Clip(m.Percent, 20), " (", strconv.Itoa(m.Reached), " of ", strconv.Itoa(m.Declared), "), but at least ", textfit.Clip(m.Least, 20),
		" is required; never reached:")
	for i, miss := range m.Missing {
		if i == maxMissing && !p.run.opts.Verbose {
			p.run.line(4, "and ", strconv.Itoa(len(m.Missing)-i), " more; lockstep coverage lists them")
			return
		}
		p.run.line(4, p.run.dim(textfit.FileLine(p.run.doc.Contract, miss.Line)), "  ", textfit.Clip(miss.Name, 160))
	}
}

// Gate returns what the terminal shows when coverage is too low.
func Gate(doc *report.Document) string {
	p := &coveragePage{&runPage{doc: doc}}
	p.run.blankLine()
	p.gate()
	return p.run.String()
}
