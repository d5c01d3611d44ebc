package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/lockstep-dev/lockstep/harness"
	"github.com/lockstep-dev/lockstep/harness/report"
)

// reports are the files of a run. All writers discard when no folder is wanted.
//
// run.jsonl is written while the run is under way, and says in its last line that it is whole. The others cannot say so.
// Those of the run before are taken away at the start, and new ones stand there when they are whole, or not at all:
// whoever kills a run finds no file that is empty, and none that is of another run.
type reports struct {
	run       io.Writer
	documents []*document      // one for each of documents; none when no folder is wanted
	file      *os.File         // of run
	before    *report.Document // of the run before, see report.Past; nil when there is none that can be read
}

// documents are the files that are made of a judgement.
var documents = []struct {
	name   string
	render func(io.Writer, *report.Document) error
}{
	{"report.json", report.JSON},
	{"report.html", report.HTML},
	{"junit.xml", report.JUnit},
	{"summary.md", markdown},
	{"badge.svg", report.Badge},
}

func markdown(w io.Writer, doc *report.Document) error {
	return report.Markdown(w, doc, report.MarkdownBudget)
}

func (f *runFlags) openReports() (*reports, error) {
	r := &reports{run: io.Discard}
	if f.reports == "-" {
		return r, nil
	}
	dir := f.reports
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(f.config), dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, noReports(err)
	}
	r.before = earlier(filepath.Join(dir, "report.json"))
	for _, kind := range documents {
		d := &document{path: filepath.Join(dir, kind.name)}
		if err := d.prepare(); err != nil {
			return nil, noReports(err)
		}
		r.documents = append(r.documents, d)
	}
	file, err := os.Create(filepath.Join(dir, "run.jsonl"))
	if err != nil {
		return nil, noReports(err)
	}
	r.run, r.file = file, file
	return r, nil
}

// write writes what is made of the judgement.
func (r *reports) write(doc *report.Document) error {
	var err error
	for i, d := range r.documents {
		err = errors.Join(err, d.write(func(to io.Writer) error { return documents[i].render(to, doc) }))
	}
	return err
}

// earlier reads what is to be known of the run before.
func earlier(path string) *report.Document {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	doc, err := report.Read(bufio.NewReader(file))
	if err != nil {
		return nil // of another version, or of no run
	}
	return report.Past(doc)
}

func noReports(err error) error {
	return &harness.UsageError{What: "reports: " + err.Error(), Fix: "name another folder with --reports, or - for none"}
}

func (r *reports) close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// A document is a file that is there when it is whole.
type document struct {
	path  string
	plain bool // a device, a pipe or a link stands there, and is written to as it is
}

// prepare takes the document of the run before away, and finds out whether a new one can be written.
func (d *document) prepare() error {
	switch info, err := os.Lstat(d.path); {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return err
	case info.Mode().IsRegular():
		if err := os.Remove(d.path); err != nil {
			return err
		}
	default:
		d.plain = true
	}
	file, err := os.Create(d.part())
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), d.discard())
}

// part is where the document is written.
func (d *document) part() string {
	if d.plain {
		return d.path
	}
	return d.path + ".part"
}

func (d *document) discard() error {
	if d.plain {
		return nil
	}
	return os.Remove(d.part())
}

// write writes the document, by a function that writes all of it.
func (d *document) write(render func(io.Writer) error) error {
	file, err := os.Create(d.part())
	if err != nil {
		return err
	}
	if err := errors.Join(render(file), file.Close()); err != nil {
		return errors.Join(err, d.discard())
	}
	if d.plain {
		return nil
	}
	return os.Rename(d.part(), d.path)
}
