//go:build unix

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/syncbuffer"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// A surrounding is one fault in the surroundings of a run: in a target's life, the machine, or the files. lockstep
// runs as a separate process. It must not exit with 0, must print what happened, and must leave no process behind.
type surrounding struct {
	doc  string // the fault
	code int    // -1: it ended by a signal
	says string // on either output
	set  func(t *testing.T, l *lab)
}

// A lab is where a fault is injected.
type lab struct {
	testProject
	args   []string // default: run items/story of the project
	limits string   // a command of the shell that starts lockstep: "ulimit -n 12"
	room   int64    // how much memory it may use, in bytes; 0: any amount
	stdout *os.File // replaces the standard output that is checked
	stderr *os.File
	once   sync.Once
	begun  chan int // receives lockstep's process ID
	end    func()   // ends what runs beside it
}

const killed = -1

func TestNothingAroundARunMakesItGreen(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	gate := make(chan struct{}, max(2, runtime.GOMAXPROCS(0))) // an overloaded machine would be a fault of its own
	for _, f := range surroundings() {
		t.Run(strings.ReplaceAll(f.doc, " ", "-"), func(t *testing.T) {
			t.Parallel()
			gate <- struct{}{}
			defer func() { <-gate }()
			f.inject(t)
		})
	}
}

func TestThereAreManyFaults(t *testing.T) {
	docs := map[string]bool{}
	for _, f := range surroundings() {
		if f.doc == "" || f.says == "" || f.code == exitMatch || docs[f.doc] {
			t.Errorf("%+v: what it is, and what is to be said of it, must be there", f)
		}
		docs[f.doc] = true
	}
	if len(docs) < 30 {
		t.Errorf("there are %d faults", len(docs))
	}
}

// surroundings lists all faults.
func surroundings() []*surrounding {
	return slices.Concat(targetFaults(), answerFaults(), machineFaults(), reportFaults(), projectFaults(), runFileFaults())
}

// inject injects the fault. It fails unless lockstep reports the fault and every process has ended.
func (f *surrounding) inject(t *testing.T) {
	l := &lab{begun: make(chan int, 1)}
	f.set(t, l)
	if l.dir == "" {
		l.testProject = two(t, "")
	}
	code, out := l.run(t)
	if l.end != nil {
		l.end()
	}
	if code != f.code {
		t.Errorf("exit code %d, want %d", code, f.code)
	}
	if !strings.Contains(out, f.says) {
		t.Errorf("it does not say %q", f.says)
	}
	for _, raw := range []string{"goroutine 1 [", "fatal error:", "WARNING: DATA RACE"} {
		if strings.Contains(out, raw) {
			t.Errorf("the program itself broke: %q", raw)
		}
	}
	out = l.isBrief(t, out)
	if t.Failed() {
		t.Logf("it said:\n%s", out)
	}
	l.isEmpty(t)
}

// run runs lockstep, and returns its exit code and all output.
func (l *lab) run(t *testing.T) (code int, out string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args := l.args
	if len(args) == 0 {
		args = []string{"run", "items/story"}
	}
	args = append(args[:1:1], append([]string{"--config", l.file}, args[1:]...)...)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	if l.limits != "" {
		cmd = exec.CommandContext(ctx, "sh", append([]string{"-c", l.limits + ` && exec "$0" "$@"`, os.Args[0]}, args...)...)
	}
	cmd.Env = append(os.Environ(), roleVariable+"=lockstep", "GORACE=atexit_sleep_ms=0")
	var b syncbuffer.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	if l.stdout != nil {
		cmd.Stdout = l.stdout
	}
	if l.stderr != nil {
		cmd.Stderr = l.stderr
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l.begun <- cmd.Process.Pid
	cmd.Wait() // ProcessState says how it ended
	l.isSmall(t, cmd)
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return killed, b.String() + cmd.ProcessState.String()
	}
	return cmd.ProcessState.ExitCode(), strings.ReplaceAll(b.String(), l.dir+"/", "")
}

// isSmall fails if lockstep used more memory than the lab allows. A process inherits the peak of its parent.
func (l *lab) isSmall(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var self syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &self); err != nil || l.room == 0 {
		return
	}
	if peak := peakOf(cmd.ProcessState.SysUsage().(*syscall.Rusage)); peak > max(l.room, peakOf(&self)) {
		t.Errorf("it took %d bytes of memory, and may take %d", peak, l.room)
	}
}

// isBrief fails if the output or a report is too long, and returns the part of the output to show. The run file may
// be long, because it has everything.
func (l *lab) isBrief(t *testing.T, out string) string {
	t.Helper()
	reports, _ := filepath.Glob(filepath.Join(l.dir, "reports", "*"))
	for _, file := range reports {
		if info, err := os.Stat(file); err == nil && info.Size() > 5_000_000 && filepath.Base(file) != "run.jsonl" {
			t.Errorf("%s has %d bytes", filepath.Base(file), info.Size())
		}
	}
	if len(out) > 100_000 {
		t.Errorf("it says %d bytes", len(out))
		out = out[:2000]
	}
	return out
}

// isEmpty fails if a process of the lab's targets still runs. They run in its folder.
func (l *lab) isEmpty(t *testing.T) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(l.dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		left = nil
		links, _ := filepath.Glob("/proc/[0-9]*/cwd")
		for _, link := range links {
			if cwd, err := os.Readlink(link); err == nil && (cwd == dir || strings.HasPrefix(cwd, dir+"/")) {
				left = append(left, link)
			}
		}
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("processes are left: %q", left)
}

// when returns a correct server that calls do at the first request of an operation.
func (l *lab) when(t *testing.T, operation string, do func()) string {
	return faux.Serve(t, &faux.Server{Asked: func(asked string) {
		if asked == operation {
			l.once.Do(do)
		}
	}})
}

// files sets up a project of two correct servers, after changing its files.
func files(do func(t *testing.T, l *lab), args ...string) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) {
		l.testProject, l.args = two(t, ""), args
		do(t, l)
	}
}

// edited sets up a project with another text in one of its files; "" removes the file.
func edited(name, text string, args ...string) func(*testing.T, *lab) {
	return files(func(t *testing.T, l *lab) {
		if text == "" {
			testfile.Remove(t, filepath.Join(l.dir, name))
			return
		}
		l.write(t, name, text)
	}, args...)
}

// wrongly sets up a project whose candidate has a fault.
func wrongly(id string, args ...string) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) { l.testProject, l.args = two(t, id), args }
}

func wronglyReference(id string, args ...string) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) {
		wrong, right := faux.Serve(t, &faux.Server{Fault: faux.Named(t, id)}), faux.Serve(t, &faux.Server{})
		l.testProject, l.args = newProject(t, at("right", wrong), at("wrong", right)), args
	}
}
