//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/andybalholm/brotli"

	"github.com/lockstep-dev/lockstep/internal/faux"
)

// A surrounding is one thing that is wrong around a run: with a target's life, the machine, or the files. Each is injected into
// lockstep as a process of its own. None may end in 0, each has its exit code and says what happened, and none leaves a
// process behind.
type surrounding struct {
	doc  string // what is wrong
	code int    // -1: it ended by a signal
	says string // on either output
	set  func(t *testing.T, l *lab)
}

// A lab is where a fault is injected.
type lab struct {
	project
	args   []string // items/story of the project, when empty
	limits string   // of the shell that starts it: "ulimit -n 12"
	stdout *os.File // in the place of what is looked at
	stderr *os.File
	once   sync.Once
	begun  chan int // gets lockstep's process
	end    func()   // ends what goes on beside it
}

const killed = -1

func TestNothingAroundARunMakesItGreen(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	gate := make(chan struct{}, max(2, runtime.GOMAXPROCS(0))) // a machine that is too busy would be a fault of its own
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

// inject injects the fault, and fails unless it is told, and everything has ended.
func (f *surrounding) inject(t *testing.T) {
	l := &lab{begun: make(chan int, 1)}
	f.set(t, l)
	if l.dir == "" {
		l.project = two(t, "")
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
	if len(out) > 100_000 {
		t.Errorf("it says %d bytes", len(out))
		out = out[:2000]
	}
	if t.Failed() {
		t.Logf("it said:\n%s", out)
	}
	l.isEmpty(t)
}

// run runs lockstep, and returns its exit code and all it says.
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
	var b buffer
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
	cmd.Wait() // how it ended is in ProcessState
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return killed, b.String() + cmd.ProcessState.String()
	}
	return cmd.ProcessState.ExitCode(), strings.ReplaceAll(b.String(), l.dir+"/", "")
}

// isEmpty fails when a process of the lab's targets is still there. They run in its folder.
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

// when returns a right server that does something when it is asked for an operation the first time.
func (l *lab) when(t *testing.T, operation string, do func()) string {
	return serve(t, &faux.Server{Asked: func(asked string) {
		if asked == operation {
			l.once.Do(do)
		}
	}})
}

// files makes the lab a project of two right servers, in which something has been done to its files.
func files(do func(t *testing.T, l *lab), args ...string) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) {
		l.project, l.args = two(t, ""), args
		do(t, l)
	}
}

// edited makes the lab a project with another text in one of its files; "" takes the file away.
func edited(name, text string, args ...string) func(*testing.T, *lab) {
	return files(func(t *testing.T, l *lab) {
		if text == "" {
			if err := os.Remove(filepath.Join(l.dir, name)); err != nil {
				t.Fatal(err)
			}
			return
		}
		l.write(t, name, text)
	}, args...)
}

// after makes the lab a project that has run, and in which something has been done before its run file is judged.
func after(do func(t *testing.T, l *lab)) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) {
		l.project, l.args = two(t, ""), []string{"judge"}
		if o := l.do(t, "run", "items/story", "events/story"); o.code != exitMatch {
			t.Fatalf("%+v", o)
		}
		do(t, l)
	}
}

// changed makes the lab a project that has run, and whose run file is another one now.
func changed(change func(string) string) func(*testing.T, *lab) {
	return after(func(t *testing.T, l *lab) {
		l.write(t, "reports/run.jsonl", change(l.read("reports/run.jsonl")))
	})
}

// wrongly makes the lab a project with a server that has a fault, on one of its sides.
func wrongly(id string, args ...string) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) { l.project, l.args = two(t, id), args }
}

func wronglyReference(id string, args ...string) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) {
		wrong, right := serve(t, &faux.Server{Fault: fault(t, id)}), serve(t, &faux.Server{})
		l.project, l.args = newProject(t, at("right", wrong), at("wrong", right)), args
	}
}

