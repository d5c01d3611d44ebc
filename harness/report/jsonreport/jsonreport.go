// Package jsonreport writes a judged run as JSON, report.json, and reads it. It lists the causes as the other reports do.
package jsonreport

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Format is the version of the JSON. It changes when an old reader would fail: when a member is removed or changes its
// meaning, but not when one is added.
const Format = 2

// A File is a run as it is written.
type File struct {
	Format int `json:"format"`
	report.Document
	Causes []Cause `json:"causes,omitempty"` // derived from the scenarios
}

// NewFile returns what Write writes, except that it does not normalize the scenarios.
func NewFile(doc *report.Document) *File { return &File{Format, normalized(doc), causes(doc)} }

// Write writes a run as one JSON document that obeys report.Schema. The same run gives the same bytes. Characters that are
// invisible or change the direction of text are escaped, so it is safe to print the document.
//
// Scenarios are written one by one, because the text of thousands of scenarios needs more memory than the run itself.
func Write(w io.Writer, doc *report.Document) error {
	rest := NewFile(doc)
	rest.Scenarios = []verdict.Scenario{}
	var frame bytes.Buffer
	if err := encode(&frame, rest); err != nil {
		return err
	}
	head, tail, _ := strings.Cut(frame.String(), noScenarios) // no string contains it, because it begins with a line feed
	b := bufio.NewWriterSize(w, 1<<16)
	b.WriteString(head)
	if err := encodeScenarios(b, doc.Scenarios); err != nil {
		return err
	}
	b.WriteString(tail)
	return b.Flush()
}

// noScenarios is the member of a run without scenarios.
const noScenarios = "\n  \"scenarios\": []"

func encodeScenarios(w *bufio.Writer, all []verdict.Scenario) error {
	if len(all) == 0 {
		w.WriteString(noScenarios)
		return nil
	}
	w.WriteString(strings.TrimSuffix(noScenarios, "]"))
	for i, s := range all {
		if i > 0 {
			w.WriteByte(',')
		}
		s.Targets = notNil(s.Targets)
		text, err := json.MarshalIndent(s, "    ", "  ")
		if err != nil {
			return fmt.Errorf("report: %w", err)
		}
		w.WriteString("\n    ")
		w.Write(escaped(text))
	}
	w.WriteString("\n  ]")
	return nil
}

func encode(w io.Writer, value any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err := w.Write(escaped(b.Bytes()))
	return err
}

// Read reads what Write has written.
func Read(r io.Reader) (*report.Document, error) {
	var f File
	if err := json.NewDecoder(r).Decode(&f); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if f.Format != Format {
		return nil, fmt.Errorf("report: it has format %d, and this lockstep reads format %d", f.Format, Format)
	}
	return &f.Document, nil
}

// normalized returns a document without details that have no meaning: empty lists are not nil, and the time is in UTC.
// The scenarios are unchanged.
func normalized(doc *report.Document) report.Document {
	d := *doc
	d.Started = d.Started.UTC().Truncate(time.Millisecond)
	d.Totals.Targets = notNil(d.Totals.Targets)
	ops := slices.Clone(notNil(d.Coverage.Operations))
	for i := range ops {
		ops[i].Statuses = notNil(ops[i].Statuses)
	}
	d.Coverage.Operations = ops
	return d
}

// notNil makes sure that an empty list is written as [].
func notNil[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// escaped returns a JSON text in which invisible characters are escaped (RFC 8259 §7). Characters outside of ASCII
// occur only in strings, so there is no need to parse the JSON. U+FFFD is always escaped, because encoding/json escapes
// it only where it replaces an invalid byte.
func escaped(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		if c := text[0]; c < utf8.RuneSelf && c != 0x7f {
			out, text = append(out, c), text[1:]
			continue
		}
		r, n := utf8.DecodeRune(text)
		if unicode.IsGraphic(r) && r != utf8.RuneError {
			out = append(out, text[:n]...)
		} else {
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		}
		text = text[n:]
	}
	return out
}

// DiffFormat is the version of the JSON of a report.Diff.
const DiffFormat = 1

// WriteDiff writes a comparison of two runs as one JSON document with invisible characters escaped, see Write.
func WriteDiff(w io.Writer, d *report.Diff) error {
	out := *d
	for _, items := range []*[]report.DiffItem{&out.New, &out.Changed, &out.Fixed, &out.Unchanged} {
		*items = notNil(*items)
	}
	for _, turns := range []*[]report.VerdictChange{&out.Lost, &out.Judged, &out.OnlyBefore, &out.OnlyAfter} {
		*turns = notNil(*turns)
	}
	return encode(w, struct {
		Format  int             `json:"format"`
		Verdict verdict.Verdict `json:"verdict"`
		report.Diff
	}{DiffFormat, d.Verdict(), out})
}

// WriteCoverage writes the coverage in the same form as in a report.
func WriteCoverage(w io.Writer, doc *report.Document) error {
	return encode(w, normalized(doc).Coverage)
}
