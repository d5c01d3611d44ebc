package report

import (
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract"
)

// mostMissing is how much of what a measure lacks is listed unless everything is asked for.
const mostMissing = 5

// gate writes a block when less of the contract was reached than is demanded, or an exception is stale.
func (p *page) gate() {
	g := p.doc.Gate
	if g == nil || g.State != contract.GateMissed {
		return
	}
	p.line(0, p.red("COVERAGE"), "  ", p.dim(at(g.File, g.Line)))
	for i := range g.Measures {
		if m := &g.Measures[i]; !m.Met {
			p.shortOf(m)
		}
	}
	for _, x := range g.Except {
		if x.Stale {
			p.line(2, "the exception for ", clip(x.What, 120), " is stale: it is reached; remove it  ", p.dim(at(x.File, x.Line)))
		}
	}
	p.gap()
}

// shortOf writes how much of a measure is missing.
func (p *page) shortOf(m *contract.MeasureGate) {
	p.line(2, clip(string(m.Measure), 40), " ", clip(m.Percent, 20), " (", strconv.Itoa(m.Reached), " of ", strconv.Itoa(m.Declared), "), and at least ", clip(m.Least, 20),
		" is demanded; never reached:")
	for i, miss := range m.Missing {
		if i == mostMissing && !p.paint.Verbose {
			p.line(4, "and ", strconv.Itoa(len(m.Missing)-i), " more, which lockstep coverage lists")
			return
		}
		p.line(4, p.dim(at(p.doc.Contract, miss.Line)), "  ", clip(miss.Name, 160))
	}
}

// demanded is the row of the summary about what is demanded; "" when nothing is, or the block has said it.
func demanded(g *contract.Gate) string {
	switch {
	case g == nil || g.State == contract.GateMissed:
		return ""
	case g.State == contract.GateNotJudged:
		return "not judged: " + clip(g.Why, 160)
	}
	parts := make([]string, len(g.Measures))
	for i, m := range g.Measures {
		parts[i] = clip(string(m.Measure), 40) + " " + clip(m.Percent, 20)
		if m.Percent != m.Least {
			parts[i] += " (at least " + clip(m.Least, 20) + ")"
		}
	}
	text := strings.Join(parts, ", ")
	if n := len(g.Except); n > 0 {
		text += "; " + count(n, "exception")
	}
	return text
}

// shortfallOfCoverage says that the contract was not reached as far as is demanded; "" when it was.
func shortfallOfCoverage(d *Document) string {
	if d.Gate == nil || d.Gate.State != contract.GateMissed {
		return ""
	}
	return "less of the contract is reached than is demanded: " + clip(d.Gate.String(), 300)
}
