//go:build unix

package target

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
)

func TestStopEndsAGrandchildThatIgnoresSignalsAndHoldsTheOutput(t *testing.T) {
	slow(t)
	c := newReportServer(t)
	spec := c.roleSpec("parent")
	spec.Stop.Grace = time.Millisecond
	target := start(t, spec)
	c.awaitReport("grandchild").awaitLine("settled")
	if err := target.Stop(t.Context()); err != nil {
		t.Errorf("Stop: %v", err)
	}
	c.awaitReport("parent").awaitExit()
	c.reported["grandchild"].awaitExit()
}

func TestStopEndsTheProcessesOfATargetThatHasExited(t *testing.T) {
	slow(t)
	c := newReportServer(t)
	spec := c.roleSpec("leaves")
	target := start(t, spec)
	c.awaitReport("grandchild").awaitLine("settled")
	leave(t, target)
	<-target.Exited() // although the grandchild keeps its output open
	if got := target.ExitStatus(); got != "exit status 0" {
		t.Errorf("ExitStatus: %q, want exit status 0", got)
	}
	if err := target.Stop(cancelled()); err != nil {
		t.Errorf("Stop: %v", err)
	}
	c.reported["grandchild"].awaitExit()
}

func TestStopGivesTheGraceToGrandchildrenToo(t *testing.T) {
	slow(t)
	c := newReportServer(t)
	target := start(t, c.roleSpec("front"))
	tidy := c.awaitReport("tidy")
	tidy.awaitLine("working")
	stopped := make(chan error, 1)
	go func() { stopped <- target.Stop(t.Context()) }()
	tidy.awaitLine("tidying")
	c.awaitReport("front").awaitExit()
	tidy.line.Write([]byte("\n"))
	tidy.awaitLine("tidied")
	if err := <-stopped; err != nil {
		t.Errorf("Stop: %v", err)
	}
}

// leave asks the target to exit by itself.
func leave(t *testing.T, target *Target) {
	t.Helper()
	if res, err := client.Get(target.URL().String() + "/leave"); err == nil {
		t.Errorf("GET /leave was answered with %s", res.Status)
	}
}

func TestStopSendsStrongerSignalsStepByStep(t *testing.T) {
	slow(t)
	c := newReportServer(t)
	target := c.stopStubborn(t, "stubborn")
	if got := target.ExitStatus(); got != "signal: killed" {
		t.Errorf("ExitStatus: %q, want signal: killed", got)
	}
}

// stopStubborn starts a target in a role that ignores SIGTERM, and stops it without waiting for the grace of a minute.
func (c *reportServer) stopStubborn(t *testing.T, role string) *Target {
	t.Helper()
	target := start(t, c.roleSpec(role))
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- target.Stop(ctx) }()
	c.awaitReport(role).awaitLine("ignored SIGTERM")
	cancel()
	if err := <-stopped; err != nil {
		t.Errorf("Stop: %v", err)
	}
	return target
}

func TestStopGivesAGrace(t *testing.T) {
	spec := roleSpec("stubborn")
	spec.Stop.Grace = 20 * time.Millisecond
	target := start(t, spec)
	began := time.Now()
	if err := target.Stop(t.Context()); err != nil {
		t.Errorf("Stop: %v", err)
	}
	if took := time.Since(began); took < spec.Stop.Grace {
		t.Errorf("killed after %s, want a grace of %s", took, spec.Stop.Grace)
	}
}

func TestStopMayBeCalledSeveralTimes(t *testing.T) {
	target := start(t, roleSpec("server"))
	var stops sync.WaitGroup
	for i := range 8 {
		stops.Go(func() {
			ctx := t.Context()
			if i%4 == 3 {
				ctx = cancelled()
			}
			if err := target.Stop(ctx); err != nil {
				t.Errorf("Stop: %v", err)
			}
			if !waiting.IsClosed(target.Exited()) {
				t.Error("Stop returned before the end")
			}
		})
	}
	stops.Wait()
	if err := target.Stop(t.Context()); err != nil {
		t.Errorf("Stop again: %v", err)
	}
}

