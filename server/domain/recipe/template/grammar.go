package template

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

var (
	errExpression = errors.New("not an expression")
	errTooDeep    = errors.New("the template is nested too deeply")
)

// isDefined and isUndefined are operators without a second operand.
const (
	isDefined   = "is defined"
	isUndefined = "is undefined"
)

// expression parses an expression by the grammar of decision G20. The error is errExpression, or exceeding a bound of
// the template. The latter must stay an error, and not turn the expression into plain text.
func (w *Work) expression(text string) (expression, error) {
	tokens, err := scan(text)
	if err != nil {
		return nil, err
	}
	if err := w.piece(len(tokens)); err != nil {
		return nil, err
	}
	g := &grammar{tokens: tokens}
	e := g.conditional()
	switch {
	case g.tooDeep:
		return nil, errTooDeep
	case g.failed || len(g.tokens) > 0:
		return nil, errExpression
	}
	return e, nil
}

// A token is a word, a string, a number or a sign.
type token struct {
	kind byte // 'w' word, 's' string, 'n' number, 0 sign
	text string
}

var signs = []string{"==", "!=", "<=", ">=", "<", ">", "(", ")", "[", "]", ",", "|", "~"}

// scan splits a text into tokens, up to the maximum for a template.
func scan(text string) ([]token, error) {
	var tokens []token
	for at := 0; at < len(text); {
		if len(tokens) > maxPieces {
			return nil, errPieces
		}
		c := text[at]
		switch {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			at++
		case isLetter(c):
			end := at
			for end < len(text) && (isLetter(text[end]) || isDigit(text[end])) {
				end++
			}
			tokens = append(tokens, token{'w', text[at:end]})
			at = end
		case isDigit(c):
			end := at
			for end < len(text) && isDigit(text[end]) {
				end++
			}
			tokens = append(tokens, token{'n', text[at:end]})
			at = end
		case c == '"' || c == '\'':
			s, length, ok := quoted(text[at:])
			if !ok {
				return nil, errExpression
			}
			tokens = append(tokens, token{'s', s})
			at += length
		default:
			i := slices.IndexFunc(signs, func(sign string) bool { return strings.HasPrefix(text[at:], sign) })
			if i < 0 {
				return nil, errExpression
			}
			tokens = append(tokens, token{0, signs[i]})
			at += len(signs[i])
		}
	}
	return tokens, nil
}

