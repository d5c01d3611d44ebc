// Package markdown writes a judged run as a summary for a pull request, and as annotations of GitHub Actions.
package markdown

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/groups"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
)

// DefaultBudget is the maximum size of a summary in bytes, unless another number is given. GitHub accepts 1 MiB per
// step, and shows no more than that for all steps of a job.
const DefaultBudget = 256 << 10

// Write writes a run as a summary for a pull request or a job, in at most budget bytes: the verdict, the counts, and
// the causes, worst first. What does not fit is counted. What a server sent is never markup, a link or a mention.
func Write(w io.Writer, doc *report.Document, budget int) error {
	m := &markdown{doc: doc}
	m.head()
	tail := m.tail()
	entries := m.entries()
	for i, entry := range entries {
		more := ""
		if left := len(entries) - i - 1; left > 0 {
			more = moreLine(left)
		}
		if m.Len()+len(entry)+len(more)+len(tail) > budget {
			m.WriteString(moreLine(len(entries) - i))
			break
		}
		m.WriteString(entry)
	}
	m.WriteString(tail)
	_, err := io.WriteString(w, m.String())
	return err
}

// maxRemarks limits what a cause shows of the contract.
const maxRemarks = 2

func moreLine(n int) string { return fmt.Sprintf("\n**+%d more** in report.html\n", n) }

// A markdown is a summary that is being written.
type markdown struct {
	strings.Builder
	doc *report.Document
}

func (m *markdown) head() {
	d, t := m.doc, &m.doc.Totals
	fmt.Fprintf(m, "## %s lockstep: %s\n\n%s\n\n", report.Signs[d.Verdict], mdText(string(d.Verdict), 20), mdText(report.Conclusion(d), 1000))
	m.WriteString("| match | differ | unknown | waived | not applicable | compared | contract |\n| ---: | ---: | ---: | ---: | ---: | --- | --- |\n")
	fmt.Fprintf(m, "| %d | %d | %d | %d | %d | %s | %s |\n", t.Match, t.Differ, t.Unknown, t.Waived, t.NotApplicable,
		report.Compared(&t.Compared), mdText(contractTotals(d), 300))
	if text := report.Repeated(d.Scenarios); text != "" {
		fmt.Fprintf(m, "\nrepeated: %s\n", mdText(text, 1000))
	}
	if text := report.NotRun(d.Scenarios); text != "" {
		fmt.Fprintf(m, "\nnot run: %s\n", mdText(text, 1000))
	}
	if text := report.NotCompared(&t.Compared, d.Coverage.Uncompared); text != "" {
		fmt.Fprintf(m, "\nnot compared: %s\n", mdText(text, 1000))
	}
	for _, text := range report.OwnersUnchecked(d) {
		fmt.Fprintf(m, "\nport owner: %s\n", mdText(text, 300))
	}
	if text := report.MachineLoad(d); text != "" {
		fmt.Fprintf(m, "\nmachine: %s\n", mdText(text, 600))
	}
	if c := d.Changes; c != nil {
		fmt.Fprintf(m, "\nsince %s: %d new, %d changed, %d fixed, %d unchanged", mdText(c.Against, 120), len(c.New), len(c.Changed), len(c.Fixed), c.Unchanged)
		if c.Unjudged > 0 {
			fmt.Fprintf(m, ", %d in scenarios that were not judged then", c.Unjudged)
		}
		fmt.Fprintln(m)
	}
}

// entries returns one paragraph for each cause and each reason for unknown, worst first.
func (m *markdown) entries() []string {
	var out []string
	v := groups.Of(m.doc)
	for _, r := range v.Rows {
		if v.List[r.First].Accepted == "" {
			out = append(out, m.entry(v, r))
		}
	}
	for _, d := range v.Reasons {
		s := v.Scenarios[d.Scenario] // the scenario may differ as well
		out = append(out, fmt.Sprintf("\n- **%s** %s: %s\n", s.Verdict, mdCode(s.ID, 200), mdText(d.Target+" "+d.Text, 600)))
	}
	if left := v.Omitted; left > 0 {
		out = append(out, fmt.Sprintf("\n- and %d more causes\n", left))
	}
	return out
}

func (m *markdown) entry(v *groups.Groups, r groups.Row) string {
	var b strings.Builder
	g := &v.List[r.First]
	s := v.Scenarios[g.Scenario]
	fresh := ""
	switch r.Fresh {
	case 0:
	case r.Findings:
		fresh = "**new** "
	default:
		fresh = fmt.Sprintf("**%d new** ", r.Fresh)
	}
	fmt.Fprintf(&b, "\n- %s%s %s, %s: %s (%s", fresh, mdCode(s.ID+":"+strconv.Itoa(g.Line), 240), mdText(cmp.Or(g.Operation, g.StepText), 120), mdText(g.Place, 200), mdText(g.Says, 300), mdText(g.Kind, 60))
	fmt.Fprintf(&b, "%s, blame: %s)\n", r.Extent(), mdText(g.Blame, 40))
	for _, v := range report.LabelledValues(g.Class, g.Left, g.Right) {
		fmt.Fprintf(&b, "  - %s: %s\n", v[0], mdCode(v[1], 400))
	}
	for i, w := range g.Remarks {
		if i == maxRemarks {
			fmt.Fprintf(&b, "  - and %d more from the contract\n", len(g.Remarks)-maxRemarks)
			break
		}
		line := ""
		if w.Line > 0 {
			line = " at " + mdCode(textfit.FileLine(m.doc.Contract, w.Line), 200)
		}
		fmt.Fprintf(&b, "  - %s breaks the contract%s: %s\n", mdText(w.Target, 60), line, mdText(w.Text, 300))
	}
	if text := r.Others(); text != "" {
		fmt.Fprintf(&b, "  - %s\n", text)
	}
	return b.String()
}

// tail is what comes below the causes.
func (m *markdown) tail() string {
	d := m.doc
	var names []string
	for i, name := range report.TargetNames(d) {
		names = append(names, report.Role(d, i)+" "+name)
	}
	return fmt.Sprintf("\n%s · seed %d · %s\n", mdText(strings.Join(names, ", "), 300), d.Seed, textfit.Seconds(d.Millis))
}

// mdText returns a text that Markdown shows unchanged: no character becomes markup, HTML, a link, a mention or the
// number of an issue.
func mdText(s string, columns int) string {
	var b strings.Builder
	var before rune
	for _, r := range textfit.Clip(s, columns) {
		switch {
		case strings.ContainsRune("\\`*_{}[]()!|~^$", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case strings.ContainsRune("<>&@#:", r), r == '.' && before|0x20 == 'w': // begins HTML, or makes a link, as www. does
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

// mdCode returns a text as a code span that nothing in the text can end (CommonMark 6.1). A bar would end the cell of a
// table.
func mdCode(s string, columns int) string {
	text := textfit.Clip(s, columns)
	longest, run := 0, 0
	for _, r := range text {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	fence := strings.Repeat("`", longest+1)
	return fence + " " + text + " " + fence
}

func contractTotals(d *report.Document) string {
	if d.Contract == "" {
		return report.NoContract
	}
	return d.Coverage.Totals().String()
}
