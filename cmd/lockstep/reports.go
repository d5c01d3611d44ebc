package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/html"
	"github.com/lockstep-dev/lockstep/harness/report/jsonreport"
	"github.com/lockstep-dev/lockstep/harness/report/junit"
	"github.com/lockstep-dev/lockstep/harness/report/markdown"
	"github.com/lockstep-dev/lockstep/internal/regular"
)

// reports are the files of a run. Without a reports folder, all writers discard.
//
// run.jsonl is written during the run; its last line says that it is complete. The other files are removed when a run
// starts and written atomically when it ends. So a killed run leaves no partial file, and none of an earlier run.
type reports struct {
	run       io.Writer
	documents []*document      // one for each of documents; empty without a folder
	file      *os.File         // behind run
	lock      io.Closer        // of the folder
	previous  *report.Document // of the previous run; nil if it cannot be read
}

// documents are the report files that are made from the verdicts.
var documents = []struct {
	name   string
	render func(io.Writer, *report.Document) error
}{
	{"report.json", jsonreport.Write},
	{"report.html", html.Write},
	{"junit.xml", junit.Write},
	{"summary.md", summaryMarkdown},
	{"badge.svg", html.WriteBadge},
}

func summaryMarkdown(w io.Writer, doc *report.Document) error {
	return markdown.Write(w, doc, markdown.DefaultBudget)
}

func (f *runFlags) openReports() (*reports, error) {
	r := &reports{run: io.Discard}
	if f.reports == "-" {
		return r, nil
	}
	return r, r.own(beside(f.config, f.reports), r.begin)
}

// openDocuments opens the reports of a run that is judged again. Its run file stays. The folder - means none.
func openDocuments(dir string) (*reports, error) {
	r := &reports{run: io.Discard}
	if dir == "-" {
		return r, nil
	}
	return r, r.own(dir, r.beginDocuments)
}

// own locks the folder of the reports, and begins them.
func (r *reports) own(dir string, begin func(dir string) error) error {
	lock, err := ownFolder(dir)
	if err != nil {
		return reportsError(err)
	}
	r.lock = lock
	if err := begin(dir); err != nil {
		lock.Close()
		return reportsError(err)
	}
	return nil
}

// begin removes the reports of the previous run. If one of them is not a regular file, it removes none.
func (r *reports) begin(dir string) error {
	runFile := filepath.Join(dir, "run.jsonl")
	err := regular.CheckNew(runFile)
	if err == nil {
		err = r.beginDocuments(dir)
	}
	if err != nil {
		return err
	}
	if r.file, err = regular.Create(runFile); err != nil {
		return err
	}
	r.run = r.file
	return nil
}

// beginDocuments is begin without the run file.
func (r *reports) beginDocuments(dir string) error {
	var err error
	for _, kind := range documents {
		d := &document{filepath.Join(dir, kind.name)}
		err = errors.Join(err, regular.CheckNew(d.path))
		r.documents = append(r.documents, d)
	}
	if err != nil {
		return err
	}
	r.previous = readPrevious(filepath.Join(dir, "report.json"))
	for _, d := range r.documents {
		if err := d.prepare(); err != nil {
			return err
		}
	}
	return nil
}

// page returns the path of the page, or "" if none is written.
func (r *reports) page() string {
	for _, d := range r.documents {
		if filepath.Base(d.path) == "report.html" {
			return d.path
		}
	}
	return ""
}

// write writes all report files.
func (r *reports) write(doc *report.Document) error {
	var err error
	for i, d := range r.documents {
		err = errors.Join(err, d.write(func(to io.Writer) error { return documents[i].render(to, doc) }))
	}
	return err
}

// readPrevious reads what the new report needs to know about the previous run.
func readPrevious(path string) *report.Document {
	file, err := regular.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	doc, err := jsonreport.Read(bufio.NewReader(file))
	if err != nil {
		return nil // written by another version, or not a report
	}
	return report.FindingsOnly(doc)
}

func reportsError(err error) error {
	return &project.UsageError{What: "reports: " + err.Error(), Fix: "name another folder with --reports, or - for none"}
}

func (r *reports) close() error {
	var err error
	if r.file != nil {
		err = r.file.Close()
	}
	if r.lock != nil {
		err = errors.Join(err, r.lock.Close())
	}
	return err
}

// A document is a report file that exists only when it is complete.
type document struct{ path string }

// prepare removes the previous document, and checks that a new one can be written.
func (d *document) prepare() error {
	if err := regular.Remove(d.path); err != nil {
		return err
	}
	file, err := regular.Create(d.part())
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(d.part()))
}

// part returns the path of the temporary file.
func (d *document) part() string { return d.path + ".part" }

// write writes the document to the temporary file, then renames it.
func (d *document) write(render func(io.Writer) error) error {
	file, err := regular.Create(d.part())
	if err != nil {
		return err
	}
	if err := errors.Join(render(file), file.Close()); err != nil {
		return errors.Join(err, os.Remove(d.part()))
	}
	return os.Rename(d.part(), d.path)
}
