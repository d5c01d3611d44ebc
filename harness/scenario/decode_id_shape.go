package scenario

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// idShape decodes the shape of an id, and rejects a shape that ordinary texts have.
func (d *ruleDecoder) idShape(n *yamldoc.Node) IDShape {
	pattern := n.Get("pattern")
	s := IDShape{
		Name: n.Get("name").Text, Pattern: pattern.Text, Because: n.Get("because").Text, Place: Place{d.file, n.Line, n.Column},
	}
	tree, err := syntax.Parse(s.Pattern, syntax.Perl)
	if err == nil {
		_, err = regexp.Compile(s.Pattern)
	}
	if err != nil {
		d.problem(pattern, fmt.Sprintf("%q is not a valid regular expression: %v", s.Pattern, err), "write one in RE2 syntax")
		return s
	}
	switch {
	case tree.MaxCap() > 1:
		d.problem(pattern, fmt.Sprintf("%q has %d groups, but only one can be the generated part", s.Pattern, tree.MaxCap()), "begin the others with (?:")
	case anchored(tree):
		d.problem(pattern, fmt.Sprintf("%q has an anchor, but a pattern always matches whole words, anywhere", s.Pattern), `leave out ^, $, \b and the like`)
	default:
		if text, ordinary := ordinaryText(s.Pattern); ordinary {
			d.problem(pattern, fmt.Sprintf("the pattern %q matches ordinary texts, such as %q", s.Pattern, text), "write how such an id begins and how long it is: sess[0-9]{8}")
		} else if text, short := shortNumber(s.Pattern); short {
			d.problem(pattern, fmt.Sprintf("the pattern %q matches short numbers, such as %q, which also occur in times and counts", s.Pattern, text),
				"write what comes before such an id: /items/([0-9]{4}), or write a rule with kind: id for its place under volatile")
		}
	}
	return s
}

// anchored reports whether an expression depends on the text around a match.
func anchored(e *syntax.Regexp) bool {
	switch e.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	for _, sub := range e.Sub {
		if anchored(sub) {
			return true
		}
	}
	return false
}

// ordinaryTexts are frequent in responses. A pattern that matches several of them matches nearly everything.
var ordinaryTexts = []string{
	"a", "id", "true", "name", "error", "status", "message", "children", "password", "completed", "0", "7", "42", "200", "1024", "65536",
	"GET", "Content-Type", "application/json", "tool_description", "/items/7", "not found", "Unknown request ID", "2.50",
}

// ordinaryText returns a text that a pattern matches although it is not an id: the empty text, or one of several
// ordinary texts.
func ordinaryText(pattern string) (text string, ordinary bool) {
	const many = 3
	re := regexp.MustCompile(`^(?:` + pattern + `)$`)
	if re.MatchString("") {
		return "", true
	}
	matched := 0
	for _, s := range ordinaryTexts {
		if re.MatchString(s) {
			matched++
			text = s
		}
	}
	return text, matched >= many
}

// minDigits is the minimum number of digits of a number that may be an id in any place.
const minDigits = 5

// shortNumber returns a number of few digits that a pattern matches.
func shortNumber(pattern string) (text string, short bool) {
	re := regexp.MustCompile(`^(?:` + pattern + `)$`)
	most := 1
	for digits := 1; digits < minDigits; digits++ {
		most *= 10
		for n := range most {
			if text := fmt.Sprintf("%0*d", digits, n); re.MatchString(text) {
				return text, true
			}
		}
	}
	return "", false
}
