package text

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report/internal/cause"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/harness/verdict/baseline"
)

// warnDays is how many days before its expiry a waiver is reported.
const warnDays = 14

// waivers writes a line for each waiver that accepts findings, or used to. Without Verbose, it omits waivers that the
// run could not check.
func (p *runPage) waivers() {
	any := false
	for i := range p.doc.Waivers {
		if w := &p.doc.Waivers[i]; w.State != verdict.NotLooked || p.opts.Verbose {
			p.waiver(w)
			any = true
		}
	}
	if any {
		p.blankLine()
	}
}

// maxKnown limits how many findings of the baseline are listed.
const maxKnown = 10

// baseline writes a line for each finding that is in the baseline.
func (p *runPage) baseline() {
	n := 0
	for i := range p.doc.Scenarios {
		for k := range p.doc.Scenarios[i].Findings {
			f := &p.doc.Scenarios[i].Findings[k]
			if !f.Known {
				continue
			}
			if n++; n <= maxKnown || p.opts.Verbose {
				p.line(0, p.yellow("KNOWN"), " ", BaselineLine(verdict.BaselineEntryOf(f)))
			}
		}
	}
	if n > maxKnown && !p.opts.Verbose {
		p.line(0, "and ", strconv.Itoa(n-maxKnown), " more known findings in report.json")
	}
	if n > 0 {
		p.blankLine()
	}
}

// BaselineLine describes a baseline entry in one line. Invisible and control characters are escaped.
func BaselineLine(k baseline.Entry) string {
	return textfit.Clip(k.Scenario, 120) + ": " + textfit.Clip(k.At, 160) + " [" + textfit.Clip(k.Kind, 60) + " " + textfit.Clip(k.Fingerprint, 20) + "]"
}

func (p *runPage) waiver(w *verdict.WaiverUse) {
	word, paint := "WAIVED", p.yellow
	switch w.State {
	case verdict.Stale, verdict.Expired:
		word, paint = strings.ToUpper(string(w.State)), p.red
	case verdict.NotLooked:
		word, paint = "IDLE", p.dim
	}
	p.line(0, paint(word), " ", textfit.Clip(w.ID, 20), "  ", p.dim(textfit.FileLine(w.File, w.Line)), "  ",
		textfit.Clip(w.Scenario, 120), ": ", textfit.Clip(w.At, 160), p.dim(" ["+textfit.Clip(w.Kind, 60)+" "+textfit.Clip(w.Fingerprint, 20)+"]"), ": ", waiverOutcome(w))
}

// waiverOutcome says what a waiver did.
func waiverOutcome(w *verdict.WaiverUse) string {
	switch w.State {
	case verdict.Stale:
		return "it no longer occurs: remove the waiver"
	case verdict.Expired:
		return fmt.Sprintf("expired on %s, so %s again", textfit.Clip(w.Expires, 20), findingsCount(w.Findings))
	case verdict.NotLooked:
		return "not looked for in this run"
	default:
		return fmt.Sprintf("%s, %s, %s", textfit.Clip(w.Class, 40), textfit.Count(w.Findings, "finding"), countdown(w.Days))
	}
}

func findingsCount(findings int) string {
	if findings == 1 {
		return "1 finding counts"
	}
	return strconv.Itoa(findings) + " findings count"
}

// countdown says when a waiver expires.
func countdown(days int) string {
	text := "expires in " + textfit.Count(days, "day")
	if days <= warnDays {
		text += " (soon)"
	}
	return text
}

// accepted writes the summary's rows about accepted findings.
func (p *runPage) accepted() {
	var expiring []string
	for i := range p.doc.Waivers {
		if w := &p.doc.Waivers[i]; w.State == verdict.Holding && w.Days <= warnDays {
			expiring = append(expiring, textfit.Clip(w.ID, 20)+" in "+textfit.Count(w.Days, "day"))
		}
	}
	if len(expiring) > 0 {
		p.row("expiring", p.yellow(textfit.List(expiring, ", ")))
	}
	if n := len(p.doc.Fixed); n > 0 {
		p.row("fixed", textfit.Count(n, "finding")+" of the baseline: run lockstep baseline update")
	}
}

// acceptedShare says how many of the findings are accepted; "" when none is.
func acceptedShare(a verdict.Accepted) string {
	var parts []string
	if a.Waived > 0 {
		parts = append(parts, strconv.Itoa(a.Waived)+" waived")
	}
	if a.Known > 0 {
		parts = append(parts, strconv.Itoa(a.Known)+" known")
	}
	if len(parts) == 0 {
		return ""
	}
	return "; of these " + strings.Join(parts, ", ")
}

// acceptance writes, below a cause, why it is accepted, or why a waiver does not accept it.
func (p *blockPage) acceptance(c *cause.Cause) {
	switch {
	case c.Waiver != "":
		p.run.line(6, p.run.dim("accepted by waiver "+textfit.Clip(c.Waiver, 20)))
	case c.Known:
		p.run.line(6, p.run.dim("known: it is in the baseline"))
	case c.Note != "":
		p.run.line(6, p.run.yellow(textfit.Clip(c.Note, 200)))
	}
}