// coded makes the lab a project whose servers answer one step, which asks for any content coding, with the faults of package faux.
// One that is nil is right.
func coded(right, wrong *faux.Fault) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) {
		l.project = newProject(t, at("right", serve(t, &faux.Server{Fault: right})), at("wrong", serve(t, &faux.Server{Fault: wrong})))
		const step = "  - http: GET /items/${{ lamp }}\n"
		story := l.read("scenarios/items/story.yaml")
		l.write(t, "scenarios/items/story.yaml", strings.Replace(story, step, step+"    headers: {Accept-Encoding: \"*\"}\n", 1))
		l.write(t, "lockstep.yaml", strings.Replace(l.read("lockstep.yaml"), "limits: {", "limits: {body: 1000000, ", 1))
		l.write(t, "openapi.yaml", strings.Replace(l.read("openapi.yaml"), "'200':\n          description: The item.", "2XX:\n          description: The item.", 1))
	}
}

// codedAlike is coded with one fault on both sides.
func codedAlike(codings string, encode func([]byte) []byte) func(*testing.T, *lab) {
	return coded(faux.Coding(codings, encode), faux.Coding(codings, encode))
}

func plainly(body []byte) []byte { return body }

// brotlied returns a body in the coding br, with so many blanks before it.
func brotlied(blanks int) func([]byte) []byte {
	return func(body []byte) []byte {
		var b bytes.Buffer
		w := brotli.NewWriter(&b)
		_, _ = w.Write(append(bytes.Repeat([]byte(" "), blanks), body...))
		_ = w.Close()
		return b.Bytes()
	}
}

// started makes the lab a project with a server in the test and a process in a role, which is the candidate or the
// reference.
func started(name, role string, change ...string) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) {
		taken := listen(t).Addr().String()
		target := strings.NewReplacer(change...).Replace(start(t, name, role, taken))
		other := at("right", serve(t, &faux.Server{}))
		if name == "right" {
			other = at("wrong", serve(t, &faux.Server{}))
		}
		l.project = newProject(t, target, other)
	}
}

// squatted makes the lab a project with a candidate on whose port the test answers.
func squatted(t *testing.T, l *lab) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells who listens")
	}
	told := listen(t)
	go func() {
		line, err := told.Accept()
		if err != nil {
			return
		}
		defer line.Close()
		var address string
		fmt.Fscanln(line, &address)
		port, err := net.Listen("tcp", address)
		if err != nil {
			t.Error(err)
			return
		}
		s := &faux.Server{}
		context.AfterFunc(t.Context(), s.Close)
		s.Serve(port)
	}()
	target := strings.Replace(start(t, "wrong", "squatted", told.Addr().String()), "60s", "3s", 1)
	l.project = newProject(t, at("right", serve(t, &faux.Server{})), target)
}

// fresh makes the lab a project with two processes and a scenario that wants them newly started.
func fresh(right, wrong string) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) {
		l.project = newProject(t, start(t, "right", right, ""), start(t, "wrong", wrong, ""))
		story := strings.Replace(l.read("scenarios/items/story.yaml"), "scenario: items/story\n", "scenario: items/fresh\nisolate: fresh\n", 1)
		l.write(t, "scenarios/items/fresh.yaml", story)
		l.args = []string{"run", "items/fresh"}
	}
}

// shot makes the lab a project in which the process of that name is killed from outside in the middle of a scenario.
func shot(name string) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) {
		other := map[string]string{"right": "wrong", "wrong": "right"}[name]
		file := filepath.Join(t.TempDir(), "pid")
		address := l.when(t, "GET /items/{id}/label", func() {
			data, _ := os.ReadFile(file)
			pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
			if err != nil {
				t.Error(err)
				return
			}
			syscall.Kill(pid, syscall.SIGKILL)
		})
		target := strings.Replace(start(t, name, "right", ""), "command: [", `command: [sh, -c, 'echo $$ >`+file+`; exec "$0" "$@"', `, 1)
		l.project = newProject(t, target, at(other, address))
	}
}

// signalled makes the lab a project in which lockstep gets a signal while a server does not answer.
func signalled(signal syscall.Signal, role string) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) {
		hang := serve(t, &faux.Server{Fault: fault(t, "hang"), Asked: func(asked string) {
			if asked == "POST /items" {
				l.once.Do(func() { syscall.Kill(<-l.begun, signal) })
			}
		}})
		l.project = newProject(t, start(t, "right", role, ""), at("wrong", hang))
	}
}

// linked makes the lab a project one of whose reports is a link to another file.
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

