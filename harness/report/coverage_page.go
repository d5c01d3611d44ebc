package report

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract"
)

// Coverage writes how much of the contract a run has reached, and nothing else: the totals, how often each operation
// answered with each status, and below it all that was never reached, each with its line in the contract.
func Coverage(w io.Writer, doc *Document, paint Paint) error {
	p := &page{doc: doc, paint: paint}
	c := &doc.Coverage
	p.row("contract", c.Totals().String())
	if text := c.SchemaTotals().String(); text != "" {
		p.row("schema", text)
	}
	p.gap()
	p.grid(c)
	items := c.Items()
	for _, m := range contract.Measures() {
		p.never(m, items)
	}
	p.others("undocumented", undocumented(c, true))
	p.others("declared, and never compared", visibly(c.Uncompared))
	_, err := io.WriteString(w, p.String())
	return err
}

// grid writes a row for each operation and a column for each status.
func (p *page) grid(c *contract.Coverage) {
	codes := statusesOf(c)
	width := 0
	for i := range c.Operations {
		width = max(width, columns(operation(&c.Operations[i])))
	}
	head := pad("", width)
	for _, code := range codes {
		head += "  " + right(clip(code, 7))
	}
	p.line(0, p.dim(strings.TrimRight(head, " ")))
	for i := range c.Operations {
		op := &c.Operations[i]
		var b strings.Builder
		for _, code := range codes {
			k := slices.IndexFunc(op.Statuses, func(s contract.StatusCoverage) bool { return s.Status == code })
			switch {
			case k < 0:
				b.WriteString("  " + right(""))
			case op.Statuses[k].Reached == 0:
				b.WriteString("  " + p.red(right("never")))
			default:
				b.WriteString("  " + right(strconv.Itoa(op.Statuses[k].Reached)))
			}
		}
		p.line(0, strings.TrimRight(pad(operation(op), width)+b.String(), " "))
	}
}

// right puts a cell to the right of its column.
func right(s string) string {
	const wide = 7
	return strings.Repeat(" ", max(0, wide-columns(s))) + s
}

// statusesOf returns all statuses that are declared: exact ones, ranges, default.
func statusesOf(c *contract.Coverage) []string {
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

// never writes what was not reached of a measure.
func (p *page) never(m contract.Measure, items []contract.Item) {
	tally := contract.TallyOf(items, m)
	if tally.Reached == tally.Declared {
		return
	}
	p.gap()
	p.line(0, "never reached: ", string(m), " ", p.dim(tally.String()))
	for _, it := range items {
		if it.Measure == m && !it.Reached {
			p.line(2, p.dim(at(p.doc.Contract, it.Line)), "  ", clip(it.Name, 160))
		}
	}
}

// others writes a list of what has no line in the contract.
func (p *page) others(title string, items []string) {
	if len(items) == 0 {
		return
	}
	p.gap()
	p.line(0, title)
	for _, item := range items[:min(len(items), mostLines)] {
		p.line(2, item)
	}
	if rest := len(items) - mostLines; rest > 0 {
		p.line(2, "and ", strconv.Itoa(rest), " more in report.json")
	}
}

// CoverageJSON writes the coverage as JSON writes it in a report.
func CoverageJSON(w io.Writer, doc *Document) error {
	return encode(w, settled(doc).Coverage)
}
