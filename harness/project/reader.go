package project

import (
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

type reader struct {
	file     string
	dir      string // folder of the file, to which paths are relative
	problems scenario.Problems
}

func (r *reader) problem(n *yamldoc.Node, what, fix string) {
	r.problems = append(r.problems, scenario.Problem{File: r.file, Line: n.Line, Column: n.Column, What: what, Fix: fix})
}

func (r *reader) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(r.dir, p)
}

// problemOnce reports a mistake in the project's own files, which would otherwise be reported for every target.
func (r *reader) problemOnce(n *yamldoc.Node, what, fix string) {
	for _, p := range r.problems {
		if p.Line == n.Line && p.Column == n.Column && p.What == what {
			return
		}
	}
	r.problem(n, what, fix)
}

// patterns reads the patterns of a target's files.
func (r *reader) patterns(n *yamldoc.Node) []string {
	var out []string
	for _, item := range n.Elements() {
		if _, err := path.Match(strings.ReplaceAll(item.Text, "**", "*"), "x"); err != nil {
			r.problem(item, fmt.Sprintf("%q is not a valid pattern: %v", item.Text, err), "write a path in which * stands for any name and ** for any folders, such as src/**/*.go")
		}
		out = append(out, path.Clean(filepath.ToSlash(item.Text)))
	}
	return out
}

// duration returns a time; 0 when it is not given, and the default applies.
func (r *reader) duration(n *yamldoc.Node) time.Duration {
	if n == nil {
		return 0
	}
	d, err := time.ParseDuration(n.Text)
	if err != nil || d <= 0 { // the schema accepts 0s, and more minutes than fit
		r.problem(n, fmt.Sprintf("%q is not a duration above 0", n.Text), "write a number with a unit, such as 300ms, 2s or 1m")
	}
	return d
}

// integer returns a number; 0 when it is not given, and the default applies.
func (r *reader) integer(n *yamldoc.Node) int {
	if n == nil {
		return 0
	}
	v, err := strconv.Atoi(n.Text)
	if err != nil { // the schema accepts 2e2 and 200.0, and numbers of any size
		r.problem(n, fmt.Sprintf("%s is not a whole number in range", n.Text), "write a smaller number, in digits")
	}
	return v
}
