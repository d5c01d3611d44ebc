package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/lockstep-dev/lockstep/harness"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/regular"
)

// recordingName is the file of a recording in its folder.
const recordingName = "recording.jsonl"

// recordingFlags are those of lockstep run that are about recordings.
type recordingFlags struct {
	to      string // the folder to record into
	from    string // the folder with the recording that stands in for the reference
	version string
}

func (f *recordingFlags) declare(fl *pflag.FlagSet) {
	f.declareRecord(fl)
	fl.StringVar(&f.from, "against", "", "judge against the recording in this folder, and do not start the reference")
	fl.StringVar(&f.version, "reference-version", "", "what the reference's version is called in a recording (default the sum of targets.….version.file)")
}

// declareRecord is what lockstep merge has of them: it has the whole, which shards have not.
func (f *recordingFlags) declareRecord(fl *pflag.FlagSet) {
	fl.StringVar(&f.to, "record", "", "keep what the reference did in this folder, as "+recordingName)
}

// against reads the recording that stands in for the reference, and says which one that is.
func (f *recordingFlags) against(project *harness.Project, options *harness.Options, stderr io.Writer) error {
	switch {
	case f.from != "" && f.to != "":
		return &harness.UsageError{What: "--record and --against exclude each other", Fix: "record a run in which the reference takes part"}
	case f.to != "":
		options.Record = io.Discard // until it is known that the run can be recorded
		return nil
	case f.from == "":
		return nil
	}
	path := filepath.Join(f.from, recordingName)
	file, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &harness.UsageError{What: path + ": no such file", Fix: "`lockstep run --record " + f.from + "` writes it"}
	}
	if err != nil {
		return err
	}
	defer file.Close()
	r, err := project.ReadRecording(bufio.NewReaderSize(file, 1<<20), f.version)
	if errors.Is(err, transcript.ErrIncomplete) {
		return &harness.UsageError{What: fmt.Sprintf("%s: %s", path, err), Fix: "record again"}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	options.Against = r
	fmt.Fprintf(stderr, "against %s\n", r)
	if ids, why := r.Stale(options.Select); len(ids) > 0 {
		fmt.Fprintf(stderr, "note: %s cannot be judged against it, such as %s: %s; record again\n", count(len(ids), "scenario"), ids[0], why[0])
	}
	return nil
}

// open begins to record, when that is asked for; else it returns nil.
func (f *recordingFlags) open() (*tape, error) {
	if f.to == "" {
		return nil, nil
	}
	lock, err := ownFolder(f.to)
	if err != nil {
		return nil, noTape(err)
	}
	path := filepath.Join(f.to, recordingName)
	var file *os.File
	if err = regular.CheckNew(path); err == nil {
		file, err = regular.Create(path + ".part")
	}
	if err != nil {
		lock.Close()
		return nil, noTape(err)
	}
	return &tape{path, file, lock}, nil
}

func noTape(err error) error {
	return &harness.UsageError{What: "recording: " + err.Error(), Fix: "name another folder with --record"}
}

// A tape is a recording under way. It takes the place of an older one when it is whole.
type tape struct {
	path string
	file *os.File
	lock io.Closer // of the folder
}

// end ends the recording; of a run that did not come to its end there is none.
func (t *tape) end(whole bool) error {
	if t == nil {
		return nil
	}
	defer t.lock.Close()
	if err := t.file.Close(); err != nil || !whole {
		return errors.Join(err, os.Remove(t.file.Name()))
	}
	return os.Rename(t.file.Name(), t.path)
}