// quoted reads a string. A backslash makes the next character literal, except n, r and t.
func quoted(text string) (s string, length int, ok bool) {
	var b strings.Builder
	for at := 1; at < len(text); at++ {
		switch c := text[at]; {
		case c == text[0]:
			return b.String(), at + 1, true
		case c == '\\' && at+1 < len(text):
			at++
			switch text[at] {
			case 'n':
				b.WriteByte('\n')
			case 'r':
				b.WriteByte('\r')
			case 't':
				b.WriteByte('\t')
			default:
				b.WriteByte(text[at])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, false
}

func isLetter(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

var reserved = []string{"and", "or", "not", "in", "is", "if", "else", "true", "false"}

func isName(s string) bool {
	if s == "" || isDigit(s[0]) || slices.Contains(reserved, s) {
		return false
	}
	for i := range len(s) {
		if !isLetter(s[i]) && !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// A grammar parses tokens from left to right; each method is a rule. After a failure, results have no meaning.
type grammar struct {
	tokens  []token
	depth   int
	failed  bool
	tooDeep bool // also sets failed
}

// take takes the next token if it is the given word or sign.
func (g *grammar) take(text string) bool {
	if len(g.tokens) > 0 && g.tokens[0].kind != 's' && g.tokens[0].text == text {
		g.tokens = g.tokens[1:]
		return true
	}
	return false
}

func (g *grammar) need(text string) { g.failed = !g.take(text) || g.failed }

func (g *grammar) conditional() expression {
	if g.depth++; g.depth > maxDepth {
		g.failed, g.tooDeep = true, true
	}
	defer func() { g.depth-- }()
	if g.failed {
		return nil
	}
	e := g.or()
	if g.take("if") {
		condition := g.or()
		g.need("else")
		return conditional{condition, e, g.conditional()}
	}
	return e
}

func (g *grammar) or() expression { return logicOf(g.row("or", g.and), true) }

func (g *grammar) and() expression { return logicOf(g.row("and", g.not), false) }

// row parses parts that are separated by a word or a sign.
func (g *grammar) row(between string, part func() expression) []expression {
	parts := []expression{part()}
	for !g.failed && g.take(between) {
		parts = append(parts, part())
	}
	return parts
}

func logicOf(parts []expression, decides bool) expression {
	if len(parts) == 1 {
		return parts[0]
	}
	return logic{parts, decides}
}

func (g *grammar) not() expression {
	negations := 0
	for g.take("not") {
		negations++
	}
	e := g.comparison()
	switch {
	case negations == 0:
		return e
	case negations%2 == 0:
		return negation{negation{e}} // not e itself, because a negation is always true or false
	}
	return negation{e}
}

func (g *grammar) comparison() expression {
	c := comparison{first: g.concatenation()}
	for !g.failed {
		operator := g.operator()
		switch operator {
		case "":
			if len(c.with) == 0 {
				return c.first
			}
			return c
		case isDefined, isUndefined:
			c.with = append(c.with, operand{operator, nil})
		default:
			c.with = append(c.with, operand{operator, g.concatenation()})
		}
	}
	return nil
}

// operator takes a comparison operator, or returns "".
func (g *grammar) operator() string {
	switch {
	case g.take("is"):
		if g.take("undefined") {
			return isUndefined
		}
		not := g.take("not")
		g.need("defined")
		if not {
			return isUndefined
		}
		return isDefined
	case g.take("in"):
		return "in"
	case g.take("not"):
		g.need("in")
		return "not in"
	}
	if i := slices.IndexFunc(signs[:6], g.take); i >= 0 {
		return signs[i]
	}
	return ""
}

func (g *grammar) concatenation() expression {
	parts := g.row("~", g.filtered)
	if len(parts) == 1 {
		return parts[0]
	}
	return concatenation(parts)
}

func (g *grammar) filtered() expression {
	e := filtered{value: g.primary()}
	for !g.failed && g.take("|") {
		if len(g.tokens) == 0 {
			g.failed = true
			return nil
		}
		next := application{filter: g.tokens[0].text}
		g.tokens = g.tokens[1:]
		if g.take("(") {
			next.args = g.list(")")
		}
		if f, known := filters[next.filter]; !known || len(next.args) != f.args {
			g.failed = true
			return nil
		}
		e.by = append(e.by, next)
	}
	if len(e.by) == 0 {
		return e.value
	}
	return e
}

func (g *grammar) primary() expression {
	if g.failed || len(g.tokens) == 0 {
		g.failed = true
		return nil
	}
	next := g.tokens[0]
	g.tokens = g.tokens[1:]
	switch {
	case next.kind == 's':
		return constant{next.text}
	case next.kind == 'n':
		n, err := strconv.ParseInt(next.text, 10, 64)
		g.failed = g.failed || err != nil
		return constant{n}
	case next.text == "true":
		return constant{true}
	case next.text == "false":
		return constant{false}
	case next.kind == 'w' && isName(next.text):
		return variable{next.text}
	case next.text == "(":
		e := g.conditional()
		g.need(")")
		return e
	case next.text == "[":
		return list(g.list("]"))
	}
	g.failed = true
	return nil
}

// list parses expressions up to the sign that ends the list.
func (g *grammar) list(end string) (items []expression) {
	for !g.take(end) {
		if len(items) > 0 {
			g.need(",")
		}
		items = append(items, g.conditional())
		if g.failed {
			return nil
		}
	}
	return items
}
