//go:build unix

package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/internal/syncbuffer"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// A watched is a running watcher, whose clock and files the test controls.
type watched struct {
	testProject
	ticks     chan time.Time
	looked    chan struct{}
	lines     chan string // from standard error
	interrupt context.CancelFunc
	ended     chan error
	at        time.Time // the modification time of the last file written
}

// watch starts to watch a project.
func (p testProject) watch(t *testing.T, args ...string) *watched {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	x := &watched{testProject: p, ticks: make(chan time.Time), looked: make(chan struct{}), lines: make(chan string, 1000), interrupt: interrupt, ended: make(chan error, 1), at: time.Now()}
	f := &runFlags{config: p.file, reports: "-", output: outputFlags{format: "text", color: "never"}}
	f.selection.Paths = args
	w := &environment{stdout: io.Discard, stderr: lineWriter{x.lines, p.dir}, environ: os.Environ(), getenv: func(string) string { return "" }}
	watcher := newWatcher(f, w, x.ticks)
	watcher.looked = func() { x.looked <- struct{}{} }
	go func() { x.ended <- watcher.loop(ctx) }()
	t.Cleanup(func() {
		interrupt()
		if err, open := <-x.ended; err != nil && open {
			t.Errorf("watch: %v", err)
		}
	})
	return x
}

// A lineWriter sends each written line to a channel. Every write must be whole lines.
type lineWriter struct {
	to  chan<- string
	dir string
}

func (w lineWriter) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		w.to <- strings.ReplaceAll(strings.TrimSuffix(line, "\n"), w.dir+"/", "")
	}
	return len(p), nil
}

// says reads lines up to one with the given prefix, and returns all of them.
func (x *watched) says(t *testing.T, prefix string) []string {
	t.Helper()
	var seen []string
	for {
		select {
		case line := <-x.lines:
			seen = append(seen, line)
			if strings.HasPrefix(line, prefix) {
				return seen
			}
		case err := <-x.ended:
			t.Fatalf("it ended with %v and had said %q", err, seen)
		case <-time.After(time.Minute):
			t.Fatalf("it does not say %q but %q", prefix, seen)
		}
	}
}

// changes writes a file, with a modification time that no file had before.
func (x *watched) changes(t *testing.T, name, text string) {
	t.Helper()
	x.write(t, name, text)
	x.at = x.at.Add(time.Second)
	if err := os.Chtimes(filepath.Join(x.dir, name), x.at, x.at); err != nil {
		t.Fatal(err)
	}
}

// looks lets the watcher check the files once.
func (x *watched) looks() {
	x.ticks <- time.Time{}
	<-x.looked
}

// settles lets the watcher check the files twice, because a change counts only when the files have stopped changing.
func (x *watched) settles() {
	x.looks()
	x.looks()
}

const health = "why: It is up\nsource: x\nsteps: [{http: GET /health}]\n"

func TestWatchRunsWhatAChangeTouches(t *testing.T) {
	p := newProject(t, at("right", faux.Serve(t, &faux.Server{})), at("wrong", faux.Serve(t, &faux.Server{Fault: faux.Named(t, "wrong-status")})))
	if err := os.RemoveAll(filepath.Join(p.dir, "scenarios/process")); err != nil { // they need processes
		t.Fatal(err)
	}
	x := p.watch(t, "items")
	x.says(t, "watch: round 1 at ")
	x.says(t, "watch: 1 red: items/story; waiting for a change, Ctrl-C ends")

	x.changes(t, "scenarios/items/one.yaml", "scenario: items/one\n"+health)
	x.settles()
	if got := x.says(t, "watch: 1 red"); !strings.HasSuffix(got[0], "scenarios/items/one.yaml changed, 1 scenario, 0 of them red") || len(got) != 2 {
		t.Errorf("a new scenario: %q", got)
	}

	x.changes(t, "scenarios/items/story.yaml", "scenario: items/story\n"+health)
	x.settles()
	if got := x.says(t, "watch: all green"); !strings.HasSuffix(got[0], "scenarios/items/story.yaml changed, 1 scenario, 1 of them red") {
		t.Errorf("a scenario that was red: %q", got)
	}

	x.changes(t, "scenarios/events/end.yaml", "scenario: events/end\n"+health)
	x.settles()
	if got := x.says(t, "watch: all green"); got[0] != "watch: scenarios/events/end.yaml changed: no selected scenario depends on it" {
		t.Errorf("a scenario that is not selected: %q", got)
	}

	x.changes(t, "openapi.yaml", p.read("openapi.yaml")+"# changed\n")
	x.settles()
	if got := x.says(t, "watch: all green"); !strings.HasSuffix(got[0], "openapi.yaml changed, 3 scenarios, 0 of them red") {
		t.Errorf("the contract: %q", got)
	}

	testfile.Remove(t, filepath.Join(x.dir, "scenarios/items/one.yaml"))
	x.settles()
	if got := x.says(t, "watch: all green"); got[0] != "watch: scenarios/items/one.yaml changed: no selected scenario depends on it" {
		t.Errorf("a scenario that is gone: %q", got)
	}
}

