package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/internal/problem"
)

var (
	yamlError = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)$`)
	// parserError matches messages of the library's parser, as opposed to those of its scanner.
	parserError = regexp.MustCompile(`^did not find expected (node content|key|'.' indicator|',' or '.'|<.*>)$`)
	anchorError = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
)

// syntax reports why a text is not YAML. The library knows at best the line, and describes its own internals. So
// syntax first looks for the usual mistakes: since the file is invalid anyway, a suspicious place is probably the
// cause.
func (r *reader) syntax(err error, data []byte) {
	if half, ok := errors.AsType[*surrogateError](err); ok {
		r.mistake(half.line, half.column, "not YAML: the text has half of a surrogate pair", `write both halves, such as "\ud83d\ude00", or the character itself`)
		return
	}
	m := yamlError.FindStringSubmatch(err.Error())
	line, _ := strconv.Atoi(m[1])
	// The parser counts lines from 0, unlike the scanner. Neither gives a number for the first line. At an early end of
	// the file, the parser names the line after the last one.
	if parserError.MatchString(m[2]) {
		line = min(line+1, 1+bytes.Count(bytes.TrimRight(data, "\n"), []byte("\n")))
	}
	line = max(line, 1)
	text := string(data)
	if p, ok := unreadable(text); ok {
		r.mistake(p.Line, p.Column, p.What, p.Fix)
		return
	}
	if name := anchorError.FindStringSubmatch(m[2]); name != nil {
		line, column := position(text, strings.Index(text, "*"+name[1]))
		r.mistake(line, column, "alias *"+name[1], "write the value out; anchors and aliases are not supported")
		return
	}
	if line, column := tab(text, line); line > 0 {
		r.mistake(line, column, "not YAML: a tab", "indent with spaces")
		return
	}
	if found := suspects(text); len(found) > 0 {
		for _, p := range found {
			r.mistake(p.Line, p.Column, p.What, p.Fix)
		}
		return
	}
	if p, ok := misindented(text); ok && parserError.MatchString(m[2]) {
		r.mistake(p.Line, p.Column, p.What, p.Fix)
		return
	}
	content := lineAt(text, line)
	column := 1 + len(content) - len(strings.TrimLeft(content, " "))
	r.mistake(line, column, "not YAML: "+m[2], "indent items of one level equally, and put texts with special characters in quotes")
}

// block matches the end of a line that begins a block of text, whose lines may have any indentation.
var block = regexp.MustCompile(`[|>][-+0-9]*\s*(#.*)?$`)

// misindented finds the first line whose indentation is less than that of the line before, and that of no line above it
// to which it could belong.
func misindented(text string) (p problem.Problem, found bool) {
	var open []int // the indentations of the enclosing maps and lists
	inBlock, line := -1, 0
	for content := range strings.Lines(text) {
		line++
		trimmed := strings.TrimLeft(content, " ")
		indent := len(content) - len(trimmed)
		if strings.TrimSpace(trimmed) == "" || strings.HasPrefix(trimmed, "#") || inBlock >= 0 && indent > inBlock {
			continue
		}
		inBlock = -1
		top := -1
		for len(open) > 0 && open[len(open)-1] > indent {
			top, open = open[len(open)-1], open[:len(open)-1]
		}
		if top >= 0 && (len(open) == 0 || open[len(open)-1] != indent) {
			p = problem.Problem{Line: line, Column: indent + 1, What: fmt.Sprintf("not YAML: the line is indented by %d", indent)}
			p.Fix = fmt.Sprintf("indent it by %d, like a line above", top)
			if len(open) > 0 {
				p.Fix = fmt.Sprintf("indent it by %d or %d, like a line above", open[len(open)-1], top)
			}
			return p, true
		}
		// "- - a: b" opens a list, another one, and a map.
		for at := indent; ; {
			if len(open) == 0 || open[len(open)-1] < at {
				open = append(open, at)
			}
			rest := content[at:]
			if !strings.HasPrefix(rest, "- ") {
				break
			}
			at += 2 + len(rest[2:]) - len(strings.TrimLeft(rest[2:], " "))
		}
		if block.MatchString(strings.TrimRight(content, "\r\n")) {
			inBlock = indent
		}
	}
	return p, false
}

// unreadable finds the first character that YAML does not allow.
func unreadable(text string) (p problem.Problem, found bool) {
	for i, c := range text {
		switch {
		case c == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			p.What, p.Fix = fmt.Sprintf("not YAML: the byte %#02x is not UTF-8", text[i]), "save the file as UTF-8"
		case c < ' ' && c != '\t' && c != '\n' && c != '\r', c == 0x7f, c >= 0x80 && c < 0xa0 && c != 0x85, c == 0xfffe, c == 0xffff:
			p.What, p.Fix = fmt.Sprintf("not YAML: the control character %U", c), fmt.Sprintf(`leave it out, or write "\u%04x" in double quotes`, c)
		default:
			continue
		}
		p.Line, p.Column = position(text, i)
		return p, true
	}
	return p, false
}

// position returns the line and column of a byte.
func position(text string, at int) (line, column int) {
	before := text[:max(at, 0)]
	start := strings.LastIndexByte(before, '\n') + 1
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[start:])
}

