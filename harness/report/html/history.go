package html

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"html"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/cause"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A candidate is a target of a history, with the latest run that has it. The only target of a run is a candidate, too.
type candidate struct {
	name      string
	run       *report.Document
	scenarios map[string]map[string]bool // ids of the scenarios with findings about it, by operation
	differ    map[string]bool            // all of them
}

// candidates returns the candidates of the runs, by name.
func candidates(points []report.TrendPoint) []*candidate {
	latest := map[string]*candidate{}
	for i := range points {
		run := points[i].Run
		for k, t := range run.Totals.Targets {
			if k > 0 || run.Alone {
				latest[t.Name] = &candidate{name: t.Name, run: run}
			}
		}
	}
	var out []*candidate
	for _, c := range latest {
		c.count()
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *candidate) int { return cmp.Compare(a.name, b.name) })
	return out
}

// count finds the scenarios with findings about the candidate that nothing accepts.
func (c *candidate) count() {
	c.scenarios, c.differ = map[string]map[string]bool{}, map[string]bool{}
	for i := range c.run.Scenarios {
		s := &c.run.Scenarios[i]
		for k := range s.Findings {
			f := &s.Findings[k]
			if f.Target != c.name || f.Accepted() {
				continue
			}
			of := c.scenarios[f.Operation]
			if of == nil {
				of = map[string]bool{}
				c.scenarios[f.Operation] = of
			}
			of[s.ID], c.differ[s.ID] = true, true
		}
	}
}

