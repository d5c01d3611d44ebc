package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// How much is shown unless everything is asked for.
const (
	mostCauses = 5  // of one scenario
	mostBlocks = 25 // scenarios with all they have to say
	mostLines  = 50 // further scenarios, with a line each
)

// A block is what a report shows of one scenario.
type block struct {
	*verdict.Scenario
	causes []*cause
	doubts []*doubt
	above  []string // the scenarios under which the rest of it is shown
	hidden int      // findings and reasons that are shown nowhere
}

// A doubt is a reason why something could not be judged, and the other scenarios that have it too.
type doubt struct {
	verdict.Reason
	scenario string
	also     []string
}

type doubtKey struct{ target, step, text string }

// A plan decides what is shown where. What is not shown in full refers to nothing, so that "also in" and "above" are
// always true.
type plan struct {
	everything bool
	causes     index
	confused   confusions
	doubts     map[doubtKey]*doubt
	blocks     []*block
	rest       []*verdict.Scenario // those without a block of their own
}

// newPlan plans the scenarios that are neither match nor not-applicable: first those that differ, then those that are
// unknown, both in the order of their files. Those whose findings are all accepted have a block when everything is asked
// for.
func newPlan(scenarios []verdict.Scenario, everything bool) *plan {
	p := &plan{everything: everything, causes: index{}, confused: confusions{}, doubts: map[doubtKey]*doubt{}}
	shown := []verdict.Verdict{verdict.Differ, verdict.Unknown}
	if everything {
		shown = append(shown, verdict.Waived)
	}
	for _, v := range shown {
		for i := range scenarios {
			if scenarios[i].Verdict == v {
				p.add(&scenarios[i])
			}
		}
	}
	return p
}

func (p *plan) add(s *verdict.Scenario) {
	b := &block{Scenario: s}
	full := len(p.blocks) < mostBlocks || p.everything
	for _, c := range causes(s, p.everything) {
		first := p.causes.again(s, c)
		if first == nil {
			first = p.confused.again(s, c)
		}
		switch {
		case first != nil:
			b.isAbove(first.Scenario)
		case full && (len(b.causes) < mostCauses || p.everything || c.Rest()):
			p.causes.put(c)
			p.confused.put(s, c)
			b.causes = append(b.causes, c)
		default:
			b.hidden += c.total()
		}
	}
	for _, r := range s.Reasons {
		p.doubt(b, r, full)
	}
	switch {
	case len(b.causes)+len(b.doubts) > 0:
		p.blocks = append(p.blocks, b)
	case b.hidden > 0 || len(b.above) == 0:
		p.rest = append(p.rest, s)
	}
}

func (p *plan) doubt(b *block, r verdict.Reason, full bool) {
	key := doubtKey{r.Target, r.Step, r.Text}
	if first := p.doubts[key]; first != nil {
		first.also = append(first.also, b.ID)
		b.isAbove(first.scenario)
		return
	}
	if !full || len(b.doubts) >= mostCauses && !p.everything {
		b.hidden++
		return
	}
	d := &doubt{Reason: r, scenario: b.ID}
	p.doubts[key] = d
	b.doubts = append(b.doubts, d)
}

func (b *block) isAbove(scenario string) {
	if !slices.Contains(b.above, scenario) {
		b.above = append(b.above, scenario)
	}
}

// block writes all there is to say of a scenario.
func (p *page) block(b *block) {
	p.line(0, p.verdict(b.Verdict, word(b.Verdict)), " ", clip(b.ID, 120), "  ", p.dim(at(b.File, b.Line)))
	if why := strings.Join(strings.Fields(b.Why), " "); why != "" {
		p.line(2, p.dim(clip(why, 160)))
	}
	told := map[remark]bool{}
	var shown *Source
	for i, c := range b.causes {
		if i == 0 || c.Step != b.causes[i-1].Step {
			p.step(b.Scenario, stepOf(&c.Finding), c.Line, c.StepText)
			shown = nil
		}
		if at := p.doc.sourceOf(b.Scenario, c); at != nil && (shown == nil || *at != *shown) {
			p.source(at)
			shown = at
		}
		p.cause(b.Scenario, c, told)
	}
	p.names(b.Scenario)
	if b.hidden > 0 {
		p.line(2, "and ", strconv.Itoa(b.hidden), " more in report.json")
	}
	for _, d := range b.doubts {
		p.doubt(b.Scenario, d)
	}
	if len(b.above) > 0 {
		p.line(2, p.dim("and what is shown above under "+list(visibly(b.above), ", ")))
	}
}

// brief says in one line why a scenario does not match.
func brief(s *verdict.Scenario) string {
	findings := open(s)
	text, more := "no reason is given", len(findings)+len(s.Reasons)-1
	switch {
	case len(findings) > 0:
		text = oneLine(findings[0])
	case len(s.Reasons) > 0:
		text = clip(s.Reasons[0].String(), 300)
	}
	if more > 0 {
		text += ", and " + strconv.Itoa(more) + " more"
	}
	return text
}

// word is a verdict as a headline has it. It can be searched for in a log.
func word(v verdict.Verdict) string { return strings.ToUpper(clip(string(v), 20)) }

// at is a place in a file, as terminals and editors make a link of it.
func at(file string, line int) string {
	if line <= 0 {
		return clip(file, 200)
	}
	return clip(file, 200) + ":" + strconv.Itoa(line)
}

// step writes the step that what follows is about.
func (p *page) step(s *verdict.Scenario, id string, line int, text string) {
	if line <= 0 {
		line = s.Line
	}
	what := ""
	if id != "" {
		what = "  step " + clip(id, 40)
	}
	switch {
	case text != "" && what == "":
		what = "  " + clip(text, 120)
	case text != "":
		what += ": " + clip(text, 120)
	}
	p.line(2, p.dim(at(s.File, line)), what)
}

// stepOf is what a finding's step is called beside its text. A rule of a stub has a name in its text.
func stepOf(f *verdict.Finding) string {
	if f.Upstream != "" {
		return ""
	}
	return f.Step
}

// doubt writes why something could not be judged: below its step, or beside the steps when it is about all of them.
func (p *page) doubt(s *verdict.Scenario, d *doubt) {
	indent := 2
	if d.Step != "" {
		p.step(s, d.Step, d.Line, "")
		indent = 4
	}
	who := ""
	if d.Target != "" {
		who = clip(d.Target, 40) + ": "
	}
	p.line(indent, who, clip(d.Text, 300))
	title := "its last lines"
	if d.Target == "" {
		title = "where it failed" // a stack of ours
	}
	p.log(indent+2, title, d.Log)
	if len(d.also) > 0 {
		p.line(indent+2, "also in ", count(len(d.also), "scenario"), ": ", list(visibly(d.also), ", "))
	}
}

// log writes the last lines of a target. What is wrong stands at the end, as a rule, and above a stack trace when it
// does not: of a long log the beginning and the end are shown.
func (p *page) log(indent int, title string, lines []string) {
	const first, last = 3, 22
	if len(lines) == 0 {
		return
	}
	p.line(indent, p.dim(title))
	cut := len(lines) - first - last
	for i, line := range lines {
		switch {
		case cut < 2 || i < first || i >= first+cut: // a line that says that one is cut takes as much room
			p.line(indent+2, p.dim("| "), clip(strings.ReplaceAll(line, "\t", "    "), 160))
		case i == first:
			p.line(indent+2, p.dim("… "+count(cut, "line")+" cut"))
		}
	}
}

func visibly(items []string) []string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = clip(item, 120)
	}
	return out
}