func lineAt(text string, line int) string {
	for content := range strings.Lines(text) {
		if line--; line == 0 {
			return strings.TrimRight(content, "\r\n")
		}
	}
	return ""
}

// tab finds a tab in the indentation of the line at which the library gave up, or of a neighbouring line.
func tab(text string, near int) (line, column int) {
	for line := near - 1; line <= near+1; line++ {
		content := lineAt(text, line)
		indent := content[:len(content)-len(strings.TrimLeft(content, " \t"))]
		if i := strings.IndexByte(indent, '\t'); i >= 0 && len(indent) < len(content) {
			return line, i + 1
		}
	}
	return 0, 0
}

// most is how many suspects of a kind are reported.
const most = 50

// suspects finds places in an invalid file that are certainly wrong. If braces have unquoted text with braces in it,
// that is an expression without quotes, and all such places are returned. Otherwise it returns the first place of
// these: a quote or bracket without a partner, a character that cannot begin a text, or a second colon in a line.
func suspects(text string) problem.Problems {
	s := suspicion{text: text}
	for s.at < len(s.text) {
		s.token()
	}
	switch {
	case len(s.expressions) > 0:
		return s.expressions
	case len(s.open) > 0:
		s.suspect(s.open[0], fmt.Sprintf("the %c is not closed", text[s.open[0]]), fmt.Sprintf("close it with %c", partner[text[s.open[0]]]))
	}
	return s.others
}

var partner = map[byte]byte{'{': '}', '[': ']'}

// A suspicion scans a text for suspects. It understands YAML only well enough to tell quotes, brackets and texts
// apart.
type suspicion struct {
	text        string
	at          int
	value       bool  // the next token is the value of a key in the same line
	open        []int // positions of the open brackets
	expressions problem.Problems
	others      problem.Problems
}

func (s *suspicion) suspect(at int, what, fix string) {
	if len(s.others) > 0 {
		return // later suspects may follow from the first
	}
	line, column := position(s.text, at)
	s.others = append(s.others, problem.Problem{Line: line, Column: column, What: "not YAML: " + what, Fix: fix})
}

// token reads the next token.
func (s *suspicion) token() {
	switch c := s.text[s.at]; {
	case c == '\n':
		s.at++
		s.value = false
	case c == ' ' || c == '\t' || c == '\r':
		s.at++
	case c == '#':
		s.skipLine()
	case c == '"' || c == '\'':
		s.quoted(c)
	case c == '{' || c == '[':
		s.open = append(s.open, s.at)
		s.at++
	case len(s.open) > 0 && strings.IndexByte("]},", c) >= 0:
		s.separator(c)
	case len(s.open) == 0 && (c == '|' || c == '>'):
		s.block()
	case strings.IndexByte("-?:", c) >= 0 && s.blankAt(s.at+1):
		s.at++
	case strings.IndexByte("@`%]},", c) >= 0 && !strings.HasPrefix(s.text[s.at:], "%YAML"):
		s.suspect(s.at, fmt.Sprintf("a text without quotes cannot begin with %c", c), "put the text in quotes")
		s.skipLine()
	default:
		s.plain()
	}
}

func (s *suspicion) blankAt(i int) bool {
	return i >= len(s.text) || strings.IndexByte(" \t\r\n", s.text[i]) >= 0
}

