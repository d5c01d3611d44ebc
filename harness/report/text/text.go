// Package text shows a judged run on a terminal.
package text

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/cause"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Write writes a run for a terminal: a line that says what ran, a block for each scenario that does not match, the
// counts, and the verdict in words as the last line. Lines end in \n. The only other bytes below 0x20 are those of
// colours, with Options.Color.
//
// The text is short when everything matches. Otherwise a cause takes at most 25 lines, a scenario shows at most five
// causes, and the rest is counted. With Options.Verbose, only the middle of long values is left out.
func Write(w io.Writer, doc *report.Document, opts Options) error {
	p := &runPage{page: page{opts: opts}, doc: doc}
	p.headline()
	p.blankLine()
	p.body(cause.NewLayout(doc.Scenarios, opts.Verbose))
	p.waivers()
	p.baseline()
	(&coveragePage{p}).gate()
	p.counts()
	(&coveragePage{p}).totals()
	writeCauses(p)
	if command := rerun(doc); command != "" {
		p.row("rerun", command)
	}
	if opts.Page != "" && doc.Verdict.Red() {
		p.row("page", textfit.Clip(opts.Page, 400))
	}
	p.line(0, p.verdict(doc.Verdict, textfit.Clip(string(doc.Verdict), 20)+":"), " ", report.Conclusion(doc))
	_, err := io.WriteString(w, p.String())
	return err
}

// WriteProgress writes a line for a judged scenario, such as "DIFFER client-tools/register (3/72)". Without Verbose, it
// writes nothing for scenarios that match or whose findings are accepted.
func WriteProgress(w io.Writer, opts Options, done, of int, s *verdict.Scenario) {
	if (s.Verdict == verdict.Match || s.Verdict == verdict.Waived) && !opts.Verbose {
		return
	}
	p := &page{opts: opts}
	p.line(0, p.verdict(s.Verdict, verdictWord(s.Verdict)), " ", textfit.Clip(s.ID, 200), " ", p.dim(fmt.Sprintf("(%d/%d)", done, of)))
	_, _ = io.WriteString(w, p.String()) // the report repeats it
}

// headline says what ran.
func (p *runPage) headline() {
	d := p.doc
	parts := []string{"lockstep " + textfit.Clip(d.Version, 40), cmp.Or(textfit.Clip(d.Contract, 120), "no contract")}
	var targets []string
	for i, t := range d.Totals.Targets {
		name := textfit.Clip(t.Name, 60)
		if i == 0 && !d.Alone {
			name += " (reference)"
		}
		targets = append(targets, name)
	}
	if len(targets) > 0 {
		parts = append(parts, strings.Join(targets, ", "))
	}
	p.line(0, strings.Join(append(parts, "seed "+strconv.FormatUint(d.Seed, 10)), " · "))
}

// maxOneLiners limits how many scenarios without a block have a line.
const maxOneLiners = 50

// body writes the scenarios that do not match.
func (p *runPage) body(plan *cause.Layout) {
	for _, b := range plan.Blocks {
		p.block(b)
		p.blankLine()
	}
	for i, s := range plan.OneLiners {
		if i == maxOneLiners {
			p.line(0, "and ", textfit.Count(len(plan.OneLiners)-maxOneLiners, "scenario"), " more in report.json")
			break
		}
		p.line(0, p.verdict(s.Verdict, verdictWord(s.Verdict)), " ", textfit.Clip(s.ID, 120), "  ", p.dim(textfit.FileLine(s.File, s.Line)), "  ", report.WhyNotMatch(s))
	}
	if len(plan.OneLiners) > 0 {
		p.blankLine()
	}
}

// row writes a line of the summary.
func (p *page) row(label, text string) {
	width := len("not compared")
	if label == "" {
		p.hangingLine(width+2, width+2, text)
		return
	}
	p.hangingLine(0, width+2, p.dim(textfit.Pad(label, width)), "  ", text)
}

