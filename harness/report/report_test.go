package report_test

import (
	"bytes"
	"flag"
	"io"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/html"
	"github.com/lockstep-dev/lockstep/harness/report/jsonreport"
	"github.com/lockstep-dev/lockstep/harness/report/junit"
	"github.com/lockstep-dev/lockstep/harness/report/markdown"
	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// formats are the formats of a run, by the golden file for each.
var formats = []struct {
	file  string
	write func(io.Writer, *report.Document) error
}{
	{"terminal.txt", func(w io.Writer, d *report.Document) error { return text.Write(w, d, text.Options{}) }},
	{"verbose.txt", func(w io.Writer, d *report.Document) error { return text.Write(w, d, text.Options{Verbose: true}) }},
	{"color.txt", func(w io.Writer, d *report.Document) error { return text.Write(w, d, text.Options{Color: true}) }},
	{"coverage.txt", func(w io.Writer, d *report.Document) error { return text.WriteCoverage(w, d, text.Options{}) }},
	{"report.json", jsonreport.Write},
	{"junit.xml", junit.Write},
	{"summary.md", func(w io.Writer, d *report.Document) error { return markdown.Write(w, d, 4<<10) }},
	{"annotations.txt", func(w io.Writer, d *report.Document) error { return markdown.WriteAnnotations(w, d, "") }},
	{"badge.svg", html.WriteBadge},
}

func TestEveryRunInEveryFormatIsAsReviewed(t *testing.T) {
	for _, run := range runs {
		for _, format := range formats {
			t.Run(run.name+"/"+format.file, func(t *testing.T) {
				var got bytes.Buffer
				if err := format.write(&got, run.doc()); err != nil {
					t.Fatal(err)
				}
				golden(t, filepath.Join("testdata", run.name, format.file), got.Bytes())
			})
		}
	}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		testfile.Write(t, file, got)
		return
	}
	want := testfile.Text(t, file)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is not what is written now (go test ./harness/report -update rewrites it) (-file +now):\n%s", file, diff)
	}
}
