package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/lockstep-dev/lockstep/harness"
)

// reports are the files of a run. All writers discard when no folder is wanted.
//
// run.jsonl is written while the run is under way, and says in its last line that it is whole. The other two cannot say
// so. Those of the run before are taken away at the start, and new ones stand there when they are whole, or not at all:
// whoever kills a run finds no file that is empty, and none that is of another run.
type reports struct {
	run         io.Writer
	json, junit *document
	file        *os.File // of run
}

func (f *runFlags) openReports() (*reports, error) {
	r := &reports{run: io.Discard, json: &document{}, junit: &document{}}
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
	r.json.path, r.junit.path = filepath.Join(dir, "report.json"), filepath.Join(dir, "junit.xml")
	for _, d := range []*document{r.json, r.junit} {
		if err := d.prepare(); err != nil {
			return nil, noReports(err)
		}
	}
	file, err := os.Create(filepath.Join(dir, "run.jsonl"))
	if err != nil {
		return nil, noReports(err)
	}
	r.run, r.file = file, file
	return r, nil
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
	path  string // "" for one that is not wanted
	plain bool   // a device, a pipe or a link stands there, and is written to as it is
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
	if d.path == "" {
		return nil
	}
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
