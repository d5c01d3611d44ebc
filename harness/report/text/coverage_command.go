package text

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
)

// WriteCoverage writes only how much of the contract a run has reached: the totals, how often each operation responded
// with each status, and everything that was never reached, with its line in the contract.
func WriteCoverage(w io.Writer, doc *report.Document, opts Options) error {
	p := &coveragePage{&runPage{page: page{opts: opts}, doc: doc}}
	c := &doc.Coverage
	p.sums()
	p.run.blankLine()
	p.grid(c)
	items := c.Items()
	for _, m := range coverage.Measures() {
		p.unreachedOf(m, items)
	}
	p.unlistedItems("undocumented", report.Undocumented(c, true))
	p.unlistedItems("declared but never compared", textfit.ClipAll(c.Uncompared, 120))
	_, err := io.WriteString(w, p.run.String())
	return err
}

// grid writes a row for each operation and a column for each status.
func (p *coveragePage) grid(c *coverage.Coverage) {
	codes := statusesOf(c)
	width := 0
	for i := range c.Operations {
		width = max(width, textfit.Columns(report.Operation(&c.Operations[i])))
	}
	head := textfit.Pad("", width)
	for _, code := range codes {
		head += "  " + alignRight(textfit.Clip(code, 7))
	}
	p.run.line(0, p.run.dim(strings.TrimRight(head, " ")))
	for i := range c.Operations {
		op := &c.Operations[i]
		var b strings.Builder
		for _, code := range codes {
			k := slices.IndexFunc(op.Statuses, func(s coverage.Status) bool { return s.Status == code })
			switch {
			case k < 0:
				b.WriteString("  " + alignRight(""))
			case op.Statuses[k].Reached == 0:
				b.WriteString("  " + p.run.red(alignRight("never")))
			default:
				b.WriteString("  " + alignRight(strconv.Itoa(op.Statuses[k].Reached)))
			}
		}
		p.run.line(0, strings.TrimRight(textfit.Pad(report.Operation(op), width)+b.String(), " "))
	}
}

// alignRight aligns a cell to the right of its column.
func alignRight(s string) string {
	const wide = 7
	return strings.Repeat(" ", max(0, wide-textfit.Columns(s))) + s
}

// statusesOf returns all declared statuses: exact ones, ranges, default.
func statusesOf(c *coverage.Coverage) []string {
	var codes []string
	for i := range c.Operations {
		for _, s := range c.Operations[i].Statuses {
			if !slices.Contains(codes, s.Status) {
				codes = append(codes, s.Status)
			}
		}
	}
	slices.Sort(codes) // digits before X, X before default
	return codes
}

// unreachedOf writes what was not reached of a measure.
func (p *coveragePage) unreachedOf(m coverage.Measure, items []coverage.Item) {
	tally := coverage.TallyItems(items, m)
	if tally.Reached == tally.Declared {
		return
	}
	p.run.blankLine()
	p.run.line(0, "never reached: ", string(m), " ", p.run.dim(tally.String()))
	for _, it := range items {
		if it.Measure == m && !it.Reached {
			p.run.line(2, p.run.dim(textfit.FileLine(p.run.doc.Contract, it.Line)), "  ", textfit.Clip(it.Name, 160))
		}
	}
}

// maxUnlisted limits how many items without a line in the contract are listed.
const maxUnlisted = 50

// unlistedItems writes a list of items without a line in the contract.
func (p *coveragePage) unlistedItems(title string, items []string) {
	if len(items) == 0 {
		return
	}
	p.run.blankLine()
	p.run.line(0, title)
	for _, item := range items[:min(len(items), maxUnlisted)] {
		p.run.line(2, item)
	}
	if rest := len(items) - maxUnlisted; rest > 0 {
		p.run.line(2, "and ", strconv.Itoa(rest), " more in report.json")
	}
}
