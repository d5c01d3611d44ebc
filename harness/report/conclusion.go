package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// conclusion writes the verdict in words.
func (p *page) conclusion() {
	v := p.doc.Verdict
	p.line(0, p.verdict(v, clip(string(v), 20)+":"), " ", conclusion(p.doc))
}

// conclusion says what a run comes to, in one line.
func conclusion(d *Document) string {
	var text string
	switch d.Verdict {
	case verdict.Match, verdict.Waived:
		text = match(d)
	case verdict.Differ:
		text = differ(d)
	default:
		text = unknown(&d.Totals)
	}
	if text == "" {
		return clip(cmp.Or(d.Incomplete, "nothing was judged; lockstep run --allow-empty accepts that"), 600)
	}
	if d.Incomplete != "" {
		text += "; " + clip(d.Incomplete, 600)
	}
	return text
}

func match(d *Document) string {
	if d.Totals.Match+d.Totals.Waived == 0 {
		return "nothing was judged, and --allow-empty accepts that"
	}
	n := count(d.Totals.Match, "scenario")
	text := fmt.Sprintf("%s do the same in %s", both(targetNames(d)), n)
	if d.Alone {
		text = fmt.Sprintf("%s does what the contract and %s ask for", both(targetNames(d)), n)
	}
	if n := d.Totals.Waived; n > 0 {
		text += fmt.Sprintf("; in %d more, all that is found is accepted", n)
	}
	switch n := d.Totals.NotApplicable; n {
	case 0:
		return text
	case 1:
		return text + ", and 1 does not apply"
	default:
		return fmt.Sprintf("%s, and %d do not apply", text, n)
	}
}

// differ tells the scenarios in which the targets part from those in which they only are wrong, each or both.
func differ(d *Document) string {
	t := &d.Totals
	all := count(t.Match+t.Waived+t.Differ+t.Unknown+t.NotApplicable, "scenario")
	parted := 0
	for i := range d.Scenarios {
		if !d.Alone && d.Scenarios[i].Verdict == verdict.Differ && parts(&d.Scenarios[i]) {
			parted++
		}
	}
	wrong := t.Differ - parted
	who := both(targetNames(d))
	var text string
	switch {
	case t.Differ == 0: // a waiver is stale, or coverage is too small
		text = "nothing that counts is found in " + all
	case d.Alone:
		text = fmt.Sprintf("%s breaks the contract or an expectation in %d of %s", who, wrong, all)
	case parted == 0:
		text = fmt.Sprintf("%s do not part, but the contract or an expectation is broken in %d of %s", who, wrong, all)
	default:
		text = fmt.Sprintf("%s part in %d of %s", who, parted, all)
		if wrong > 0 {
			text += fmt.Sprintf("; in %d more the contract or an expectation is broken", wrong)
		}
	}
	if t.Unknown > 0 {
		text += fmt.Sprintf("; %d could not be judged", t.Unknown)
	}
	if old := outworn(d); old != "" {
		text += "; " + old
	}
	if short := shortfallOfCoverage(d); short != "" {
		text += "; " + short
	}
	return text
}

// parts reports whether the targets part in a scenario: where a difference is, or where one of them falls short and
// another does not. One that hangs where the other answers is not like it, although there is no answer to compare.
func parts(s *verdict.Scenario) bool {
	short := map[lack]map[string]bool{} // the targets
	for i := range s.Findings {
		switch f := &s.Findings[i]; {
		case f.Accepted():
		case f.Class == verdict.Difference:
			return true
		case f.Class == verdict.Shortfall:
			l := lackOf(f)
			if short[l] == nil {
				short[l] = map[string]bool{}
			}
			short[l][f.Target] = true
		}
	}
	for _, targets := range short {
		if len(targets) < len(s.Targets) {
			return true
		}
	}
	return false
}

// A lack is what two targets have in common that fall short alike.
type lack struct{ kind, step, stream, place, got string }

// lackOf takes of what came instead the words alone: times and sizes are others on each target.
func lackOf(f *verdict.Finding) lack {
	got := f.Got
	if i := strings.IndexAny(got, `0123456789"`); i >= 0 {
		got = got[:i]
	}
	return lack{f.Kind, f.Step, f.Stream, f.Place, got}
}

// unknown counts what could not be judged; "" when it is the run as a whole.
func unknown(t *verdict.Totals) string {
	if t.Unknown == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s could not be judged", t.Unknown, count(t.Match+t.Waived+t.Differ+t.Unknown+t.NotApplicable, "scenario"))
}

func targetNames(d *Document) []string {
	out := make([]string, len(d.Totals.Targets))
	for i, t := range d.Totals.Targets {
		out[i] = clip(t.Name, 60)
	}
	return out
}
