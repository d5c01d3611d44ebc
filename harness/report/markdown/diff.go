package markdown

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
)

// WriteDiff writes a comparison of two runs as a summary for a pull request. What a server sent is never markup.
func WriteDiff(w io.Writer, d *report.Diff) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s lockstep: %s\n\n%s\n\n", report.Signs[d.Verdict()], report.DiffWord(d), mdText(report.DiffSummary(d), 1000))
	b.WriteString("| | run | verdict | scenarios |\n| --- | --- | --- | ---: |\n")
	for _, s := range []struct {
		label string
		side  *report.DiffSide
	}{{"before", &d.Before}, {"after", &d.After}} {
		fmt.Fprintf(&b, "| %s | %s, %s | %s | %d |\n", s.label, mdText(s.side.Name, 200), mdText(s.side.Started.Format("2006-01-02 15:04 UTC"), 40), mdText(string(s.side.Verdict), 20), s.side.Scenarios)
	}
	for _, l := range report.DiffLists(d) {
		for i := range l.Items {
			if i == l.MaxShown {
				fmt.Fprintf(&b, "\n**+%d more %s**\n", len(l.Items)-i, strings.ToLower(l.Word))
				break
			}
			writeDiffItem(&b, l.Word, &l.Items[i])
		}
	}
	for _, t := range d.Lost {
		fmt.Fprintf(&b, "\n- **unknown** %s: was %s: %s\n", mdCode(t.Scenario, 200), mdText(string(t.Before), 20), mdText(t.Reason, 300))
	}
	for _, s := range []struct {
		name  string
		turns []report.VerdictChange
	}{{d.Before.Name, d.OnlyBefore}, {d.After.Name, d.OnlyAfter}} {
		if n := len(s.turns); n > 0 {
			fmt.Fprintf(&b, "\nonly in %s: %s\n", mdText(s.name, 200), textfit.Count(n, "scenario"))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeDiffItem(b *strings.Builder, word string, i *report.DiffItem) {
	fmt.Fprintf(b, "\n- **%s** %s %s: %s (%s, %s)", strings.ToLower(word), mdCode(i.Scenarios[0], 200), mdText(i.At, 200), mdText(i.Text, 300), mdText(i.Target, 60), mdText(i.Kind, 60))
	if i.Accepted != "" {
		fmt.Fprintf(b, ", accepted by %s", mdText(i.Accepted, 60))
	}
	if n := len(i.Scenarios) - 1; n > 0 {
		fmt.Fprintf(b, ", and in %s more", textfit.Count(n, "scenario"))
	}
	b.WriteByte('\n')
	if word == "NEW" || word == "CHANGED" {
		for _, v := range report.DiffValues(i) {
			fmt.Fprintf(b, "  - %s: %s\n", v[0], mdCode(v[1], 400))
		}
	}
}
