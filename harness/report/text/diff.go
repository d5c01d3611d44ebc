package text

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
)

// WriteDiff writes a comparison of two runs for a person. With Verbose, it shows everything.
func WriteDiff(w io.Writer, d *report.Diff, opts Options) error {
	p := &diffPage{page{opts: opts}}
	p.side("before", &d.Before)
	p.side("after", &d.After)
	p.blankLine()
	for _, l := range report.DiffLists(d) {
		for i := range l.Items {
			if i == l.MaxShown && !opts.Verbose {
				p.line(0, fmt.Sprintf("and %d more %s findings: --verbose shows them", len(l.Items)-i, strings.ToLower(l.Word)))
				break
			}
			p.item(l.Word, &l.Items[i])
		}
	}
	p.verdictChanges("UNKNOWN", d.Lost)
	p.verdictChanges("JUDGED", d.Judged)
	p.onlyIn("only in "+d.Before.Name, d.OnlyBefore)
	p.onlyIn("only in "+d.After.Name, d.OnlyAfter)
	if n := len(d.New) + len(d.Changed) + len(d.Fixed) + len(d.Unchanged) + len(d.Lost) + len(d.Judged) + len(d.OnlyBefore) + len(d.OnlyAfter); n > 0 {
		p.blankLine()
	}
	p.line(0, p.verdict(d.Verdict(), report.DiffWord(d)+":"), " ", report.DiffSummary(d))
	_, err := io.WriteString(w, p.String())
	return err
}

type diffPage struct{ page }

func (p *diffPage) side(label string, s *report.DiffSide) {
	p.row(label, fmt.Sprintf("%s: %s in %s, %s, lockstep %s", textfit.Clip(s.Name, 200), textfit.Clip(string(s.Verdict), 20), textfit.Count(s.Scenarios, "scenario"), s.Started.Format("2006-01-02 15:04 UTC"), textfit.Clip(s.Version, 40)))
}

func (p *diffPage) item(word string, i *report.DiffItem) {
	paint := map[string]func(string) string{"NEW": p.red, "CHANGED": p.red, "FIXED": p.green}[word]
	if paint == nil || i.Accepted != "" {
		paint = p.dim
	}
	text := fmt.Sprintf("%s: %s: %s (%s) [%s %s]", textfit.Clip(i.Scenarios[0], 120), textfit.Clip(i.At, 200), textfit.Clip(i.Text, 300), textfit.Clip(i.Target, 60), textfit.Clip(i.Kind, 60), report.Fingerprints(i))
	if i.Accepted != "" {
		text += ", accepted by " + textfit.Clip(i.Accepted, 60)
	}
	p.line(0, paint(word), " ", text)
	if word == "NEW" || word == "CHANGED" {
		for _, v := range report.DiffValues(i) {
			p.line(2, textfit.Pad(v[0], len("reference")), "  ", v[1])
		}
	}
	if len(i.Scenarios) > 1 {
		p.line(2, "also in ", textfit.Count(len(i.Scenarios)-1, "scenario"), ": ", textfit.List(textfit.ClipAll(i.Scenarios[1:], 120), ", "))
	}
}

func (p *diffPage) verdictChanges(word string, turns []report.VerdictChange) {
	const most = 25
	for i, t := range turns {
		if i == most && !p.opts.Verbose {
			p.line(0, fmt.Sprintf("and %s more", textfit.Count(len(turns)-i, "scenario")))
			return
		}
		paint, text := p.green, ""
		if word == "UNKNOWN" {
			paint = p.red
		}
		if t.Reason != "" {
			text = ": " + textfit.Clip(t.Reason, 300)
		}
		p.line(0, paint(word), " ", fmt.Sprintf("%s: was %s, is now %s%s", textfit.Clip(t.Scenario, 120), textfit.Clip(string(t.Before), 20), textfit.Clip(string(t.After), 20), text))
	}
}

func (p *diffPage) onlyIn(label string, turns []report.VerdictChange) {
	if len(turns) == 0 {
		return
	}
	names := make([]string, len(turns))
	for i, t := range turns {
		names[i] = textfit.Clip(t.Scenario, 120)
		if p.opts.Verbose {
			p.line(0, p.dim(textfit.Clip(label, 200)+":"), " ", names[i])
		}
	}
	if !p.opts.Verbose {
		p.line(0, p.dim(textfit.Clip(label, 200)+":"), " ", textfit.Count(len(turns), "scenario"), ": ", textfit.List(names, ", "))
	}
}
