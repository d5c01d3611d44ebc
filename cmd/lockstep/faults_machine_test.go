//go:build unix

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/faux"
)

// machineFaults are faults of the machine that lockstep runs on, and interrupts by its user.
func machineFaults() []*surrounding {
	return []*surrounding{
		{doc: "files may not grow", code: exitUnknown, says: "run.jsonl: file too large", set: func(_ *testing.T, l *lab) { l.limits = "ulimit -f 4" }},
		{doc: "files may not grow and something differs", code: exitDiffer, says: "run.jsonl: file too large", set: func(t *testing.T, l *lab) {
			l.testProject, l.limits = two(t, "other-value"), "ulimit -f 4"
		}},
		{doc: "the page may not grow", code: exitUnknown, says: "report.html.part: file too large", set: func(_ *testing.T, l *lab) { l.limits = "ulimit -f 48" }},
		{doc: "no file may be written", code: exitUnknown, says: "run.jsonl: file too large", set: func(_ *testing.T, l *lab) { l.limits = "ulimit -f 0" }},
		{doc: "too few files may be open to run", code: exitUnknown, says: "too many open files", set: func(t *testing.T, l *lab) {
			l.testProject, l.limits = two(t, ""), "ulimit -n 9"
			l.write(t, "lockstep.yaml", strings.ReplaceAll(l.read("lockstep.yaml"), "{get: /health}", "{get: /health, within: 300ms}"))
		}},
		{doc: "too few files may be open to start a target", code: exitUnknown, says: "too many open files", set: func(t *testing.T, l *lab) {
			started("wrong", "right")(t, l)
			l.limits = "ulimit -n 12"
		}},
		{doc: "nobody reads standard output", code: exitUnknown, says: "broken pipe", set: func(t *testing.T, l *lab) { l.stdout = deaf(t) }},
		{doc: "nobody reads standard output of judge", code: exitUnknown, says: "broken pipe", set: after(func(t *testing.T, l *lab) { l.stdout = deaf(t) })},
		{doc: "nobody reads standard error", code: exitDiffer, says: "differ in 1 of 1", set: func(t *testing.T, l *lab) {
			l.testProject, l.stderr = two(t, "other-value"), deaf(t)
		}},
		{doc: "standard output is full", code: exitUnknown, says: "no space left on device", set: func(t *testing.T, l *lab) {
			file, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Skip("there is no device that is always full: ", err)
			}
			t.Cleanup(func() { file.Close() })
			l.stdout = file
		}},
		{doc: "SIGINT", code: exitUnknown, says: "interrupt signal received", set: signalled(syscall.SIGINT, "right")},
		{doc: "SIGTERM", code: exitUnknown, says: "terminated signal received", set: signalled(syscall.SIGTERM, "right")},
		{doc: "SIGHUP", code: exitUnknown, says: "hangup signal received", set: signalled(syscall.SIGHUP, "right")},
		{doc: "SIGKILL", code: killed, says: "killed", set: signalled(syscall.SIGKILL, "right")},
		{doc: "SIGTERM beside a daemon of the target", code: exitUnknown, says: "terminated signal received", set: signalled(syscall.SIGTERM, "daemonizes")},
		{doc: "SIGKILL beside a daemon of the target", code: killed, says: "killed", set: signalled(syscall.SIGKILL, "daemonizes")},
	}
}

// signalled sets up a project in which lockstep gets a signal while a server does not answer.
func signalled(signal syscall.Signal, role string) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) {
		hang := faux.Serve(t, &faux.Server{Fault: faux.Named(t, "hang"), Asked: func(asked string) {
			if asked == "POST /items" {
				l.once.Do(func() { syscall.Kill(<-l.begun, signal) })
			}
		}})
		l.testProject = newProject(t, start(t, "right", role, ""), at("wrong", hang))
	}
}

// deaf returns a pipe whose reading end is closed.
func deaf(t *testing.T) *os.File {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out.Close()
	t.Cleanup(func() { in.Close() })
	return in
}
