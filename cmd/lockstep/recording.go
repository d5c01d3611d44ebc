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

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/regular"
)

// recordingName is the name of the recording file in its folder.
const recordingName = "recording.jsonl"

// recordingFlags are the flags of lockstep run about recordings.
type recordingFlags struct {
	record        string // the folder to record into
	againstFolder string // the folder with the recording that replaces the reference
	version       string
}

func (f *recordingFlags) declare(fl *pflag.FlagSet) {
	f.declareRecord(fl)
	fl.StringVar(&f.againstFolder, "against", "", "judge against the recording in this folder, instead of running the reference")
	fl.StringVar(&f.version, "reference-version", "", "the version of the reference that a recording names (default the checksum of targets.….version.file)")
}

// declareRecord declares the only one of these flags that lockstep merge has. A single shard cannot be recorded; the
// merged run can.
func (f *recordingFlags) declareRecord(fl *pflag.FlagSet) {
	fl.StringVar(&f.record, "record", "", "record what the reference did in this folder, as "+recordingName)
}

// against reads the recording that replaces the reference, and prints which one it is.
func (f *recordingFlags) against(p *project.Project, options *engine.Options, stderr io.Writer) error {
	switch {
	case f.againstFolder != "" && f.record != "":
		return &project.UsageError{What: "--record and --against exclude each other", Fix: "leave out --against: only a run with the reference itself can be recorded"}
	case f.record != "":
		options.Record = io.Discard // a run that cannot be recorded fails early; the file is opened later
		return nil
	case f.againstFolder == "":
		return nil
	}
	path := filepath.Join(f.againstFolder, recordingName)
	file, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &project.UsageError{What: path + ": no such file", Fix: "`lockstep run --record " + f.againstFolder + "` writes it"}
	}
	if err != nil {
		return err
	}
	defer file.Close()
	r, err := runfile.ReadRecording(p, bufio.NewReaderSize(file, 1<<20), f.version)
	if errors.Is(err, transcript.ErrIncomplete) {
		return &project.UsageError{What: fmt.Sprintf("%s: %s", path, err), Fix: "record again"}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	options.Against = r
	fmt.Fprintf(stderr, "against %s\n", r)
	if ids, why := r.Stale(options.Select); len(ids) > 0 {
		fmt.Fprintf(stderr, "note: %s cannot be judged against it, for example %s: %s; record again\n", count(len(ids), "scenario"), ids[0], why[0])
	}
	return nil
}

// open starts the recording. It returns nil if --record is not set.
func (f *recordingFlags) open() (*recordingFile, error) {
	if f.record == "" {
		return nil, nil
	}
	lock, err := ownFolder(f.record)
	if err != nil {
		return nil, recordingError(err)
	}
	path := filepath.Join(f.record, recordingName)
	var file *os.File
	if err = regular.CheckNew(path); err == nil {
		file, err = regular.Create(path + ".part")
	}
	if err != nil {
		lock.Close()
		return nil, recordingError(err)
	}
	return &recordingFile{path, file, lock}, nil
}

func recordingError(err error) error {
	return &project.UsageError{What: "recording: " + err.Error(), Fix: "name another folder with --record"}
}

// A recordingFile is a recording in progress. It replaces an older one when it is complete.
type recordingFile struct {
	path string
	file *os.File
	lock io.Closer // of the folder
}

// end finishes the recording, or removes it if the run is incomplete.
func (t *recordingFile) end(whole bool) error {
	if t == nil {
		return nil
	}
	defer t.lock.Close()
	if err := t.file.Close(); err != nil || !whole {
		return errors.Join(err, os.Remove(t.file.Name()))
	}
	return os.Rename(t.file.Name(), t.path)
}