func (c *candidate) writeBadge(w io.Writer) error {
	name := html.EscapeString(textfit.Clip(c.name, 30))
	switch {
	case len(c.differ) > 0:
		return writeBadge(w, fmt.Sprintf("%s: %d differ", name, len(c.differ)), red)
	case c.run.Verdict == verdict.Match || c.run.Verdict == verdict.Waived:
		return writeBadge(w, fmt.Sprintf("%s: %d match", name, c.run.Totals.Match), green)
	default:
		return writeBadge(w, name+": unknown", yellow)
	}
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// badgeName returns the name of a candidate's badge. A name that had to be changed has a number, so that two candidates
// never share a badge.
func badgeName(candidate string) string {
	name := notInNames.ReplaceAllString(candidate, "-")
	if name != candidate {
		name += fmt.Sprintf("-%08x", crc32.ChecksumIEEE([]byte(candidate)))
	}
	return "badge-" + name + ".svg"
}

// unsure reports whether something of the candidate's latest run could not be judged.
func (c *candidate) unsure() bool {
	return c.run.Totals.Unknown > 0 || c.run.Incomplete != "" || c.run.Verdict == verdict.Unknown
}

// matrix writes a table with a row for each operation and a column for each candidate.
func (p *trendPage) matrix() {
	all := candidates(p.points)
	var operations []string
	reached := map[*candidate]map[string]bool{}
	for _, c := range all {
		reached[c] = map[string]bool{}
		for i := range c.run.Coverage.Operations {
			op := &c.run.Coverage.Operations[i]
			name := op.String()
			operations = append(operations, name)
			reached[c][name] = op.Reached > 0
		}
		for name := range c.scenarios {
			operations = append(operations, name)
			reached[c][name] = true
		}
	}
	slices.Sort(operations)
	operations = slices.Compact(operations)
	if len(operations) == 0 {
		return
	}
	p.WriteString("<h2>Candidates and operations</h2>\n<p class=\"soft\">The number of scenarios in which the candidate's latest run has findings; – is not reached, ? is unknown, because something in the run could not be judged.</p>\n<table tabindex=\"0\">\n<thead><tr><th scope=\"col\">operation</th>")
	for _, c := range all {
		fmt.Fprintf(p, "<th scope=\"col\"><a href=\"%s\">%s</a></th>", badgeName(c.name), plainText(c.name, 60))
	}
	p.WriteString("</tr></thead>\n<tbody>\n")
	for _, name := range operations {
		fmt.Fprintf(p, "<tr><td><code>%s</code></td>", plainText(cmp.Or(name, "no operation of the contract"), 200))
		for _, c := range all {
			switch n := len(c.scenarios[name]); {
			case n > 0:
				fmt.Fprintf(p, "<td class=\"red\">%d</td>", n)
			case c.unsure():
				p.WriteString("<td>?</td>")
			case reached[c][name]:
				p.WriteString("<td class=\"green\">0</td>")
			default:
				p.WriteString("<td>–</td>")
			}
		}
		p.WriteString("</tr>\n")
	}
	p.WriteString("</tbody>\n</table>\n")
}

// A past is what was found at one place of an operation's answers in each run.
type past struct {
	operation, place, targets string
	about                     []string        // names of the targets
	scenarios                 []int           // for each run
	first, last               int             // runs
	in                        map[string]bool // the scenarios of the last one
}

// state says whether it is still there. It is fixed if a later run judged the same scenarios with the same targets.
func (f *past) state(points []report.TrendPoint) string {
	if f.last == len(points)-1 {
		return "in " + textfit.Count(f.scenarios[f.last], "scenario")
	}
	for _, p := range points[f.last+1:] {
		judged := 0
		for i := range p.Run.Scenarios {
			s := &p.Run.Scenarios[i]
			if f.in[s.ID] && s.Verdict != verdict.Unknown && s.Verdict != verdict.NotApplicable {
				judged++
			}
		}
		if judged == len(f.in) && !slices.ContainsFunc(f.about, func(name string) bool { return !slices.Contains(report.TargetNames(p.Run), name) }) {
			return "fixed"
		}
	}
	return "not judged since"
}

// maxPasts limits the table of findings.
const maxPasts = 200

// findings writes when each finding was seen: those of the last run first.
func (p *trendPage) findings() {
	all := p.pasts()
	if len(all) == 0 {
		return
	}
	p.WriteString("<h2>Findings over time</h2>\n<table tabindex=\"0\">\n<thead><tr><th scope=\"col\">finding</th><th scope=\"col\">candidate</th><th scope=\"col\">state</th><th scope=\"col\">first seen</th><th scope=\"col\">last seen</th><th scope=\"col\">scenarios, run by run</th></tr></thead>\n<tbody>\n")
	for _, f := range all[:min(len(all), maxPasts)] {
		fmt.Fprintf(p, "<tr><td><code>%s</code> %s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
			plainText(f.operation, 160), plainText(f.place, 200), plainText(f.targets, 120), f.state(p.points), day(p.points[f.first]), day(p.points[f.last]), bars(f.scenarios))
	}
	p.WriteString("</tbody>\n</table>\n")
	if n := len(all) - maxPasts; n > 0 {
		fmt.Fprintf(p, "<p class=\"soft\">and %d more</p>\n", n)
	}
}

func (p *trendPage) pasts() []*past {
	type key struct{ operation, place, targets string }
	found := map[key]*past{}
	var all []*past
	for i := range p.points {
		run := p.points[i].Run
		for _, r := range cause.Rows(cause.NewLayout(run.Scenarios, true), func(*verdict.Finding) bool { return false }) {
			c := r.Causes[0]
			if c.Accepted() {
				continue
			}
			k := key{r.Operation, r.Place, strings.Join(c.Targets, ", ")}
			f := found[k]
			if f == nil {
				f = &past{operation: k.operation, place: k.place, targets: k.targets, about: c.Targets, scenarios: make([]int, len(p.points)), first: i}
				found[k], all = f, append(all, f)
			}
			if f.scenarios[i] == 0 {
				f.in = map[string]bool{}
			}
			for id := range r.In {
				f.in[id] = true
			}
			f.scenarios[i], f.last = len(f.in), i
		}
	}
	slices.SortStableFunc(all, func(a, b *past) int {
		return cmp.Or(cmp.Compare(b.last, a.last), cmp.Compare(b.scenarios[b.last], a.scenarios[a.last]), cmp.Compare(b.first, a.first))
	})
	return all
}

// bars draws numbers as a row of bars.
func bars(numbers []int) string {
	const most, width, height = 60, 4, 18 // the latest numbers
	numbers = numbers[max(0, len(numbers)-most):]
	highest := max(1, slices.Max(numbers))
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="bars" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="%s">`, len(numbers)*width, height, strings.Trim(fmt.Sprint(numbers), "[]"))
	for i, n := range numbers {
		h := 1.0
		class := "match"
		if n > 0 {
			h, class = max(3, float64(n)/float64(highest)*height), "differ"
		}
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%.1f" width="%d" height="%.1f"/>`, class, i*width, height-h, width-1, h)
	}
	return b.String() + "</svg>"
}