// piped makes the lab a project one of whose files is a pipe that nobody reads or writes.
func piped(name string, args ...string) func(*testing.T, *lab) {
	return files(func(t *testing.T, l *lab) {
		l.write(t, name, "") // with its folder
		if err := os.Remove(filepath.Join(l.dir, name)); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(l.dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}, args...)
}

// shared makes the lab a project in whose reports folder another lockstep writes, after a run of its only shard.
func shared(args ...string) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) {
		begun, end := make(chan struct{}), make(chan struct{})
		address := l.when(t, "GET /items/{id}/label", func() { close(begun); <-end })
		l.project, l.args = newProject(t, at("right", address), at("wrong", serve(t, &faux.Server{}))), args
		if o := l.do(t, "run", "events/story", "--shard", "1/1", "--reports", "shard"); o.code != exitMatch {
			t.Fatalf("%+v", o)
		}
		first := lab{project: l.project, begun: make(chan int, 1)}
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

// deaf returns the end of a pipe that nobody reads.
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

// odd are the roles of processes that package faux does not have.
var odd = map[string]func(*faux.Process) int{
	"killed": func(p *faux.Process) int {
		p.Exit = func(int) { syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} }
		return p.Play(context.Background(), "exits-before-answer")
	},
	"floods-and-exits": func(*faux.Process) int {
		os.Stderr.WriteString(strings.Repeat("polishing the shelves\n", 100_000) + "the disk is full\n")
		return 3
	},
	"robbed": func(p *faux.Process) int { // somebody was faster, each time
		l, err := net.Listen("tcp", p.Listen)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer l.Close()
		return p.Play(context.Background(), "right")
	},
	"stubborn": func(p *faux.Process) int { // the address that it reports to is one that is taken
		p.Listen = p.Report
		return p.Play(context.Background(), "right")
	},
	"daemonizes": func(p *faux.Process) int {
		daemonize()
		return p.Play(context.Background(), "right")
	},
	"daemonizes-and-exits": func(p *faux.Process) int {
		daemonize()
		return p.Play(context.Background(), "exits-before-answer")
	},
	"squatted": func(p *faux.Process) int { // it tells where it should listen, and does not
		line, err := net.Dial("tcp", p.Report)
		if err != nil {
			return 1
		}
		fmt.Fprintln(line, p.Listen)
		select {}
	},
	"only-ready": func(p *faux.Process) int {
		l, err := net.Listen("tcp", p.Listen)
		if err != nil {
			return 1
		}
		s := &faux.Server{Asked: func(operation string) {
			if operation != "GET /health" {
				os.Exit(4)
			}
		}}
		s.Serve(l)
		return 1
	},
}

