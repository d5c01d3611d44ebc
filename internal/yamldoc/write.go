package yamldoc

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Flow returns a value as YAML on one line: {text: "two words", done: false}. Parse reads the same value back.
func Flow(n *jsontree.Node) string {
	var b strings.Builder
	writeFlow(&b, n)
	return b.String()
}

// Block returns a value as YAML, indented by the given number of blanks. A member or element that fits into the given
// number of columns is written on one line. The text ends with a line feed.
func Block(n *jsontree.Node, indent, columns int) string {
	var b strings.Builder
	writeBlock(&b, n, indent, columns)
	return b.String()
}

func writeFlow(b *strings.Builder, n *jsontree.Node) {
	switch n.Kind {
	case jsontree.Object:
		b.WriteByte('{')
		for i, name := range n.Names {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(Scalar(name) + ": ")
			writeFlow(b, n.Items[i])
		}
		b.WriteByte('}')
	case jsontree.Array:
		b.WriteByte('[')
		for i, item := range n.Items {
			if i > 0 {
				b.WriteString(", ")
			}
			writeFlow(b, item)
		}
		b.WriteByte(']')
	case jsontree.String:
		b.WriteString(Scalar(n.Text))
	case jsontree.Null:
		b.WriteString("null")
	default:
		b.WriteString(n.Text)
	}
}

// writeBlock writes a value on lines of its own. Long objects and lists get a line for each of their values.
func writeBlock(b *strings.Builder, n *jsontree.Node, indent, columns int) {
	margin := strings.Repeat(" ", indent)
	if !nested(n) {
		b.WriteString(margin + Flow(n) + "\n")
		return
	}
	for i, item := range n.Items {
		lead := "-"
		if n.Kind == jsontree.Object {
			lead = Scalar(n.Names[i]) + ":"
		}
		flow := Flow(item)
		if item.Kind == jsontree.String {
			flow = Line(item.Text)
		}
		switch {
		case !nested(item) || indent+len(lead)+1+len(flow) <= columns:
			b.WriteString(margin + lead + " " + flow + "\n")
		case n.Kind == jsontree.Object:
			b.WriteString(margin + lead + "\n")
			writeBlock(b, item, indent+2, columns)
		default: // an element's first line follows its dash
			var inner strings.Builder
			writeBlock(&inner, item, indent+2, columns)
			b.WriteString(margin + "- " + strings.TrimLeft(inner.String(), " "))
		}
	}
}

// nested reports whether a value contains values.
func nested(n *jsontree.Node) bool { return len(n.Items) > 0 }

// plainWord matches strings that every YAML parser reads as a string, in a block and in braces.
var plainWord = regexp.MustCompile(`^([A-Za-z_/$][A-Za-z0-9_./$-]*( [A-Za-z0-9_./$-]+)*|[0-9.]+(ms|s|m)([0-9.]+m?s)?)$`)

// plainLine matches what is a string at the end of a line in a block, where braces and commas have no meaning.
var plainLine = regexp.MustCompile(`^[A-Za-z_/$][!-~]*( [!-~]+)*$`)

// words are strings that some version of YAML reads as another type.
var words = regexp.MustCompile(`^(?i:true|false|yes|no|on|off|null|y|n)$`)

// Scalar returns a string as YAML: plain if that is safe, otherwise in quotes.
func Scalar(s string) string {
	if plainWord.MatchString(s) && !words.MatchString(s) {
		return s
	}
	quoted, _ := jsontext.AppendQuote(nil, s) // invalid UTF-8 becomes U+FFFD
	var b strings.Builder
	for _, r := range string(quoted) {
		switch {
		case r < 0x7f || unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 1<<16: // YAML folds some of these, and the others are invisible
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// Line returns a string as the value of a key in a block.
func Line(s string) string {
	if plainLine.MatchString(s) && !strings.HasPrefix(s, "${{") && !words.MatchString(s) && !strings.Contains(s+" ", ": ") && !strings.Contains(s, " #") {
		return s
	}
	return Scalar(s)
}
