//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// reportFaults are faults of the files that a run writes, or must not overwrite.
func reportFaults() []*surrounding {
	return []*surrounding{
		{doc: "another run writes to the reports", code: exitUsage, says: "is writing to reports\n\tfix: name another folder with --reports", set: shared("run", "events/story")},
		{doc: "another run writes where a merge wants to", code: exitUsage, says: "is writing to reports\n\tfix: name another folder with --reports", set: func(t *testing.T, l *lab) {
			shared()(t, l)
			l.args = []string{"merge", filepath.Join(l.dir, "shard/run.jsonl")}
		}},
		{doc: "the run file is a link", code: exitUsage, says: "reports/run.jsonl: it is a symbolic link", set: linked("run.jsonl")},
		{doc: "the JSON report is a link", code: exitUsage, says: "reports/report.json: it is a symbolic link", set: linked("report.json")},
		{doc: "an unfinished report is a link", code: exitUsage, says: "reports/junit.xml.part: it is a symbolic link", set: linked("junit.xml.part")},
		{doc: "the lock is a link", code: exitUsage, says: "reports/.lock: it is a symbolic link", set: linked(".lock")},
		{doc: "the run file is a pipe", code: exitUsage, says: "reports/run.jsonl: it is a named pipe", set: piped("reports/run.jsonl")},
		{doc: "a report is a pipe", code: exitUsage, says: "reports/badge.svg: it is a named pipe", set: piped("reports/badge.svg")},
		{doc: "a recording is a pipe", code: exitUsage, says: "recordings/recording.jsonl.part: it is a named pipe", set: func(t *testing.T, l *lab) {
			piped("recordings/recording.jsonl.part")(t, l)
			l.args = []string{"run", "items/story", "--record", filepath.Join(l.dir, "recordings")}
		}},
		{doc: "the project is a pipe", code: exitUsage, says: "lockstep.yaml: it is a named pipe", set: piped("lockstep.yaml")},
		{doc: "the contract is a pipe", code: exitUsage, says: "openapi.yaml: it is a named pipe", set: piped("openapi.yaml")},
		{doc: "a scenario is a pipe", code: exitUsage, says: "scenarios/pipe.yaml: it is a named pipe", set: piped("scenarios/pipe.yaml")},
		{doc: "the waivers are a pipe", code: exitUsage, says: "scenarios/waivers.yaml: it is a named pipe", set: piped("scenarios/waivers.yaml")},
		{doc: "the baseline is a pipe", code: exitUsage, says: "known.json: it is a named pipe", set: piped("known.json", "run", "items/story", "--baseline", "known.json")},
		{doc: "the run file to judge is a pipe", code: exitUsage, says: "reports/run.jsonl: it is a named pipe", set: piped("reports/run.jsonl", "judge")},
		{doc: "a shard is a device", code: exitUsage, says: "/dev/zero: it is a device", set: files(func(*testing.T, *lab) {}, "merge", "/dev/zero")},
		{doc: "reports in the place of a file", code: exitUsage, says: "name another folder with --reports", set: files(func(*testing.T, *lab) {}, "run", "items/story", "--reports", "openapi.yaml")},
		{doc: "reports where nothing may be written", code: exitUsage, says: "name another folder with --reports", set: files(func(*testing.T, *lab) {}, "run", "items/story", "--reports", "/proc/reports")},
	}
}

// linked sets up a project in which a report is a link to another file.
func linked(name string) func(*testing.T, *lab) {
	return files(func(t *testing.T, l *lab) {
		l.write(t, "reports/.keep", "")
		l.write(t, "precious", "precious")
		if err := os.Symlink("../precious", filepath.Join(l.dir, "reports", name)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if text := l.read("precious"); text != "precious" {
				t.Errorf("the file behind the link has become %q", text)
			}
		})
	})
}

// piped sets up a project in which a file is a pipe without a reader or writer.
func piped(name string, args ...string) func(*testing.T, *lab) {
	return files(func(t *testing.T, l *lab) {
		l.write(t, name, "") // creates the folder
		testfile.Remove(t, filepath.Join(l.dir, name))
		if err := syscall.Mkfifo(filepath.Join(l.dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}, args...)
}

// shared sets up a project with another lockstep writing to its reports folder, after one run of its only shard.
func shared(args ...string) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) {
		begun, end := make(chan struct{}), make(chan struct{})
		address := l.when(t, "GET /items/{id}/label", func() { close(begun); <-end })
		l.testProject, l.args = newProject(t, at("right", address), at("wrong", faux.Serve(t, &faux.Server{}))), args
		if o := l.do(t, "run", "events/story", "--shard", "1/1", "--reports", "shard"); o.code != exitMatch {
			t.Fatalf("%+v", o)
		}
		first := lab{testProject: l.testProject, begun: make(chan int, 1)}
		done := make(chan struct{})
		go func() {
			defer close(done)
			if code, out := first.run(t); code != exitMatch {
				t.Errorf("the first run: exit code %d\n%s", code, out)
			}
		}()
		<-begun
		l.end = func() { close(end); <-done }
	}
}