// TestWatchSurvivesMistakes checks that a mistake is reported and does not end the watch. After the fix, what was red
// runs first.
func TestWatchSurvivesMistakes(t *testing.T) {
	p := newProject(t, at("right", faux.Serve(t, &faux.Server{})), at("wrong", faux.Serve(t, &faux.Server{Fault: faux.Named(t, "wrong-status")})))
	whole := p.read("lockstep.yaml")
	p.write(t, "lockstep.yaml", strings.Replace(whole, "reference: right", "reference: left", 1))
	x := p.watch(t, "items")
	if got := x.says(t, "watch: nothing was judged; waiting"); got[0] != `lockstep.yaml:3:12: reference "left" is not a target` {
		t.Errorf("%q", got)
	}
	x.changes(t, "lockstep.yaml", whole)
	x.settles()
	x.says(t, "watch: 1 red: items/story")

	x.changes(t, "scenarios/items/story.yaml", "scenario: items/story\nwhy: It\n")
	x.settles()
	if got := x.says(t, "watch: nothing was judged; 1 red before"); !strings.HasPrefix(got[0], "scenarios/items/story.yaml:1:1: ") {
		t.Errorf("%q", got)
	}
	// A change that could not be judged is not forgotten: once the files can be read, all scenarios run.
	x.changes(t, "scenarios/items/story.yaml", "scenario: items/story\n"+health)
	x.settles()
	if got := x.says(t, "watch: all green"); !strings.HasSuffix(got[0], "scenarios/items/story.yaml changed, 2 scenarios, 1 of them red") {
		t.Errorf("%q", got)
	}
	x.changes(t, "lockstep.yaml", whole+"# changed\n")
	x.changes(t, "scenarios/items/story.yaml", "scenario: items/story\n"+health+"# changed\n")
	x.settles()
	if got := x.says(t, "watch: all green"); !strings.HasSuffix(got[0], "lockstep.yaml, scenarios/items/story.yaml changed, 2 scenarios, 0 of them red") {
		t.Errorf("%q", got)
	}
}

// TestWatchFollowsTheSourcesOfATarget checks that a change to the target's source runs every scenario again, once the
// files have stopped changing.
func TestWatchFollowsTheSourcesOfATarget(t *testing.T) {
	url := faux.Serve(t, &faux.Server{})
	p := newProject(t, `  right: {url: "`+url+`", ready: {get: /health}, watch: ["src/**/*.go"]}`)
	x := p.watch(t, "items")
	x.says(t, "watch: all green")
	x.changes(t, "src/deep/main.go", "package main\n")
	x.looks()
	x.changes(t, "src/deep/main.go", "package main // again\n")
	x.looks()
	select {
	case line := <-x.lines:
		t.Errorf("it says %q while files are written", line)
	default:
	}
	x.looks()
	if got := x.says(t, "watch: all green"); !strings.HasSuffix(got[0], "src/deep/main.go changed, 2 scenarios, 0 of them red") {
		t.Errorf("%q", got)
	}
	x.changes(t, "src/deep/main.js", "no part of it\n")
	x.settles()
	x.looks() // after this, the watcher has handled the second check
	select {
	case line := <-x.lines:
		t.Errorf("it says %q of a file that nobody watches", line)
	default:
	}
}