// daemonize starts a process in a session of its own, which nobody waits for.
func daemonize() {
	daemon := exec.Command("/bin/sleep", "1000")
	daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := daemon.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// surroundings lists the faults: those of targets, of the machine, of a person, of files, of a run file.
func surroundings() []*surrounding {
	return []*surrounding{
		{doc: "the candidate is killed in mid-run", code: exitDiffer, says: "signal: killed", set: shot("wrong")},
		{doc: "the reference is killed in mid-run", code: exitUnknown, says: "the reference's process ended: signal: killed", set: shot("right")},
		{doc: "a candidate of one scenario is killed", code: exitDiffer, says: "signal: killed", set: fresh("right", "killed")},
		{doc: "a reference of one scenario is killed", code: exitUnknown, says: "the reference's process ended: signal: killed", set: fresh("killed", "right")},
		{doc: "the candidate is never ready", code: exitUnknown, says: "not ready within 1s", set: started("wrong", "never-ready", "60s", "1s")},
		{doc: "the reference is never ready", code: exitUnknown, says: "not ready within 1s", set: started("right", "never-ready", "60s", "1s")},
		{doc: "the candidate exits at its start", code: exitUnknown, says: "exited before it was ready: exit status 3", set: started("wrong", "exits-at-start")},
		{doc: "the candidate is ready and then exits", code: exitDiffer, says: "exit status 4", set: started("wrong", "only-ready")},
		{doc: "the reference is ready and then exits", code: exitUnknown, says: "the reference's process ended: exit status 4", set: started("right", "only-ready")},
		{doc: "the candidate leaves a daemon and then exits", code: exitDiffer, says: "exit status", set: started("wrong", "daemonizes-and-exits")},
		{doc: "the candidate floods its log and exits", code: exitUnknown, says: "the disk is full", set: started("wrong", "floods-and-exits")},
		{doc: "the port is stolen each time", code: exitUnknown, says: "address already in use", set: started("wrong", "robbed")},
		{doc: "the candidate wants a fixed port that is taken", code: exitUnknown, says: "does not use ${{ port }} everywhere", set: started("wrong", "stubborn")},
		{doc: "another process answers on the candidate's port", code: exitUnknown, says: "which is not the target's, answers there", set: squatted},
		{doc: "nobody listens at the candidate's address", code: exitUnknown, says: `reach target "wrong": not ready within 300ms`, set: func(t *testing.T, l *lab) {
			wrong := strings.Replace(at("wrong", "http://127.0.0.1:1"), "{get: /health}", "{get: /health, within: 300ms}", 1)
			l.project = newProject(t, at("right", serve(t, &faux.Server{})), wrong)
		}},
		{doc: "the candidate hangs in one step", code: exitDiffer, says: "the step's 300ms were over", set: wrongly("hang-before-head", "run", "items/story", "--step-timeout", "300ms")},
		{doc: "the candidate hangs in a body", code: exitDiffer, says: "the step's 300ms were over", set: wrongly("hang-in-body", "run", "items/story", "--step-timeout", "300ms")},
		{doc: "the reference hangs in a body", code: exitDiffer, says: "the step's 300ms were over", set: wronglyReference("hang-in-body", "run", "items/story", "--step-timeout", "300ms")},
		{doc: "both hang in a body", code: exitDiffer, says: "the step's 300ms were over", set: func(t *testing.T, l *lab) {
			hangs := func() string { return serve(t, &faux.Server{Fault: fault(t, "hang-in-body")}) }
			l.project = newProject(t, at("right", hangs()), at("wrong", hangs()))
			l.args = []string{"run", "items/story", "--step-timeout", "300ms"}
		}},
		{doc: "half an answer", code: exitDiffer, says: "part in 1 of 1", set: wrongly("truncated-body")},
		{doc: "half a head", code: exitDiffer, says: "part in 1 of 1", set: wrongly("half-head")},
		{doc: "garbage in the place of HTTP", code: exitDiffer, says: "part in 1 of 1", set: wrongly("garbage")},
		{doc: "garbage from the reference", code: exitDiffer, says: "part in 1 of 1", set: wronglyReference("garbage")},
		{doc: "a body that does not end", code: exitDiffer, says: "part in 1 of 1", set: wrongly("gigabyte")},
		{doc: "the candidate's clock is far off", code: exitDiffer, says: "part in 1 of 1", set: wrongly("old-time")},
		{doc: "the reference's clock is far off", code: exitDiffer, says: "part in 1 of 1", set: wronglyReference("old-time")},
		{doc: "the scenario's limit is over", code: exitDiffer, says: "cut short: the scenario's 300ms were over", set: wrongly("hang-before-head", "run", "items/story", "--scenario-timeout", "300ms")},

		{doc: "a command that is missing", code: exitUsage, says: "there is no ", set: func(t *testing.T, l *lab) {
			l.project = newProject(t, at("right", serve(t, &faux.Server{})), `  wrong: {command: [./nowhere, "${{ port }}"], ready: {get: /health}}`)
		}},
		{doc: "a working directory that is missing", code: exitUsage, says: `directory "nowhere": no such file or directory`, set: func(t *testing.T, l *lab) {
			l.project = newProject(t, at("right", serve(t, &faux.Server{})), `  wrong: {command: [sh, "${{ port }}"], dir: nowhere, ready: {get: /health}}`)
		}},
		{doc: "a command that is no program", code: exitUnknown, says: "exec", set: func(t *testing.T, l *lab) {
			l.project = newProject(t, at("right", serve(t, &faux.Server{})), `  wrong: {command: [./lockstep.yaml, "${{ port }}"], ready: {get: /health}}`)
		}},
		{doc: "two targets at one address", code: exitUsage, says: `targets "right" and "wrong" are the same server`, set: twice("127.0.0.1")},
		{doc: "two targets at one address by two names", code: exitUsage, says: `targets "right" and "wrong" are the same server`, set: twice("localhost")},
		{doc: "two targets at one address written in two ways", code: exitUsage, says: `targets "right" and "wrong" are the same server`, set: twice("LOCALHOST")},
		{doc: "two targets at one address by the name of the machine", code: exitUsage, says: `targets "right" and "wrong" are the same server`, set: func(t *testing.T, l *lab) {
			name, err := os.Hostname()
			if _, fault := net.LookupHost(name); err != nil || fault != nil {
				t.Skip("this machine does not know its own name: ", err, fault)
			}
			twice(name)(t, l)
		}},
		{doc: "two targets at one address of IPv4 and IPv6", code: exitUsage, says: `targets "right" and "wrong" are the same server`, set: twice("[::1]")},

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
		{doc: "files may not grow", code: exitUnknown, says: "run.jsonl: file too large", set: func(_ *testing.T, l *lab) { l.limits = "ulimit -f 4" }},
		{doc: "files may not grow and something differs", code: exitDiffer, says: "run.jsonl: file too large", set: func(t *testing.T, l *lab) {
			l.project, l.limits = two(t, "other-value"), "ulimit -f 4"
		}},
		{doc: "the page may not grow", code: exitUnknown, says: "report.html.part: file too large", set: func(_ *testing.T, l *lab) { l.limits = "ulimit -f 48" }},
		{doc: "no file may be written", code: exitUnknown, says: "run.jsonl: file too large", set: func(_ *testing.T, l *lab) { l.limits = "ulimit -f 0" }},
		{doc: "too few files may be open to run", code: exitUnknown, says: "too many open files", set: func(_ *testing.T, l *lab) { l.limits = "ulimit -n 9" }},
		{doc: "too few files may be open to start a target", code: exitUnknown, says: "too many open files", set: func(t *testing.T, l *lab) {
			started("wrong", "right")(t, l)
			l.limits = "ulimit -n 12"
		}},
		{doc: "nobody reads standard output", code: exitUnknown, says: "broken pipe", set: func(t *testing.T, l *lab) { l.stdout = deaf(t) }},
		{doc: "nobody reads standard output of judge", code: exitUnknown, says: "broken pipe", set: after(func(t *testing.T, l *lab) { l.stdout = deaf(t) })},
		{doc: "nobody reads standard error", code: exitDiffer, says: "part in 1 of 1", set: func(t *testing.T, l *lab) {
			l.project, l.stderr = two(t, "other-value"), deaf(t)
		}},
		{doc: "standard output is full", code: exitUnknown, says: "no space left on device", set: func(t *testing.T, l *lab) {
			file, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Skip("there is no device that is always full: ", err)
			}
			t.Cleanup(func() { file.Close() })
			l.stdout = file
		}},
		{doc: "reports in the place of a file", code: exitUsage, says: "name another folder with --reports", set: files(func(*testing.T, *lab) {}, "run", "items/story", "--reports", "openapi.yaml")},
		{doc: "reports where nothing may be written", code: exitUsage, says: "name another folder with --reports", set: files(func(*testing.T, *lab) {}, "run", "items/story", "--reports", "/proc/reports")},

		{doc: "SIGINT", code: exitUnknown, says: "interrupt signal received", set: signalled(syscall.SIGINT, "right")},
		{doc: "SIGTERM", code: exitUnknown, says: "terminated signal received", set: signalled(syscall.SIGTERM, "right")},
		{doc: "SIGHUP", code: exitUnknown, says: "hangup signal received", set: signalled(syscall.SIGHUP, "right")},
		{doc: "SIGKILL", code: killed, says: "killed", set: signalled(syscall.SIGKILL, "right")},
		{doc: "SIGTERM beside a daemon of the target", code: exitUnknown, says: "terminated signal received", set: signalled(syscall.SIGTERM, "daemonizes")},
		{doc: "SIGKILL beside a daemon of the target", code: killed, says: "killed", set: signalled(syscall.SIGKILL, "daemonizes")},

		{doc: "no project", code: exitUsage, says: "lockstep.yaml: no such file", set: edited("lockstep.yaml", "")},
		{doc: "a project that is no YAML", code: exitUsage, says: "lockstep.yaml:1", set: edited("lockstep.yaml", "contract: [\n")},
		{doc: "no contract", code: exitUsage, says: "openapi.yaml: no such file", set: edited("openapi.yaml", "")},
		{doc: "a contract that is a folder", code: exitUsage, says: "openapi.yaml", set: files(func(t *testing.T, l *lab) {
			os.Remove(filepath.Join(l.dir, "openapi.yaml"))
			l.write(t, "openapi.yaml/a-file", "")
		})},
		{doc: "a contract that is cut off", code: exitUsage, says: "openapi.yaml", set: files(func(t *testing.T, l *lab) {
			text := l.read("openapi.yaml")
			l.write(t, "openapi.yaml", text[:len(text)/2])
		})},
		{doc: "a contract without any operation of the scenarios", code: exitUsage, says: "the contract has no operation for", set: edited("openapi.yaml", "openapi: 3.0.3\ninfo: {title: T, version: \"1\"}\npaths: {/other: {get: {responses: {\"200\": {description: Fine}}}}}\n")},
		{doc: "waivers that cannot be read", code: exitUsage, says: "waivers.yaml", set: edited("scenarios/waivers.yaml/a-file", "x")},
		{doc: "a scenario that is half a file", code: exitUsage, says: "half.yaml", set: edited("scenarios/half.yaml", "scenario: half\nwhy: It")},
		{doc: "no scenarios", code: exitUsage, says: "scenarios", set: files(func(t *testing.T, l *lab) {
			if err := os.RemoveAll(filepath.Join(l.dir, "scenarios")); err != nil {
				t.Fatal(err)
			}
		}, "run")},
		{doc: "nothing selected", code: exitUsage, says: "no scenario is selected", set: files(func(*testing.T, *lab) {}, "run", "--name", "submarine")},
		{doc: "an empty shard", code: exitUsage, says: "--shard 2/2 has no scenario", set: files(func(*testing.T, *lab) {}, "run", "items/story", "--shard", "2/2")},
		{doc: "a shard in which nothing applies", code: exitUnknown, says: "nothing was judged", set: files(func(*testing.T, *lab) {}, "run", "process/stop", "--shard", "1/1")},
		{doc: "an unknown tag", code: exitUsage, says: `no scenario has the tag "itmes"`, set: files(func(*testing.T, *lab) {}, "run", "--tag", "itmes")},
		{doc: "a path that matches nothing", code: exitUsage, says: `no scenario at "items/stroy"`, set: files(func(*testing.T, *lab) {}, "run", "items/stroy")},
		{doc: "a scenario that compares nothing", code: exitUnknown, says: "nothing was compared", set: edited("scenarios/empty.yaml",
			"scenario: empty\nwhy: It looks at nothing\nsource: openapi.yaml\nsteps:\n  - poll: GET /health\n    every: 1ms..2ms\n    within: 5s\n    until: {status: 200}\n    compare: none\n", "run", "empty")},

		{doc: "no run file", code: exitUsage, says: "`lockstep run` writes it", set: files(func(*testing.T, *lab) {}, "judge")},
		{doc: "an empty run file", code: exitUsage, says: "run file is incomplete", set: changed(func(string) string { return "" })},
		{doc: "a run file that is cut off in a line", code: exitUsage, says: "run file is incomplete", set: changed(func(s string) string { return s[:len(s)/2] })},
		{doc: "a run file without its footer", code: exitUsage, says: "run file is incomplete", set: changed(func(s string) string {
			return s[:strings.LastIndex(strings.TrimSuffix(s, "\n"), "\n")+1]
		})},
		{doc: "a run file without its header", code: exitUsage, says: "begins with one header", set: changed(func(s string) string {
			_, rest, _ := strings.Cut(s, "\n")
			return rest
		})},
		{doc: "a run file in which a byte has changed", code: exitUsage, says: "its footer does not fit", set: changed(func(s string) string { return strings.Replace(s, "lamp", "lump", 1) })},
		{doc: "a run file of another format", code: exitUsage, says: "this version of lockstep reads format 1", set: changed(func(s string) string { return strings.Replace(s, `"format":1`, `"format":2`, 1) })},
		{doc: "a run file of another contract", code: exitUsage, says: "the run file is of another contract", set: after(func(t *testing.T, l *lab) {
			l.write(t, "openapi.yaml", l.read("openapi.yaml")+"# changed\n")
		})},
		{doc: "a contract that vanishes behind a run", code: exitUsage, says: "openapi.yaml: no such file", set: after(func(_ *testing.T, l *lab) {
			os.Remove(filepath.Join(l.dir, "openapi.yaml"))
		})},
		{doc: "a contract that changes during a run", code: exitUsage, says: "the run file is of another contract", set: func(t *testing.T, l *lab) {
			change := make(chan func(), 1)
			address := l.when(t, "POST /items", func() { (<-change)() })
			l.project, l.args = newProject(t, at("right", address), at("wrong", serve(t, &faux.Server{}))), []string{"judge"}
			change <- func() { l.write(t, "openapi.yaml", l.read("openapi.yaml")+"# changed\n") }
			if o := l.do(t, "run", "items/story"); o.code != exitMatch { // by the contract that it has read
				t.Errorf("%+v", o)
			}
		}},
		{doc: "a scenario that vanishes behind a run", code: exitUsage, says: "the run file is of other scenarios", set: after(func(_ *testing.T, l *lab) {
			os.Remove(filepath.Join(l.dir, "scenarios/items/story.yaml"))
		})},
		{doc: "a run file with a hole", code: exitUsage, says: "read run file: line", set: changed(func(s string) string {
			return signed(s, func(t map[string]any) { t["steps"].([]any)[0].(map[string]any)["exchanges"] = []any{nil} })
		})},
		{doc: "both answer in a coding that nobody asked for", code: exitDiffer, says: "a content coding that the request did not ask for", set: func(t *testing.T, l *lab) {
			wrong := fault(t, "unasked-coding")
			l.project = newProject(t, at("right", serve(t, &faux.Server{Fault: wrong})), at("wrong", serve(t, &faux.Server{Fault: wrong})))
		}},
		{doc: "one side answers in a coding", code: exitDiffer, says: "header Content-Encoding", set: coded(nil, faux.Coding("br", brotlied(0)))},
		{doc: "both call a plain body br", code: exitDiffer, says: "the body is not in its content coding", set: codedAlike("br", plainly)},
		{doc: "both call a plain body zstd", code: exitDiffer, says: "the body is not in its content coding", set: codedAlike("zstd", plainly)},
		{doc: "both call a body in br twice coded", code: exitDiffer, says: "the body is not in its content coding", set: codedAlike("br, br", brotlied(0))},
		{doc: "both break the contract in br", code: exitDiffer, says: "right and wrong break the contract", set: codedAlike("br", func([]byte) []byte { return brotlied(0)([]byte("{}")) })},
		{doc: "both answer in a coding that nobody knows", code: exitUnknown, says: `cannot be judged: it is in the coding "shrunk"`, set: codedAlike("shrunk", plainly)},
		{doc: "both answer in too many codings", code: exitUnknown, says: "it is in 4 codings, and at most 3 are undone", set: codedAlike("br, br, br, br", plainly)},
		{doc: "both answer with more than is decoded", code: exitUnknown, says: "it holds more than", set: codedAlike("br", brotlied(2_000_000))},
		{doc: "both answer with a part of what is in a coding", code: exitUnknown, says: "a part cannot be decoded by itself", set: coded(faux.Part(faux.Coding("br", brotlied(0))), faux.Part(faux.Coding("br", brotlied(0))))},
		{doc: "a panic in judging", code: exitUnknown, says: "lockstep itself failed: runtime error:", set: changed(func(s string) string {
			return signed(s, func(t map[string]any) {
				t["windows"] = []any{map[string]any{"step": "1", "line": 1, "stream": "feed", "first": -7, "from": 0, "to": 1 << 40}}
			})
		})},
	}
}

// twice makes the lab a project with two targets that are one server; the second calls its host otherwise.
func twice(host string) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) {
		address := serve(t, &faux.Server{})
		l.project = newProject(t, at("right", address), at("wrong", strings.Replace(address, "127.0.0.1", host, 1)+"/"))
	}
}

// signed changes the transcripts of a run file, and makes its footer fit.
func signed(file string, change func(map[string]any)) string {
	var out bytes.Buffer
	for text := range strings.Lines(file) {
		var line map[string]map[string]any
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		if err := dec.Decode(&line); err != nil {
			panic(err)
		}
		if line["transcript"] != nil {
			change(line["transcript"])
		}
		if line["footer"] != nil {
			sum := sha256.Sum256(out.Bytes())
			line["footer"]["sha256"] = hex.EncodeToString(sum[:])
		}
		again, err := json.Marshal(line)
		if err != nil {
			panic(err)
		}
		out.Write(append(again, '\n'))
	}
	return out.String()
}
