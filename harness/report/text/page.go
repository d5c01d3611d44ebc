package text

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A page is text for a terminal, built line by line.
type page struct {
	strings.Builder
	opts Options
}

type runPage struct {
	page
	doc *report.Document
}

// A blockPage shows one scenario of a run.
type blockPage struct {
	run     *runPage
	s       *verdict.Scenario
	written map[verdict.RemarkKey]bool // the contract remarks that the block has already
}

// line writes an indented line. The parts must not contain invisible characters.
func (p *page) line(indent int, parts ...string) { p.hangingLine(indent, indent+2, parts...) }

// hangingLine is line with another indentation of the lines that continue a long one.
func (p *page) hangingLine(indent, hanging int, parts ...string) {
	text := strings.Join(parts, "")
	room := p.opts.Width - indent
	if p.opts.Width > 0 && room < len(text) {
		for _, piece := range wrap(text, max(minWrap, room), max(minWrap, p.opts.Width-hanging)) {
			p.WriteString(strings.Repeat(" ", indent) + piece + "\n")
			indent = hanging
		}
		return
	}
	p.WriteString(strings.Repeat(" ", indent) + text + "\n")
}

func (p *page) blankLine() { p.WriteByte('\n') }

// The colours (ECMA-48 §8.3.117).
func (p *page) red(s string) string { return p.colored("31", s) }

func (p *page) green(s string) string { return p.colored("32", s) }

func (p *page) yellow(s string) string { return p.colored("33", s) }

func (p *page) dim(s string) string { return p.colored("2", s) }

func (p *page) colored(code, s string) string {
	if !p.opts.Color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// verdict colours a text by a verdict.
func (p *page) verdict(v verdict.Verdict, s string) string {
	switch v {
	case verdict.Match:
		return p.green(s)
	case verdict.Waived:
		return p.yellow(s)
	case verdict.NotApplicable:
		return p.dim(s)
	default:
		return p.red(s)
	}
}

// Options say how the text looks.
type Options struct {
	// Color adds colour. Colour has no meaning that the words do not have as well.
	Color bool
	// Verbose shows everything: every scenario, every finding, the whole table of the contract's coverage.
	Verbose bool
	// Names replaces ids in values by their names, and lists the ids below each scenario.
	Names bool
	// Width is the number of columns of the terminal. Longer lines are continued on the next one, at words if possible.
	// With 0, lines have any length.
	Width int
	// Page is the path of the page of the same run, or "".
	Page string
}
