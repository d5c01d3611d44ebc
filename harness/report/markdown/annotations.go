package markdown

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/groups"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// maxAnnotations is how many errors GitHub shows for a step. It silently drops the rest.
const maxAnnotations = 10

// WriteAnnotations writes the causes of a run as workflow commands of GitHub Actions, which appear next to the lines of
// the scenarios in a pull request. Each place of an operation's answers has one annotation, with the number of its
// findings, scenarios and causes. The last annotation counts those that GitHub would drop. root is prefixed to paths of files, to make them relative to the repository: "" or
// "e2e/".
func WriteAnnotations(w io.Writer, doc *report.Document, root string) error {
	v := groups.Of(doc)
	var lines []string
	for _, r := range v.Rows {
		if v.List[r.First].Accepted == "" {
			lines = append(lines, annotation(v, r, root))
		}
	}
	for _, d := range v.Reasons {
		s := v.Scenarios[d.Scenario]
		lines = append(lines, command(root+s.File, s.Line, s.Verdict+": "+s.ID, d.Text))
	}
	if doc.Verdict != verdict.Match && doc.Verdict != verdict.Waived && len(lines) == 0 {
		lines = append(lines, command("", 0, "lockstep: "+string(doc.Verdict), report.Conclusion(doc)))
	}
	if left := len(lines) - maxAnnotations; left > 0 {
		lines = append(lines[:maxAnnotations-1], command("", 0, "lockstep", fmt.Sprintf("%d more causes are in the report", left+1)))
	}
	_, err := io.WriteString(w, strings.Join(lines, ""))
	return err
}

func annotation(v *groups.Groups, r groups.Row, root string) string {
	g := &v.List[r.First]
	s := v.Scenarios[g.Scenario]
	text := cmp.Or(g.Operation, g.StepText) + ", " + g.Place + ": " + g.Says + r.Extent()
	if g.Left != "" || g.Right != "" {
		labels := report.Labels(g.Class)
		text += "\n" + labels[0] + ": " + textfit.Clip(g.Left, 300) + "\n" + labels[1] + ": " + textfit.Clip(g.Right, 300)
	}
	text += "\nblame: " + g.Blame
	if others := r.Others(); others != "" {
		text += "\n" + others
	}
	return command(root+s.File, g.Line, s.ID+": "+g.Kind, text)
}

// command formats an error as GitHub reads it from a log.
func command(file string, line int, title, text string) string {
	var where []string
	if file != "" {
		where = append(where, "file="+attribute.Replace(textfit.Visible(file)))
		if line > 0 {
			where = append(where, fmt.Sprintf("line=%d", line))
		}
	}
	where = append(where, "title="+attribute.Replace(textfit.Clip(title, 200)))
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = message.Replace(textfit.Visible(line))
	}
	return "::error " + strings.Join(where, ",") + "::" + strings.Join(lines, "%0A") + "\n"
}

// These escape what a command must not contain.
var (
	message   = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	attribute = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
