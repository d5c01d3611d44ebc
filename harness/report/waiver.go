package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// soon is how many days before it expires a waiver is warned of.
const soon = 14

// waivers writes a line for each waiver that accepts findings, or did. Those that nobody can tell of are left out unless
// everything is asked for.
func (p *page) waivers() {
	any := false
	for i := range p.doc.Waivers {
		if w := &p.doc.Waivers[i]; w.State != verdict.Idle || p.paint.Verbose {
			p.waiver(w)
			any = true
		}
	}
	if any {
		p.gap()
	}
	p.known()
}

// mostKnown is how many findings of the baseline are listed.
const mostKnown = 10

// known writes a line for each finding that the baseline has.
func (p *page) known() {
	n := 0
	for i := range p.doc.Scenarios {
		for k := range p.doc.Scenarios[i].Findings {
			f := &p.doc.Scenarios[i].Findings[k]
			if !f.Known {
				continue
			}
			if n++; n <= mostKnown || p.paint.Verbose {
				p.line(0, p.yellow("KNOWN"), " ", Known(verdict.KnownOf(f)))
			}
		}
	}
	if n > mostKnown && !p.paint.Verbose {
		p.line(0, "and ", strconv.Itoa(n-mostKnown), " more that are known, in report.json")
	}
	if n > 0 {
		p.gap()
	}
}

// Known says in one line which finding of a baseline it is. Nothing in it acts.
func Known(k verdict.Known) string {
	return clip(k.Scenario, 120) + ": " + clip(k.At, 160) + " [" + clip(k.Kind, 60) + " " + clip(k.Fingerprint, 20) + "]"
}

func (p *page) waiver(w *verdict.WaiverUse) {
	word, paint := "WAIVED", p.yellow
	switch w.State {
	case verdict.Stale, verdict.Expired:
		word, paint = strings.ToUpper(string(w.State)), p.red
	case verdict.Idle:
		word, paint = "IDLE", p.dim
	}
	p.line(0, paint(word), " ", clip(w.ID, 20), "  ", p.dim(at(w.File, w.Line)), "  ",
		clip(w.Scenario, 120), ": ", clip(w.At, 160), p.dim(" ["+clip(w.Kind, 60)+" "+clip(w.Fingerprint, 20)+"]"), ": ", fate(w))
}

// fate says what became of a waiver.
func fate(w *verdict.WaiverUse) string {
	switch w.State {
	case verdict.Stale:
		return "it does not occur any more: remove the waiver"
	case verdict.Expired:
		return fmt.Sprintf("expired on %s, and %s again", clip(w.Expires, 20), counts(w.Findings))
	case verdict.Idle:
		return "not looked for in this run"
	default:
		return fmt.Sprintf("%s, %s, %s", clip(w.Class, 40), count(w.Findings, "finding"), countdown(w.Days))
	}
}

func counts(findings int) string {
	if findings == 1 {
		return "1 finding counts"
	}
	return strconv.Itoa(findings) + " findings count"
}

// countdown says when a waiver expires.
func countdown(days int) string {
	text := "expires in " + count(days, "day")
	if days <= soon {
		text += ", which is soon"
	}
	return text
}

// accepted writes what the summary has to say of what is accepted.
func (p *page) accepted() {
	var expiring []string
	for i := range p.doc.Waivers {
		if w := &p.doc.Waivers[i]; w.State == verdict.Holding && w.Days <= soon {
			expiring = append(expiring, clip(w.ID, 20)+" in "+count(w.Days, "day"))
		}
	}
	if len(expiring) > 0 {
		p.row("expiring", p.yellow(list(expiring, ", ")))
	}
	if n := len(p.doc.Fixed); n > 0 {
		p.row("fixed", count(n, "finding")+" of the baseline: run lockstep baseline update")
	}
}

// share says how many of the findings are accepted; "" when none is.
func share(a verdict.Accepted) string {
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
func (p *page) acceptance(c *cause) {
	switch {
	case c.Waiver != "":
		p.line(6, p.dim("accepted by waiver "+clip(c.Waiver, 20)))
	case c.Known:
		p.line(6, p.dim("known: the baseline has it"))
	case c.Note != "":
		p.line(6, p.yellow(clip(c.Note, 200)))
	}
}

// open returns the findings of a scenario that nothing accepts.
func open(s *verdict.Scenario) []*verdict.Finding {
	var out []*verdict.Finding
	for i := range s.Findings {
		if f := &s.Findings[i]; !f.Accepted() {
			out = append(out, f)
		}
	}
	return out
}

// stale returns the waivers that are to be removed.
func stale(d *Document) []string {
	var out []string
	for i := range d.Waivers {
		if d.Waivers[i].State == verdict.Stale {
			out = append(out, clip(d.Waivers[i].ID, 20))
		}
	}
	return out
}

// outworn says which waivers are stale; "" when none is.
func outworn(d *Document) string {
	switch ids := stale(d); len(ids) {
	case 0:
		return ""
	case 1:
		return "waiver " + ids[0] + " is stale: remove it"
	default:
		return "waivers " + list(ids, ", ") + " are stale: remove them"
	}
}