func (s *suspicion) skipLine() {
	if n := strings.IndexByte(s.text[s.at:], '\n'); n >= 0 {
		s.at += n
	} else {
		s.at = len(s.text)
	}
}

// separator reads a comma between elements in brackets, or a closing bracket.
func (s *suspicion) separator(c byte) {
	if c != ',' {
		last := s.open[len(s.open)-1]
		if partner[s.text[last]] != c {
			s.suspect(s.at, fmt.Sprintf("%c closes a %c", c, s.text[last]), fmt.Sprintf("close it with %c", partner[s.text[last]]))
		}
		s.open = s.open[:len(s.open)-1]
	}
	s.at++
	if c == ',' || len(s.open) > 0 {
		return
	}
	if rest := strings.TrimLeft(lineFrom(s.text, s.at), " \t"); rest != "" && rest[0] != '#' && rest[0] != ':' {
		s.suspect(s.at+strings.Index(s.text[s.at:], rest), fmt.Sprintf("there is more text after the last %c", c), "remove it, or put all of the text in quotes")
		s.skipLine()
	}
}

func lineFrom(text string, at int) string {
	rest, _, _ := strings.Cut(text[at:], "\n")
	return strings.TrimRight(rest, "\r")
}

// quoted reads a text in quotes.
func (s *suspicion) quoted(quote byte) {
	start := s.at
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '\\' && quote == '"':
			s.at++
		case c == quote && quote == '\'' && strings.HasPrefix(s.text[s.at:], "''"):
			s.at++
		case c == quote:
			s.at++
			return
		}
	}
	s.at = len(s.text)
	s.open = nil
	s.suspect(start, "the quote is not closed", fmt.Sprintf("close it with %c", quote))
}

// block skips a block text: all following lines with a deeper indentation.
func (s *suspicion) block() {
	begin := strings.LastIndexByte(s.text[:s.at], '\n') + 1
	indent := len(indentation(s.text[begin:]))
	for s.skipLine(); s.at < len(s.text); {
		next := s.text[s.at+1:]
		line := lineFrom(next, 0)
		if strings.TrimSpace(line) != "" && len(indentation(line)) <= indent {
			return
		}
		s.at++
		s.skipLine()
	}
}

func indentation(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " "))] }

// plain reads a text without quotes, at most to the end of the line.
func (s *suspicion) plain() {
	start := s.at
	for ; s.at < len(s.text) && s.text[s.at] != '\n'; s.at++ {
		c := s.text[s.at]
		switch {
		case c == '#' && s.blankAt(s.at-1):
			return
		case c == ':' && s.blankAt(s.at+1):
			s.colon(start)
			return
		case len(s.open) > 0 && (strings.IndexByte("{[", c) >= 0 || c == '?'):
			s.unquoted(start)
			return
		case len(s.open) > 0 && strings.IndexByte("]},", c) >= 0:
			return
		}
	}
}

// colon reads the colon that makes a text a key. A value on the same line cannot be a key.
func (s *suspicion) colon(start int) {
	if s.value && len(s.open) == 0 {
		s.suspect(start, "a second colon in the line", "put the value in quotes")
		s.skipLine()
		return
	}
	s.at++
	s.value = true
}

// unquoted reads a text in brackets that needs quotes. It ends at a separator outside of ${{ }}.
func (s *suspicion) unquoted(start int) {
	for s.at < len(s.text) && strings.IndexByte("\n,]}", s.text[s.at]) < 0 {
		if strings.HasPrefix(s.text[s.at:], "{{") {
			const longest = 200 // of an expression
			if end := strings.Index(lineFrom(s.text[:min(len(s.text), s.at+longest)], s.at), "}}"); end >= 0 {
				s.at += end + 1
			}
		}
		s.at++
	}
	if len(s.expressions) == most {
		return
	}
	text := strings.TrimRight(s.text[start:s.at], " \t\r")
	line, column := position(s.text, start)
	s.expressions = append(s.expressions, problem.Problem{
		Line: line, Column: column, What: fmt.Sprintf("not YAML: %s is in brackets without quotes", text), Fix: fmt.Sprintf("put %q in quotes", text),
	})
}
