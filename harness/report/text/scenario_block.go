package text

import (
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/cause"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// block writes everything about a scenario.
func (r *runPage) block(b *cause.Block) {
	p := &blockPage{r, b.Scenario, map[verdict.RemarkKey]bool{}}
	again := report.Steadiness(b.Scenario)
	if again != "" {
		again = "  " + again
	}
	p.run.line(0, p.run.verdict(b.Verdict, verdictWord(b.Verdict)), " ", textfit.Clip(b.ID, 120), "  ", p.run.dim(textfit.FileLine(b.File, b.Line)), again)
	if why := strings.Join(strings.Fields(b.Why), " "); why != "" {
		p.run.line(2, p.run.dim(textfit.Clip(why, 160)))
	}
	var shown *report.Source
	for i, c := range b.Causes {
		if i == 0 || c.Step != b.Causes[i-1].Step {
			p.step(stepOf(&c.Finding), c.Line, c.StepText)
			shown = nil
		}
		if at := sourceOf(p.run.doc, b.Scenario, c); at != nil && (shown == nil || *at != *shown) {
			p.source(at)
			shown = at
		}
		p.cause(c)
	}
	p.names()
	if b.Hidden > 0 {
		p.run.line(2, "and ", strconv.Itoa(b.Hidden), " more in report.json")
	}
	for _, d := range b.SharedReasons {
		p.reason(d)
	}
	p.shownAbove(b.ShownAbove)
}

// shownAbove names what earlier scenarios show.
func (p *blockPage) shownAbove(all []cause.Reference) {
	for i, above := range all {
		if i == cause.MaxCauses && !p.run.opts.Verbose {
			p.run.line(2, p.run.dim("and "+strconv.Itoa(len(all)-i)+" more that are shown above"))
			return
		}
		var text string
		if above.Reason != nil {
			text = textfit.Clip(above.Reason.Text, 300)
		} else {
			text = what(above.Cause) + " [" + code(above.Cause) + "]"
		}
		p.run.line(2, p.run.dim("and, shown above under "+textfit.Clip(above.Scenario, 120)+": "+text))
	}
}

// verdictWord is a verdict as a headline shows it, which is easy to search for in a log.
func verdictWord(v verdict.Verdict) string { return strings.ToUpper(textfit.Clip(string(v), 20)) }

// step writes the step that the next lines are about.
func (p *blockPage) step(id string, line int, text string) {
	if line <= 0 {
		line = p.s.Line
	}
	what := ""
	if id != "" {
		what = "  step " + textfit.Clip(id, 40)
	}
	switch {
	case text != "" && what == "":
		what = "  " + textfit.Clip(text, 120)
	case text != "":
		what += ": " + textfit.Clip(text, 120)
	}
	p.run.line(2, p.run.dim(textfit.FileLine(p.s.File, line)), what)
}

// stepOf returns the id of a finding's step. It is "" for a rule of a stub, because its text has the name.
func stepOf(f *verdict.Finding) string {
	if f.Upstream != "" {
		return ""
	}
	return f.Step
}

// reason writes why something could not be judged: below its step, or in front of the steps when it is about all of
// them.
func (p *blockPage) reason(d *cause.SharedReason) {
	indent := 2
	if d.Step != "" {
		p.step(d.Step, d.Line, "")
		indent = 4
	}
	who := ""
	if d.Target != "" {
		who = textfit.Clip(d.Target, 40) + ": "
	}
	p.run.line(indent, who, textfit.Clip(d.Text, 300))
	title := "last lines of its output"
	if d.Target == "" {
		title = "where it failed" // a stack of lockstep itself
	}
	p.log(indent+2, title, d.Log)
	if len(d.Also) > 0 {
		p.run.line(indent+2, "also in ", textfit.Count(len(d.Also), "scenario"), ": ", textfit.List(textfit.ClipAll(d.Also, 120), ", "))
	}
}

// log writes the last lines of a target. The error is usually at the end, or above a stack trace. So the beginning and
// the end of a long log are shown.
func (p *blockPage) log(indent int, title string, lines []string) {
	const first, last = 3, 22
	if len(lines) == 0 {
		return
	}
	p.run.line(indent, p.run.dim(title))
	cut := len(lines) - first - last
	for i, line := range lines {
		switch {
		case cut < 2 || i < first || i >= first+cut: // a note about one cut line would need a line as well
			p.run.line(indent+2, p.run.dim("| "), textfit.Clip(strings.ReplaceAll(line, "\t", "    "), 160))
		case i == first:
			p.run.line(indent+2, p.run.dim("… "+textfit.Count(cut, "line")+" cut"))
		}
	}
}

// Scenario returns what the terminal shows for a single scenario.
func Scenario(doc *report.Document, s *verdict.Scenario) string {
	p := &runPage{doc: doc}
	p.blankLine()
	for _, b := range cause.NewLayout([]verdict.Scenario{*s}, false).Blocks {
		p.block(b)
	}
	return p.String()
}
