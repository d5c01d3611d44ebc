package text

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/cause"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// sourceOf returns what a cause is about in its scenario's file; nil without evidence.
func sourceOf(d *report.Document, s *verdict.Scenario, c *cause.Cause) *report.Source {
	if ev := d.Evidence[s.ID]; ev != nil && c.Index < len(ev.Findings) {
		return ev.Findings[c.Index].Source
	}
	return nil
}

// Limits of what is shown of a scenario's line. With its number, the line fits into 80 columns.
const (
	maxSourceColumns  = 68
	columnsBeforeMark = 40 // in a longer line, columns before the key
)

// source writes a line of the scenario and points at the key.
func (p *blockPage) source(at *report.Source) {
	number, before, behind := pointedLine(at.Line, at.Column, at.Text)
	p.run.line(4, p.run.dim(number+" | "), before, behind)
	p.run.line(4, strings.Repeat(" ", len(number)), p.run.dim(" | "), strings.Repeat(" ", textfit.Columns(before)), p.run.red("^"))
}

// pointedLine returns what is shown of a line: its number, and the text before and from a column on.
func pointedLine(line, column int, text string) (number, before, behind string) {
	all := []rune(text) // YAML counts columns in characters
	n := min(max(column-1, 0), len(all))
	before, behind = textfit.Visible(string(all[:n])), string(all[n:])
	if textfit.Columns(before)+textfit.Columns(textfit.Visible(behind)) > maxSourceColumns && textfit.Columns(before) > columnsBeforeMark {
		runes := []rune(before)
		before = "…" + string(runes[max(0, len(runes)-columnsBeforeMark+1):])
	}
	behind, left := textfit.Fit(behind, maxSourceColumns-textfit.Columns(before)-1)
	if left > 0 {
		behind += "…"
	}
	return strconv.Itoa(line), before, behind
}

// mayBeSecret matches lines that are not shown, because a log must not get what they may have.
var mayBeSecret = regexp.MustCompile(`(?i)auth|token|secret|passw|credential|cookie|bearer|api.?key|private.?key|://[^/]*@`)

// WriteProblems writes mistakes of files, each with its line, and a caret under its place. A line that may have a secret is
// left out. read returns a file.
func WriteProblems(w io.Writer, problems problem.Problems, read func(file string) ([]byte, error)) {
	files := map[string][]string{}
	for _, p := range problems {
		head, fix, _ := strings.Cut(p.Error(), "\n\tfix: ")
		fmt.Fprintln(w, head)
		if _, known := files[p.File]; !known {
			data, _ := read(p.File) // without the file, there is no line to show
			files[p.File] = strings.Split(string(data), "\n")
		}
		if lines := files[p.File]; 0 < p.Line && p.Line <= len(lines) && !mayBeSecret.MatchString(lines[p.Line-1]) {
			number, before, behind := pointedLine(p.Line, p.Column, strings.TrimRight(lines[p.Line-1], " \r"))
			fmt.Fprintf(w, "  %s | %s%s\n", number, before, behind)
			if p.Column > 0 {
				fmt.Fprintf(w, "  %s | %s^\n", strings.Repeat(" ", len(number)), strings.Repeat(" ", textfit.Columns(before)))
			}
		}
		if fix != "" {
			fmt.Fprintf(w, "\tfix: %s\n", fix)
		}
	}
}
