package logfile_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/files/logfile"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.FixedZone("", 3600))

func path(dir string) string {
	return filepath.Join(dir, "2026-03-04", fmt.Sprintf("040607-%d.log", os.Getpid()))
}

func TestLinesGoToTheStreamAndToTheFileOfTheStart(t *testing.T) {
	dir := t.TempDir()
	var stream bytes.Buffer
	l := logfile.Open(dir, now, &stream)
	fmt.Fprintln(l, "a")
	fmt.Fprintln(l, "b")
	l.Close()
	fmt.Fprintln(l, "c")
	if got := stream.String(); got != "a\nb\nc\n" {
		t.Errorf("the stream has %q", got)
	}
	got, err := os.ReadFile(path(dir))
	if err != nil || string(got) != "a\nb\n" {
		t.Errorf("the file has %q, %v", got, err)
	}
	if info, err := os.Stat(path(dir)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v; want mode 0600", info, err)
	}
}

func TestTheLastLineOfAFullFileReportsTheLimit(t *testing.T) {
	dir := t.TempDir()
	var stream bytes.Buffer
	l := logfile.Open(dir, now, &stream)
	defer l.Close()
	line := strings.Repeat("x", 1<<20-1) + "\n"
	for range 20 {
		fmt.Fprint(l, line)
	}
	if stream.Len() != 20<<20 {
		t.Errorf("the stream has %d bytes, want all of 20 MiB", stream.Len())
	}
	got, err := os.ReadFile(path(dir))
	if err != nil || len(got) > 16<<20 || !bytes.HasSuffix(got, []byte("x\nthe log ends here: it has 16 MiB\n")) {
		t.Errorf("the file has %d bytes and ends with %q, %v", len(got), got[max(0, len(got)-50):], err)
	}
}

func TestOldFilesAreRemovedAtTheStart(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{"a/old.log": 15 * 24 * time.Hour, "b/old.log": 15 * 24 * time.Hour, "b/young.log": 13 * 24 * time.Hour, "c/notes.txt": 99 * 24 * time.Hour} {
		file := filepath.Join(dir, name)
		testfile.Write(t, file, "")
		if err := os.Chtimes(file, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	logfile.Open(dir, now, new(bytes.Buffer)).Close()
	for name, want := range map[string]bool{"a": false, "b/old.log": false, "b/young.log": true, "c/notes.txt": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s is there: %t, want %t", name, err == nil, want)
		}
	}
}

func TestALogThatCannotBeWrittenIsReportedOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	testfile.Write(t, dir, "")
	var stream bytes.Buffer
	l := logfile.Open(dir, now, &stream)
	defer l.Close()
	fmt.Fprintln(l, "a")
	fmt.Fprintln(l, "b")
	if lines := strings.Split(stream.String(), "\n"); len(lines) != 4 || !strings.HasPrefix(lines[0], "the log file is not written: ") || lines[1] != "a" {
		t.Errorf("the stream has %q", &stream)
	}
}
