package schema

import (
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// A Finding is a violation without the place of its exchange.
type Finding struct {
	Pointer string // the place of the value
	Kind    Kind
	Text    string
	Ref     string // reference of the schema
}

// A reporter collects what is wrong with a value and its parts.
type reporter struct {
	limit int    // of findings
	path  []byte // JSON Pointer of the current value
	found []Finding
	full  bool   // there are more findings than the limit
	hint  string // added to each finding at this value: why this alternative was chosen

	// quiet is set while only the distance to a schema is measured. faults counts the violations.
	quiet  bool
	faults int
	gaveUp bool // measuring would have taken too long
}

// fault counts a violation, and reports whether it must be reported.
func (j *reporter) fault() bool {
	j.faults++
	if j.quiet || j.gaveUp { // a choice without a measurement proves nothing
		return false
	}
	if len(j.found) >= j.limit {
		j.full = true
		return false
	}
	return true
}

// maxPointer limits the length of pointers, because a body can have names of a megabyte.
const maxPointer = 1000

// report adds a finding about the current value.
func (j *reporter) report(kind Kind, s *Schema, text string, args ...any) {
	j.found = append(j.found, Finding{cutPointer(string(j.path)), kind, fmt.Sprintf(text, args...) + j.hint, s.Ref})
}

// reportAt adds a finding about a field of the current value.
func (j *reporter) reportAt(field string, kind Kind, s *Schema, text string, args ...any) {
	depth := len(j.path)
	j.path = jsontree.AppendNameTo(j.path, field)
	j.report(kind, s, text, args...)
	j.path = j.path[:depth]
}

// done returns the findings about a value whose schema is at ref, with a note if there are more.
func (j *reporter) done(ref string) []Finding {
	switch {
	case j.full:
		j.found = append(j.found, Finding{"", MoreViolations, "there are more violations than the ones listed", ref})
	case j.gaveUp:
		j.found = append(j.found, Finding{"", MoreViolations, "the value is too deep or too large for its schema's alternatives: not all of it was checked", ref})
	}
	return j.found
}

func hintClosest(closest *Schema, members int) string {
	return fmt.Sprintf(" (of %d alternatives the closest is %s)", members, closest.Ref)
}

func QuoteAll(list []string) string {
	const few = 8
	var out []string
	for _, s := range list[:min(few, len(list))] {
		out = append(out, problem.Quote(s))
	}
	if rest := len(list) - few; rest > 0 {
		out = append(out, fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(out, ", ")
}

func excerpt(n *jsontree.Node) string {
	switch n.Kind {
	case jsontree.Array:
		return "the array"
	case jsontree.Object:
		return "the object"
	case jsontree.String:
		return problem.Quote(n.Text)
	case jsontree.Null:
		return "null"
	}
	if len(n.Text) > problem.MaxQuote {
		return n.Text[:problem.MaxQuote] + "…"
	}
	return n.Text
}

// describe shows a value with its type.
func describe(n *jsontree.Node) string {
	switch n.Kind {
	case jsontree.Array:
		return "an array"
	case jsontree.Object:
		return "an object"
	case jsontree.Null:
		return "null"
	}
	return "the " + n.Kind.String() + " " + excerpt(n)
}

// suggest names the field that was probably meant.
func suggest(name string, known []string) string {
	if near, ok := problem.Nearest(name, known); ok {
		return fmt.Sprintf("; did it mean %q?", near)
	}
	return ""
}

func (b *bound) String() string { return formatNumber(b.double) }

func cutPointer(pointer string) string {
	if len(pointer) <= maxPointer {
		return pointer
	}
	return strings.ToValidUTF8(pointer[:maxPointer], "") + "…"
}