func TestTheEndOfTheContextIsTheEndOfTheTarget(t *testing.T) {
	slow(t)
	c := newReportServer(t)
	spec := c.roleSpec("parent")
	spec.Stop.Grace = time.Millisecond
	ctx, interrupt := context.WithCancel(t.Context())
	target, err := Start(ctx, spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.awaitReport("grandchild").awaitLine("settled")
	interrupt()
	c.awaitReport("parent").awaitExit()
	c.reported["grandchild"].awaitExit()
	if err := target.Stop(ctx); err != nil {
		t.Errorf("Stop: %v", err)
	}
}

func TestStopEndsProcessesThatForkAllTheTime(t *testing.T) {
	target := start(t, roleSpec("hydra"))
	// The heads cannot be checked one by one. But each of them keeps the output open, and Stop would report that.
	if err := target.Stop(cancelled()); err != nil {
		t.Errorf("Stop: %v", err)
	}
}

func TestATargetDoesNotOutliveItsGuard(t *testing.T) {
	slow(t)
	c := newReportServer(t)
	target := start(t, c.roleSpec("parent"))
	c.awaitReport("grandchild").awaitLine("settled")
	if err := syscall.Kill(target.process.group.id, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-target.Exited()
	c.awaitReport("parent").awaitExit()
	c.reported["grandchild"].awaitExit()
	if err := target.Stop(t.Context()); err != nil {
		t.Errorf("Stop: %v", err)
	}
	want := Line{Stream: Harness, Text: "the guard process has ended: killing the target"}
	if log := target.Log(); !slices.Contains(log, want) {
		t.Errorf("Log: %q, want %q among it", log, want)
	}
}

func TestStopEndsAProcessThatHasLeftTheGroup(t *testing.T) {
	slow(t)
	for _, role := range []string{"runaway", "daemon"} {
		t.Run(role, func(t *testing.T) {
			c := newReportServer(t)
			spec := c.roleSpec(role)
			spec.Stop.Grace = time.Millisecond
			target := start(t, spec)
			fugitive := c.awaitReport("fugitive")
			fugitive.awaitLine("settled")
			if role == "daemon" {
				c.awaitReport("between").awaitExit()
			}
			err := target.Stop(t.Context())
			if runtime.GOOS != "linux" {
				wantError(t, err, "a process that it started has left its process group and still holds its output")
				fugitive.line.(interface{ CloseWrite() error }).CloseWrite()
			} else if err != nil {
				t.Errorf("Stop: %v", err)
			}
			fugitive.awaitExit()
			if text := fmt.Sprint(target.Log()); runtime.GOOS == "linux" && !strings.Contains(text, "1 process outside of the target's process group did not end by itself") {
				t.Errorf("the log does not tell of it: %s", text)
			}
		})
	}
}

// The daemon has neither its mark nor its parents any more. Only the adoption by the harness links it to the target.
func TestADaemonThatDropsItsMarkEndsWithItsTarget(t *testing.T) {
	slow(t)
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has subreapers")
	}
	for name, beside := range map[string]string{"alone": "", "beside targets that end at once": "xxx"} {
		t.Run(name, func(t *testing.T) {
			c := newReportServer(t)
			adopter := exec.Command(os.Args[0])
			adopter.Env = []string{roleVariable + "=adopter", reportVariable + "=" + c.address(), countVariable + "=" + beside}
			adopter.Stderr = os.Stderr
			if err := adopter.Start(); err != nil {
				t.Fatal(err)
			}
			c.awaitReport("adopter").awaitLine("started")
			c.awaitReport("fugitive").awaitLine("settled")
			c.awaitReport("between").awaitExit()
			c.reported["adopter"].line.Write([]byte("\n"))
			if err := adopter.Wait(); err != nil {
				t.Error(err)
			}
			c.reported["fugitive"].awaitExit()
		})
	}
}

func TestStopEndsATargetThatHasLeftItsGroup(t *testing.T) {
	slow(t)
	c := newReportServer(t)
	c.stopStubborn(t, "astray")
	c.reported["astray"].awaitExit()
}

func TestNothingOutlivesAHarnessThatIsKilled(t *testing.T) {
	slow(t)
	killHarness(t, "harness", "parent", "grandchild")
	killHarness(t, "director", "parent", "grandchild")
}

func TestNothingOutsideOfTheGroupOutlivesAHarnessThatIsKilled(t *testing.T) {
	slow(t)
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells where it has gone")
	}
	killHarness(t, "harness", "daemon", "fugitive")
	killHarness(t, "director", "daemon", "fugitive")
}

// killHarness kills a harness in the middle of a run. Its target plays a role and has started another process.
func killHarness(t *testing.T, harnessRole, role, child string) {
	t.Helper()
	c := newReportServer(t)
	// Everything that the harness starts inherits the write end, including the guard. So the pipe ends with the last of
	// them.
	alive, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	harness := exec.Command(os.Args[0])
	harness.Env = []string{roleVariable + "=" + harnessRole, reportVariable + "=" + c.address(), targetVariable + "=" + role}
	harness.ExtraFiles = []*os.File{held}
	var said strings.Builder
	harness.Stderr = &said
	if err := harness.Start(); err != nil {
		t.Fatal(err)
	}
	held.Close()
	dir := c.awaitReport(harnessRole).readLine()
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("the directory of a target that runs: %v", err)
	}
	c.awaitReport(child).awaitLine("settled")

	if err := harness.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := harness.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("harness: %v: %s", err, said.String())
	}
	c.awaitReport(role).awaitExit()
	c.reported[child].awaitExit()
	alive.SetReadDeadline(time.Now().Add(hang))
	if n, err := alive.Read(make([]byte, 1)); n != 0 || os.IsTimeout(err) {
		t.Errorf("something still holds the pipe: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory of the target is left: %v", err)
	}
}
