package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract"
)

// coverage writes how much of the contract was reached: the totals, what was not reached, and what was seen without
// being declared. With everything asked for it is the whole table.
func (p *page) coverage() {
	c := &p.doc.Coverage
	if len(c.Operations) == 0 {
		return
	}
	p.row("contract", c.Totals().String())
	if text := c.SchemaTotals().String(); text != "" {
		p.row("schema", text)
	}
	if text := demanded(p.doc.Gate); text != "" {
		p.row("demanded", text)
	}
	if p.paint.Verbose {
		p.table(c)
		p.unseen(c)
		return
	}
	m := missed(c)
	for _, row := range []struct {
		label string
		items []string
	}{{"not called", m.operations}, {"not answered", m.statuses}, {"not sent", m.events}, {"not seen", lacking(c, inLine, contract.PropertiesSeen, contract.EnumsSeen, contract.AlternativesSeen)}, {"undocumented", undocumented(c, false)}} {
		if len(row.items) > 0 {
			p.row(row.label, list(row.items, ", "))
		}
	}
}

// misses are what is declared and was not reached.
type misses struct {
	operations, statuses, events []string
}

// missed lists what was not reached. Of an operation that was not called, that is all there is to say.
func missed(c *contract.Coverage) misses {
	var m misses
	for i := range c.Operations {
		op := &c.Operations[i]
		if op.Reached == 0 {
			m.operations = append(m.operations, operation(op))
			continue
		}
		for _, r := range op.Requests {
			if r.Reached == 0 {
				m.operations = append(m.operations, operation(op)+" with "+clip(r.Type, 60))
			}
		}
		var statuses []string
		for _, s := range op.Statuses {
			if s.Reached == 0 {
				statuses = append(statuses, clip(s.Status, 20))
				continue
			}
			for _, code := range s.Codes {
				if !code.Seen {
					statuses = append(statuses, clip(s.Status, 20)+" with "+clip(code.Name, 60))
				}
			}
			for _, media := range s.Media {
				if media.Reached == 0 {
					statuses = append(statuses, clip(s.Status, 20)+" as "+clip(media.Type, 60))
					continue
				}
				m.events = append(m.events, missedEvents(op, media.Stream)...)
			}
		}
		if len(statuses) > 0 {
			m.statuses = append(m.statuses, operation(op)+" "+strings.Join(statuses, " "))
		}
	}
	return m
}

// lacking lists what was not reached of some measures, each with what says where it is declared.
func lacking(c *contract.Coverage, where func(line int) string, measures ...contract.Measure) []string {
	var out []string
	for _, it := range c.Items() {
		if !it.Reached && slices.Contains(measures, it.Measure) {
			out = append(out, clip(it.Name, 100)+" ("+where(it.Line)+")")
		}
	}
	return out
}

// inLine says where in the contract, to those who know that it is there.
func inLine(line int) string { return "line " + strconv.Itoa(line) }

// inContract says where in the contract.
func (p *page) inContract(line int) string { return at(p.doc.Contract, line) }

// unseen writes what the table has no place for: what was not seen inside of messages, and what nobody has compared.
func (p *page) unseen(c *contract.Coverage) {
	for _, m := range []contract.Measure{contract.RequestsSent, contract.CodesReached, contract.PropertiesSeen, contract.EnumsSeen, contract.AlternativesSeen} {
		for _, what := range lacking(c, p.inContract, m) {
			p.line(2, p.red("never: "), what, p.dim(" ["+string(m)+"]"))
		}
	}
	for _, what := range c.Uncompared {
		p.line(2, "not compared: ", clip(what, 160))
	}
}

func missedEvents(op *contract.OperationCoverage, s *contract.StreamCoverage) []string {
	if s == nil {
		return nil
	}
	var out []string
	for _, e := range s.Events {
		if e.Reached == 0 {
			out = append(out, clip(e.Name, 60)+" of "+operation(op))
		}
	}
	return out
}

func operation(op *contract.OperationCoverage) string {
	return clip(op.Method, 20) + " " + clip(op.Path, 100)
}

// undocumented lists what the contract does not have, with where it was seen if that is asked for. What a target has
// answered all the same comes first: the contract lacks it, or the target has too much. That requests are refused which
// no operation has is as it should be.
func undocumented(c *contract.Coverage, where bool) []string {
	var out []string
	for _, refused := range []bool{false, true} {
		for i := range c.Undocumented {
			u := &c.Undocumented[i]
			if u.Refused() != refused {
				continue
			}
			text := clip(u.What, 80) + answers(u.Statuses) + " " + times(u.Count)
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
		return " in " + clip(scenarios[0], 80)
	}
	return " in " + clip(scenarios[0], 80) + " and others"
}

// answers writes how requests were answered: " (404)", " (200 ×1, 404 ×3)"; "" when that is said already.
func answers(statuses []contract.StatusCount) string {
	switch len(statuses) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" (%d)", statuses[0].Status)
	}
	cells := make([]string, len(statuses))
	for i, s := range statuses {
		cells[i] = fmt.Sprintf("%d %s", s.Status, times(s.Count))
	}
	return " (" + strings.Join(cells, ", ") + ")"
}

// times writes a count so that what was never reached stands out.
func times(n int) string {
	if n == 0 {
		return "never"
	}
	return "×" + strconv.Itoa(n)
}

// table writes a row for each operation, and below it its streams.
func (p *page) table(c *contract.Coverage) {
	width := 0
	for i := range c.Operations {
		width = max(width, columns(operation(&c.Operations[i])))
	}
	for i := range c.Operations {
		op := &c.Operations[i]
		var cells []string
		for _, s := range op.Statuses {
			cells = append(cells, p.cell(clip(s.Status, 20), s.Reached))
		}
		p.line(2, pad(operation(op), width), "  ", p.cell("", op.Reached), "  ", strings.Join(cells, ", "))
		for _, s := range op.Statuses {
			p.media(&s)
		}
	}
	for _, u := range undocumented(c, true) {
		p.line(2, p.red("undocumented: "), u)
	}
}

// media writes the content types of a status, when there is a choice, and the events of its streams.
func (p *page) media(s *contract.StatusCoverage) {
	for _, m := range s.Media {
		if m.Stream == nil && len(s.Media) < 2 {
			continue
		}
		cells := []string{p.cell(clip(m.Type, 60), m.Reached)}
		if m.Stream != nil {
			for _, e := range m.Stream.Events {
				cells = append(cells, p.cell(clip(e.Name, 60), e.Reached))
			}
			if !m.Stream.Described {
				cells = append(cells, "events not described")
			}
		}
		p.line(6, fmt.Sprintf("%s %s", clip(s.Status, 20), strings.Join(cells, ", ")))
	}
}

func (p *page) cell(name string, n int) string {
	text := strings.TrimSpace(name + " " + times(n))
	if n == 0 {
		return p.red(text)
	}
	return text
}
