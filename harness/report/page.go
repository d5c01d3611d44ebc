package report

import (
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A page is text under way: lines for a terminal.
type page struct {
	strings.Builder
	doc   *Document
	paint Paint
}

// line writes a line, so many columns from the left. The parts have been made visible.
func (p *page) line(indent int, parts ...string) {
	p.WriteString("                "[:indent])
	for _, part := range parts {
		p.WriteString(part)
	}
	p.WriteByte('\n')
}

func (p *page) gap() { p.WriteByte('\n') }

// The colours (ECMA-48 §8.3.117).
func (p *page) red(s string) string    { return p.colored("31", s) }
func (p *page) green(s string) string  { return p.colored("32", s) }
func (p *page) yellow(s string) string { return p.colored("33", s) }
func (p *page) dim(s string) string    { return p.colored("2", s) }

func (p *page) colored(code, s string) string {
	if !p.paint.Color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// verdict colours a text by what it stands for.
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

// list joins items as far as a line goes, and counts the others.
func list(items []string, separator string) string {
	const room = 140
	var b strings.Builder
	for i, item := range items {
		switch {
		case i == 0:
		case b.Len()+len(item) > room:
			return b.String() + separator + "and " + strconv.Itoa(len(items)-i) + " more"
		default:
			b.WriteString(separator)
		}
		b.WriteString(item)
	}
	return b.String()
}

// both joins names as a sentence does: "a, b and c".
func both(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
