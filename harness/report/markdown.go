package report

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// MarkdownBudget is how many bytes a summary has at most unless another number is given. GitHub takes 1 MiB a step, and
// shows no more than that of all steps of a job.
const MarkdownBudget = 256 << 10

// Markdown writes a run as a summary for a pull request or a job: the verdict, the counts, and the causes, worst first, in
// at most so many bytes. What does not fit is counted. Nothing that a server said is markup, a link or a mention in it.
func Markdown(w io.Writer, doc *Document, budget int) error {
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
	doc *Document
}

var signs = map[verdict.Verdict]string{verdict.Match: "✅", verdict.Waived: "✅", verdict.Differ: "❌", verdict.Unknown: "❔"}

func (m *markdown) head() {
	d, t := m.doc, &m.doc.Totals
	fmt.Fprintf(m, "## %s lockstep: %s\n\n%s\n\n", signs[d.Verdict], mdText(string(d.Verdict), 20), mdText(conclusion(d), 1000))
	m.WriteString("| match | differ | unknown | waived | not applicable | compared | contract |\n| ---: | ---: | ---: | ---: | ---: | --- | --- |\n")
	fmt.Fprintf(m, "| %d | %d | %d | %d | %d | %s, %s | %s |\n", t.Match, t.Differ, t.Unknown, t.Waived, t.NotApplicable,
		count(t.Compared.Exchanges, "exchange"), count(t.Compared.Events, "event"), mdText(d.Coverage.Totals().String(), 300))
	if text := repeated(d.Scenarios); text != "" {
		fmt.Fprintf(m, "\nrepeated: %s\n", mdText(text, 1000))
	}
	if text := notCompared(&t.Compared, d.Coverage.Uncompared); text != "" {
		fmt.Fprintf(m, "\nnot compared: %s\n", mdText(text, 1000))
	}
	for _, text := range ownersUnchecked(d) {
		fmt.Fprintf(m, "\nport owner: %s\n", mdText(text, 300))
	}
	if text := busy(d); text != "" {
		fmt.Fprintf(m, "\nmachine: %s\n", mdText(text, 600))
	}
	if c := d.Changes; c != nil {
		fmt.Fprintf(m, "\nsince %s: %d new, %d changed, %d fixed, %d as before", mdText(c.Against, 120), len(c.New), len(c.Changed), len(c.Fixed), c.Unchanged)
		if c.Apart > 0 {
			fmt.Fprintf(m, ", %d in scenarios that were not judged then", c.Apart)
		}
		fmt.Fprintln(m)
	}
}

// entries are the causes and doubts, a paragraph each, worst first.
func (m *markdown) entries() []string {
	var out []string
	v := &view{Evidence: map[int]*Evidence{}}
	v.groups(m.doc, v.scenarios(m.doc))
	for i := range v.Groups {
		if v.Groups[i].Accepted == "" {
			out = append(out, m.entry(v, &v.Groups[i]))
		}
	}
	for _, d := range v.Doubts {
		s := v.Scenarios[d.Scenario] // which may differ all the same
		out = append(out, fmt.Sprintf("\n- **%s** %s: %s\n", s.Verdict, mdCode(s.ID, 200), mdText(d.Target+" "+d.Text, 600)))
	}
	if left := v.Left; left > 0 {
		out = append(out, fmt.Sprintf("\n- and %d causes more\n", left))
	}
	return out
}

func (m *markdown) entry(v *view, g *group) string {
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
	names := [2]string{"want", "got"}
	if g.Class == string(verdict.Difference) {
		names = [2]string{"reference", "candidate"}
	}
	left, right := facing(g.Left, g.Right)
	for i, value := range []string{left, right} {
		if value != "" {
			fmt.Fprintf(&b, "  - %s: %s\n", names[i], mdCode(value, 400))
		}
	}
	for i, w := range g.Words {
		if i == 2 {
			break
		}
		line := ""
		if w.Line > 0 {
			line = " at " + mdCode(at(m.doc.Contract, w.Line), 200)
		}
		fmt.Fprintf(&b, "  - %s breaks the contract%s: %s\n", mdText(w.Target, 60), line, mdText(w.Text, 300))
	}
	return b.String()
}

// facing leaves out of two values what they begin with alike, but for a few characters.
func facing(a, b string) (string, string) {
	const most, kept = 400, 40
	if len(a) <= most && len(b) <= most {
		return a, b
	}
	from := 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		from++
	}
	if from -= kept; from <= 0 || from >= min(len(a), len(b))-kept && a == b {
		return a, b
	}
	for from > 0 && (!utf8.RuneStart(a[from]) || !utf8.RuneStart(b[from])) {
		from--
	}
	return "…" + a[from:], "…" + b[from:]
}

// tail is what stands below the causes.
func (m *markdown) tail() string {
	d := m.doc
	var names []string
	for i, name := range targetNames(d) {
		names = append(names, d.role(i)+" "+name)
	}
	return fmt.Sprintf("\n%s · seed %d · %s\n", mdText(strings.Join(names, ", "), 300), d.Seed, seconds(d.Millis))
}

// mdText returns a text that says itself in Markdown: no character of it is markup, HTML, a link, a mention or the number
// of an issue.
func mdText(s string, columns int) string {
	var b strings.Builder
	var before rune
	for _, r := range clip(s, columns) {
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
	text := clip(s, columns)
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