// TestWatchIgnoresItsReports checks that the watcher ignores its reports, which each round replaces. Before the
// project is loaded, every document in its folder counts as a part of it.
func TestWatchIgnoresItsReports(t *testing.T) {
	p := newProject(t, at("right", faux.Serve(t, &faux.Server{})))
	p.write(t, "reports/report.json", "{}")
	x := p.watch(t, "items")
	x.says(t, "watch: all green")
	x.settles()
	x.looks()
	select {
	case line := <-x.lines:
		t.Errorf("it says %q, and nothing has changed", line)
	default:
	}
}

func TestWatchNamesTargetsWithoutSources(t *testing.T) {
	self := testfile.Program(t)
	for command, told := range map[string]bool{
		`["` + self + `", "${{ host }}:${{ port }}"]`:             false,
		`[sh, -c, "exec '` + self + `' ${{ host }}:${{ port }}"]`: true,
	} {
		p := newProject(t, `  right: {command: `+command+`, env: {`+roleVariable+`: right, GORACE: atexit_sleep_ms=0}, ready: {get: /health}}`)
		said := p.watch(t, "items").says(t, "watch: all green")
		const line = `watch: no file of target "right" is watched: list its files in lockstep.yaml, as in watch: ["src/**/*"]`
		if got := slices.Contains(said, line); got != told {
			t.Errorf("%s: %q", command, said)
		}
	}
}

func TestWhatWasRedRunsFirst(t *testing.T) {
	p := newProject(t, at("right", faux.Serve(t, &faux.Server{})))
	for _, id := range []string{"items/story", "process/stop", "items/every-step"} {
		var stderr syncbuffer.Buffer
		f := &runFlags{config: p.file, reports: "-", jobs: 1, first: []string{id}, output: outputFlags{format: "text", color: "never", verbose: true}}
		f.selection.Paths = []string{"items", "process"}
		_ = f.run(t.Context(), &environment{stdout: io.Discard, stderr: &stderr, environ: os.Environ(), getenv: func(string) string { return "" }})
		if !strings.Contains(stderr.String(), " "+id+" (1/3)\n") {
			t.Errorf("%s is not the first:\n%s", id, &stderr)
		}
	}
}

func TestWhatIsWrongWithWatchEndsIt(t *testing.T) {
	p := newProject(t, at("right", "http://127.0.0.1:1"))
	for _, tc := range []struct {
		args   []string
		stderr string
	}{
		{[]string{"item/story"}, "no scenario or folder is called \"item/story\"\n\tfix: did you mean \"items/story\"?"},
		{[]string{"--target", "rihgt"}, "target \"rihgt\" is not in lockstep.yaml\n\tfix: did you mean \"right\"?"},
		{[]string{"--format", "yaml"}, "--format is \"yaml\": write text, json, junit, html, markdown or github"},
		{[]string{"--jobs", "0"}, "--jobs is 0: write how many scenarios may run at a time"},
	} {
		if o := p.do(t, "watch", tc.args...); o.code != exitUsage || !strings.HasSuffix(o.stderr, "lockstep: "+tc.stderr+"\n") {
			t.Errorf("watch %q: %+v", tc.args, o)
		}
	}
}

// TestWatchLeavesNothingBehind interrupts the watcher in the middle of a round. It must end normally and leave no
// process.
func TestWatchLeavesNothingBehind(t *testing.T) {
	p := newProject(t, start(t, "right", "right", filepath.Join(t.TempDir(), "a")), start(t, "wrong", "right", filepath.Join(t.TempDir(), "b")))
	self := testfile.Program(t)
	cmd := exec.CommandContext(t.Context(), self, "watch", "-c", p.file, "--reports", "-", "items")
	cmd.Env = append(os.Environ(), roleVariable+"=lockstep", "GORACE=atexit_sleep_ms=0")
	lines := make(chan string, 1000)
	cmd.Stderr = lineWriter{lines, p.dir}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.Wait()
		close(lines)
	}()
	ready := false
	for line := range lines { // until the first round has ended
		if ready = strings.HasPrefix(line, "watch: all green; waiting"); ready {
			break
		}
	}
	if !ready {
		t.Fatalf("it ended by itself: %v", <-ended)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil || cmd.ProcessState.ExitCode() != exitMatch {
		t.Errorf("watch: %v", err)
	}
	if left := leak.Processes(); left != "" {
		t.Errorf("left behind: %s", left)
	}
}
