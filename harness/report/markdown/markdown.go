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
	"github.com/lockstep-dev/lockstep/harness/report/internal/summary"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
)

// DefaultBudget is how many bytes a summary has at most unless another number is given. GitHub takes 1 MiB a step, and
// shows no more than that of all steps of a job.
const DefaultBudget = 256 << 10

// Write writes a run as a summary for a pull request or a job: the verdict, the counts, and the causes, worst first, in
// at most so many bytes. What does not fit is counted. Nothing that a server said is markup, a link or a mention in it.
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

func moreLine(n int) string { return fmt.Sprintf("\n**+%d more** in report.html\n", n) }

// markdown is a summary under way.
type markdown struct {
	strings.Builder
	doc *report.Document
}

func (m *markdown) head() {
	d, t := m.doc, &m.doc.Totals
	fmt.Fprintf(m, "## %s lockstep: %s\n\n%s\n\n", summary.Signs[d.Verdict], mdText(string(d.Verdict), 20), mdText(summary.Conclusion(d), 1000))
	m.WriteString("| match | differ | unknown | waived | not applicable | compared | contract |\n| ---: | ---: | ---: | ---: | ---: | --- | --- |\n")
	fmt.Fprintf(m, "| %d | %d | %d | %d | %d | %s, %s | %s |\n", t.Match, t.Differ, t.Unknown, t.Waived, t.NotApplicable,
		textfit.Count(t.Compared.Exchanges, "exchange"), textfit.Count(t.Compared.Events, "event"), mdText(d.Coverage.Totals().String(), 300))
	if text := summary.Repeated(d.Scenarios); text != "" {
		fmt.Fprintf(m, "\nrepeated: %s\n", mdText(text, 1000))
	}
	if text := summary.NotCompared(&t.Compared, d.Coverage.Uncompared); text != "" {
		fmt.Fprintf(m, "\nnot compared: %s\n", mdText(text, 1000))
	}
	for _, text := range summary.OwnersUnchecked(d) {
		fmt.Fprintf(m, "\nport owner: %s\n", mdText(text, 300))
	}
	if text := summary.MachineLoad(d); text != "" {
		fmt.Fprintf(m, "\nmachine: %s\n", mdText(text, 600))
	}
	if c := d.Changes; c != nil {
		fmt.Fprintf(m, "\nsince %s: %d new, %d changed, %d fixed, %d as before", mdText(c.Against, 120), len(c.New), len(c.Changed), len(c.Fixed), c.Unchanged)
		if c.Unjudged > 0 {
			fmt.Fprintf(m, ", %d in scenarios that were not judged then", c.Unjudged)
		}
		fmt.Fprintln(m)
	}
}

// entries are the causes and doubts, a paragraph each, worst first.
func (m *markdown) entries() []string {
	var out []string
	v := groups.Of(m.doc)
	for i := range v.List {
		if v.List[i].Accepted == "" {
			out = append(out, m.entry(v, &v.List[i]))
		}
	}
	for _, d := range v.Reasons {
		s := v.Scenarios[d.Scenario] // which may differ all the same
		out = append(out, fmt.Sprintf("\n- **%s** %s: %s\n", s.Verdict, mdCode(s.ID, 200), mdText(d.Target+" "+d.Text, 600)))
	}
	if left := v.Omitted; left > 0 {
		out = append(out, fmt.Sprintf("\n- and %d causes more\n", left))
	}
	return out
}

func (m *markdown) entry(v *groups.Groups, g *groups.Group) string {
	var b strings.Builder
	s := v.Scenarios[g.Scenario]
	fresh := ""
	if g.New {
		fresh = "**new** "
	}
	fmt.Fprintf(&b, "\n- %s%s %s, %s: %s (%s", fresh, mdCode(s.ID+":"+strconv.Itoa(g.Line), 240), mdText(cmp.Or(g.Operation, g.StepText), 120), mdText(g.Place, 200), mdText(g.Says, 300), mdText(g.Kind, 60))
	if g.Count > 1 {
		fmt.Fprintf(&b, ", %d times", g.Count)
	}
	fmt.Fprintf(&b, ", blame: %s)\n", mdText(g.Blame, 40))
	for _, v := range summary.LabelledValues(g.Class, g.Left, g.Right) {
		fmt.Fprintf(&b, "  - %s: %s\n", v[0], mdCode(v[1], 400))
	}
	for i, w := range g.Remarks {
		if i == 2 {
			break
		}
		line := ""
		if w.Line > 0 {
			line = " at " + mdCode(textfit.FileLine(m.doc.Contract, w.Line), 200)
		}
		fmt.Fprintf(&b, "  - %s breaks the contract%s: %s\n", mdText(w.Target, 60), line, mdText(w.Text, 300))
	}
	return b.String()
}

// tail is what comes below the causes.
func (m *markdown) tail() string {
	d := m.doc
	var names []string
	for i, name := range summary.TargetNames(d) {
		names = append(names, summary.Role(d, i)+" "+name)
	}
	return fmt.Sprintf("\n%s · seed %d · %s\n", mdText(strings.Join(names, ", "), 300), d.Seed, textfit.Seconds(d.Millis))
}

// mdText returns a text that says itself in Markdown: no character of it is markup, HTML, a link, a mention or the number
// of an issue.
func mdText(s string, columns int) string {
	var b strings.Builder
	var before rune
	for _, r := range textfit.Clip(s, columns) {
		switch {
		case strings.ContainsRune("\\`*_{}[]()!|~^$", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case strings.ContainsRune("<>&@#:", r), r == '.' && before|0x20 == 'w': // of HTML, and of what becomes a link by itself: www.
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

// mdCode returns a text as a code span, which nothing in it can end (CommonMark 6.1). A table would end at a bar.
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
