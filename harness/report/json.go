package report

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Format is the version of the JSON. It changes when a reader of the old one would go wrong: when a member goes or
// means something else, not when one is added.
const Format = 2

// Schema is the JSON Schema (draft 2020-12) of what JSON writes.
//
//go:embed report.schema.json
var Schema []byte

// file is a document as it is written.
type file struct {
	Format int `json:"format"`
	Document
}

// JSON writes a run as one JSON document, as Schema describes it. The same run gives the same bytes. Every character
// that is not seen, or that turns the direction of writing, is escaped, so that the document can be printed.
//
// Scenarios are written one after the other: of thousands of them, the text takes more room than all that a run keeps.
func JSON(w io.Writer, doc *Document) error {
	rest := normalized(doc)
	rest.Scenarios = []verdict.Scenario{}
	var frame bytes.Buffer
	if err := encode(&frame, file{Format, rest}); err != nil {
		return err
	}
	head, tail, _ := strings.Cut(frame.String(), noScenarios) // which no string has: it begins with a line
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

// encodeScenarios writes the member "scenarios".
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

// Read reads what JSON has written.
func Read(r io.Reader) (*Document, error) {
	var f file
	if err := json.NewDecoder(r).Decode(&f); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if f.Format != Format {
		return nil, fmt.Errorf("report: it has format %d, and this lockstep reads format %d", f.Format, Format)
	}
	return &f.Document, nil
}

// normalized returns a document without what depends on how it came about: lists that are nil because they are empty, the
// zone of the clock. Its scenarios are as they were.
func normalized(doc *Document) Document {
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

// notNil returns a list that is written as [] when it is empty.
func notNil[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// escaped returns a JSON text in which characters that cannot be seen are escaped (RFC 8259 §7). Those that are not
// ASCII stand in strings only, so that this can be done without reading JSON. U+FFFD is escaped because encoding/json
// does so where it puts it in the place of a byte, and not where it finds it.
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

// DiffFormat is the version of the JSON of a Diff.
const DiffFormat = 1

// DiffJSON writes a comparison of two runs as one JSON document, in which everything can be seen, see JSON.
func DiffJSON(w io.Writer, d *Diff) error {
	out := *d
	for _, items := range []*[]DiffItem{&out.New, &out.Changed, &out.Fixed, &out.Unchanged} {
		*items = notNil(*items)
	}
	for _, turns := range []*[]VerdictChange{&out.Lost, &out.Judged, &out.OnlyBefore, &out.OnlyAfter} {
		*turns = notNil(*turns)
	}
	return encode(w, struct {
		Format  int             `json:"format"`
		Verdict verdict.Verdict `json:"verdict"`
		Diff
	}{DiffFormat, d.Verdict(), out})
}

// CoverageJSON writes the coverage as JSON writes it in a report.
func CoverageJSON(w io.Writer, doc *Document) error {
	return encode(w, normalized(doc).Coverage)
}