// counts writes what was done and found.
func (p *runPage) counts() {
	d, t := p.doc, &p.doc.Totals
	p.row("scenarios", fmt.Sprintf("%d match, %d waived, %d differ, %d unknown, %d not applicable", t.Match, t.Waived, t.Differ, t.Unknown, t.NotApplicable)+
		p.dim(fmt.Sprintf(" · %s, %s", textfit.Seconds(d.Millis), textfit.Count(d.Jobs, "job"))))
	if text := report.Repeated(d.Scenarios); text != "" {
		p.row("repeated", text)
	}
	if s := d.Shard; s != nil {
		p.row("shard", fmt.Sprintf("%d of %d, out of %s: lockstep merge judges the whole run", s.Index, s.Of, textfit.Count(s.Selected, "scenario")))
	}
	for i, target := range t.Targets {
		p.row(report.Role(d, i), textfit.Clip(target.Name, 60)+": "+report.TargetSummary(target))
	}
	if text := report.Credentials(d); text != "" {
		p.row("credentials", p.yellow(text))
	}
	if d.Alone {
		p.row("compared", "nothing: there was only one target")
	} else {
		p.row("compared", report.Compared(&t.Compared))
	}
	if text := report.NotCompared(&t.Compared, d.Coverage.Uncompared); text != "" {
		p.row("not compared", text)
	}
	if text := report.NotRun(d.Scenarios); text != "" {
		p.row("not run", text)
	}
	p.row("findings", textfit.Count(t.Differences, "difference")+", "+textfit.Count(t.Violations, "violation")+", "+textfit.Count(t.Unmet, "shortfall")+acceptedShare(t.Accepted))
	if text := d.Blame.String(); text != "" {
		p.row("blame", text)
	}
	p.accepted()
	p.unused()
	for _, text := range report.OwnersUnchecked(d) {
		p.row("port owner", text)
	}
	if text := report.MachineLoad(d); text != "" {
		p.row("machine", p.yellow(text))
	}
}

// maxCauses limits how many causes are named at the end.
const maxCauses = 5

// writeCauses repeats the first causes in a line each, as the page lists them. It writes nothing if there is only one.
func writeCauses(p *runPage) {
	if !p.doc.Verdict.Red() {
		return
	}
	rows := cause.Rows(cause.NewLayout(p.doc.Scenarios, true), p.doc.Changes.NewFindings())
	rows = slices.DeleteFunc(rows, func(r *cause.Row) bool { return r.Causes[0].Accepted() })
	if len(rows) < 2 {
		return
	}
	label := "causes"
	for i, r := range rows {
		if i == maxCauses {
			p.row("", fmt.Sprintf("and %d more in report.html", len(rows)-maxCauses))
			return
		}
		c := r.Causes[0]
		left, right := c.Values()
		change := textfit.Clip(c.Text, 120)
		if left != "" || right != "" {
			const kept, most = 20, 60
			if at := firstDifference(left, right); at > most-kept && at < max(len(left), len(right)) {
				from := at - kept
				for from > 0 && !utf8.RuneStart(left[from]) {
					from--
				}
				left, right = "…"+left[from:], "…"+right[from:]
			}
			change = textfit.Clip(cmp.Or(left, "—"), most) + " → " + textfit.Clip(cmp.Or(right, "—"), most)
		}
		p.row(label, fmt.Sprintf("%s: %s, %s: %s", textfit.Count(len(r.In), "scenario"), textfit.Clip(cmp.Or(c.Operation, c.StepText), 120), textfit.Clip(c.Place, 120), change))
		label = ""
	}
}

// maxRerun limits how many scenarios the command of rerun names.
const maxRerun = 20

// rerun returns the command that runs only the red scenarios again; "" if there are none, or too many.
func rerun(doc *report.Document) string {
	var red []string
	for i := range doc.Scenarios {
		if s := &doc.Scenarios[i]; s.Verdict.Red() {
			red = append(red, s.ID)
		}
	}
	if len(red) == 0 || len(red) > maxRerun {
		return ""
	}
	return doc.Rerun(red)
}

// unused names the rules that never applied.
func (p *runPage) unused() {
	var rules []string
	for _, r := range p.doc.Unused {
		rules = append(rules, fmt.Sprintf("%s (%s)", textfit.Clip(r.Rule, 80), textfit.FileLine(r.File, r.Line)))
	}
	if len(rules) > 0 {
		p.line(0, p.dim("rules that never applied:"), " ", textfit.List(rules, ", "))
	}
}
