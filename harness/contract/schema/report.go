package schema

import (
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// A Finding is a violation without the exchange it stands in.
type Finding struct {
	Pointer string // of the value
	Kind    Kind
	Text    string
	Ref     string // of the schema
}

// A reporter collects what is wrong with a value and with what is inside it.
type reporter struct {
	limit int    // of findings
	path  []byte // JSON Pointer of the value under judgement
	found []Finding
	full  bool   // there are more findings than the limit
	hint  string // added to each finding at this value: why this alternative was chosen

	// quiet is set while only the distance to a schema is measured; faults counts what was wrong.
	quiet  bool
	faults int
	gaveUp bool // measuring would not end in bounded time
}

// fault notes that something is wrong, and reports whether anybody wants to read what.
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

// maxPointer bounds what a body of megabyte-long names can make us keep.
const maxPointer = 1000

// report adds a finding about the value under judgement.
func (j *reporter) report(kind Kind, s *Schema, text string, args ...any) {
	pointer := string(j.path)
	if len(pointer) > maxPointer {
		pointer = strings.ToValidUTF8(pointer[:maxPointer], "") + "…"
	}
	j.found = append(j.found, Finding{pointer, kind, fmt.Sprintf(text, args...) + j.hint, s.Ref})
}

// reportAt adds a finding about one of its fields.
func (j *reporter) reportAt(field string, kind Kind, s *Schema, text string, args ...any) {
	depth := len(j.path)
	j.path = jsontree.AppendNameTo(j.path, field)
	j.report(kind, s, text, args...)
	j.path = j.path[:depth]
}

// done returns what was found about a value whose schema stands at ref, and says so when that is not all.
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

// excerpt shows a value.
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

// describe shows a value and says what it is.
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

// cutPointer shortens a JSON Pointer.
func cutPointer(pointer string) string {
	if len(pointer) <= maxPointer {
		return pointer
	}
	return strings.ToValidUTF8(pointer[:maxPointer], "") + "…"
}
