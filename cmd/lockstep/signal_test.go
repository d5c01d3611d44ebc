//go:build unix

package main

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/report/jsonreport"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/internal/syncbuffer"
)

// A command is lockstep in a process of its own, in the middle of a run. It has started a server that ignores
// SIGTERM, which has started another process that ignores it too. It waits for an answer that never comes.
type command struct {
	testProject
	*exec.Cmd
	stdout, stderr syncbuffer.Buffer
	grandchild     net.Conn // the kernel closes it when the grandchild ends
	ended          chan struct{}
}

// midway starts such a process. grace is the time that its server gets between SIGTERM and SIGKILL.
func midway(t *testing.T, grace string) *command {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts processes")
	}
	asked := make(chan struct{}, 1)
	wrong := &faux.Server{Fault: faux.Named(t, "hang"), Asked: func(operation string) {
		if operation == "POST /items" {
			select {
			case asked <- struct{}{}:
			default:
			}
		}
	}}
	line := faux.Listen(t)
	right := strings.Replace(start(t, "right", "does-not-end", line.Addr().String()), "stop: 100ms", "stop: "+grace, 1)
	p := &command{testProject: newProject(t, right, at("wrong", faux.Serve(t, wrong))), ended: make(chan struct{})}

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	p.Cmd = exec.CommandContext(ctx, os.Args[0], "run", "--config", p.file, "items/story")
	p.Env = append(os.Environ(), roleVariable+"=lockstep", "GORACE=atexit_sleep_ms=0")
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		p.Wait() // ProcessState says how it ended
	}()
	t.Cleanup(func() { cancel(); <-p.ended })
	select {
	case <-asked:
	case <-p.ended:
		t.Fatalf("it ended before it was asked to: %s\n%s%s", p.ProcessState, &p.stdout, &p.stderr)
	}
	line.SetDeadline(time.Now().Add(time.Minute))
	c, err := line.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	p.grandchild = c
	return p
}

// leavesNothing waits until the process and all its descendants have ended.
func (p *command) leavesNothing(t *testing.T) {
	t.Helper()
	<-p.ended
	p.grandchild.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.Copy(io.Discard, p.grandchild); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the grandchild is still there: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for left := leak.Processes(); left != ""; left = leak.Processes() {
		select {
		case <-ctx.Done():
			t.Fatalf("left behind: %s", left)
		case <-time.After(time.Millisecond): // there is no event for the end of somebody else's child
		}
	}
}

func TestASignalInTheMiddleOfARunEndsItInOrder(t *testing.T) {
	for _, tc := range []struct {
		signal syscall.Signal
		name   string
	}{{syscall.SIGINT, "interrupt"}, {syscall.SIGTERM, "terminated"}, {syscall.SIGHUP, "hangup"}} {
		t.Run(tc.name, func(t *testing.T) {
			p := midway(t, "100ms")
			if err := p.Process.Signal(tc.signal); err != nil {
				t.Fatal(err)
			}
			p.leavesNothing(t)
			if code := p.ProcessState.ExitCode(); code != exitUnknown || p.stderr.String() != "" {
				t.Errorf("%s, want exit code %d; stderr %q", p.ProcessState, exitUnknown, &p.stderr)
			}
			want := "unknown: interrupted after 0 of 1 scenarios: " + tc.name + " signal received; items/story was under way"
			if got := lastLine(p.stdout.String()); got != want {
				t.Errorf("stdout ends with %q, want %q", got, want)
			}
			doc, err := jsonreport.Read(strings.NewReader(p.read("reports/report.json")))
			if err != nil || doc.Verdict != verdict.Unknown || !strings.HasSuffix(want, doc.Incomplete) {
				t.Errorf("report.json reads as %+v, %v", doc, err)
			}
			if !strings.Contains(p.read("reports/junit.xml"), "<error") {
				t.Errorf("junit.xml has no error:\n%s", p.read("reports/junit.xml"))
			}
			p.isIncomplete(t)
		})
	}
}

// isIncomplete fails unless the run file says that it is incomplete.
func (p *command) isIncomplete(t *testing.T) {
	t.Helper()
	file, err := os.Open(filepath.Join(p.dir, "reports", "run.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	_, err = transcript.ReadRun(file, nil, func(*transcript.Transcript) error { return nil })
	if !errors.Is(err, transcript.ErrIncomplete) {
		t.Errorf("run.jsonl reads as %v, want %v", err, transcript.ErrIncomplete)
	}
}

// TestASecondSignalEndsTheProgramAtOnce checks that a second signal does not wait for a slow server.
func TestASecondSignalEndsTheProgramAtOnce(t *testing.T) {
	p := midway(t, "50s")
	began := time.Now()
	for asking := true; asking; {
		p.Process.Signal(syscall.SIGINT) // repeatedly, because two signals may arrive as one
		select {
		case <-p.ended:
			asking = false
		case <-time.After(10 * time.Millisecond):
		}
	}
	p.leavesNothing(t)
	if took := time.Since(began); took > 40*time.Second {
		t.Errorf("it took %s", took)
	}
	if status := p.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %s, want it to be ended by the signal", p.ProcessState)
	}
	p.isIncomplete(t)
}

func TestNothingStaysBehindWhenTheProgramIsKilled(t *testing.T) {
	p := midway(t, "50s")
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.leavesNothing(t)
	if status := p.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
		t.Errorf("it ended with %s", p.ProcessState)
	}
	if diff := cmp.Diff([]string{".lock", "run.jsonl"}, names(t, filepath.Join(p.dir, "reports"))); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
	p.isIncomplete(t)
}

// TestAnInterruptKeepsWhatIsKnown checks that an interrupted run reports what was judged before. Its exit code says
// that something differs.
func TestAnInterruptKeepsWhatIsKnown(t *testing.T) {
	ctx, interrupt := context.WithCancelCause(t.Context())
	defer interrupt(nil)
	wrong := &faux.Server{Fault: faux.Named(t, "framing"), Asked: func(operation string) {
		if operation == "GET /items/{id}/label" { // in the second scenario
			interrupt(errors.New("enough"))
		}
	}}
	p := newProject(t, at("right", faux.Serve(t, &faux.Server{})), at("wrong", faux.Serve(t, wrong)))
	var stdout, stderr syncbuffer.Buffer
	w := &environment{stdout: &stdout, stderr: &stderr, getenv: func(string) string { return "" }}
	code := run(ctx, []string{"run", "-c", p.file, "--jobs", "1", "events/bytes", "items/story"}, w)
	want := "differ: right and wrong differ in 1 of 1 scenario; interrupted after 1 of 2 scenarios: enough; items/story was under way"
	if got := lastLine(stdout.String()); code != exitDiffer || got != want {
		t.Errorf("exit code %d, stdout ends with %q, want %d and %q", code, got, exitDiffer, want)
	}
}
