package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// mostAnnotations is how many errors GitHub shows of a step; further ones it drops without a word.
const mostAnnotations = 10

// Annotations writes the causes of a run as workflow commands of GitHub Actions, so that they stand beside the lines of
// the scenarios in a pull request: one for each cause, with how many places it has. Those beyond what GitHub shows are
// counted in the last. root is what paths of files are relative to, from the folder of the repository: "" or "e2e/".
func Annotations(w io.Writer, doc *Document, root string) error {
	v := &view{Evidence: map[int]*Evidence{}}
	v.groups(doc, v.scenarios(doc))
	var lines []string
	for i := range v.Groups {
		if g := &v.Groups[i]; g.Accepted == "" {
			lines = append(lines, annotation(v, g, root))
		}
	}
	for _, d := range v.Doubts {
		s := v.Scenarios[d.Scenario]
		lines = append(lines, command(root+s.File, s.Line, s.Verdict+": "+s.ID, d.Text))
	}
	if doc.Verdict != verdict.Match && doc.Verdict != verdict.Waived && len(lines) == 0 {
		lines = append(lines, command("", 0, "lockstep: "+string(doc.Verdict), conclusion(doc)))
	}
	if left := len(lines) - mostAnnotations; left > 0 {
		lines = append(lines[:mostAnnotations-1], command("", 0, "lockstep", fmt.Sprintf("%d causes more are in the report", left+1)))
	}
	_, err := io.WriteString(w, strings.Join(lines, ""))
	return err
}

func annotation(v *view, g *group, root string) string {
	s := v.Scenarios[g.Scenario]
	text := g.Place + ": " + g.Says
	if g.Left != "" || g.Right != "" {
		names := [2]string{"want", "got"}
		if g.Class == string(verdict.Difference) {
			names = [2]string{"reference", "candidate"}
		}
		text += "\n" + names[0] + ": " + clip(g.Left, 300) + "\n" + names[1] + ": " + clip(g.Right, 300)
	}
	text += "\nblame: " + g.Blame
	if others := len(g.Also); others > 0 {
		text += "\nalso at " + count(others, "other place")
	}
	return command(root+s.File, g.Line, s.ID+": "+g.Kind, text)
}

// command is an error as GitHub reads it from a log.
func command(file string, line int, title, text string) string {
	var where []string
	if file != "" {
		where = append(where, "file="+attribute.Replace(visible(file)))
		if line > 0 {
			where = append(where, fmt.Sprintf("line=%d", line))
		}
	}
	where = append(where, "title="+attribute.Replace(clip(title, 200)))
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = message.Replace(visible(line))
	}
	return "::error " + strings.Join(where, ",") + "::" + strings.Join(lines, "%0A") + "\n"
}

// What a value of a command must not have as it is.
var (
	message   = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	attribute = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
