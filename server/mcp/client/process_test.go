package client

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// role makes the test binary one of the servers that it starts.
const role = "TRANSPORT_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector would delay the end of each process by a second
		os.Exit(leak.Run(m))
	case "mute": // it does not end by itself
		child := exec.Command("sleep", "600")
		_ = child.Start()
		fmt.Println(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":` + fmt.Sprint(child.Process.Pid) + `}}`)
		select {}
	case "stubborn":
		beStubborn()
	case "leaving":
		leaveAChild()
	}
}

const (
	patience = 20 * time.Second
	// graceInTests is the grace period of processes in tests, because a second would take too long.
	graceInTests = 100 * time.Millisecond
)

// playing returns the command of a server that runs this test binary.
func playing(t *testing.T, plays string) Command {
	t.Helper()
	path := testfile.Program(t)
	return Command{Name: path, Directory: t.TempDir(), Environment: append(os.Environ(), role+"="+plays), Grace: graceInTests}
}

// beStubborn runs a process that ends neither with its input nor on a signal. Its child is like that too.
func beStubborn() {
	signal.Ignore(syscall.SIGTERM)
	child := exec.Command("sh", "-c", `trap "" TERM; while :; do sleep 1; done`)
	_ = child.Start()
	fmt.Println(child.Process.Pid)
	select {}
}

// leaveAChild runs a process that ends with its input, and leaves a child behind.
func leaveAChild() {
	child := exec.Command("sleep", "600")
	_ = child.Start()
	fmt.Println(child.Process.Pid)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// startRole starts a process of this test, and returns it with its child.
func startRole(t *testing.T, plays string) (p *Process, child int) {
	t.Helper()
	p, err := Start(playing(t, plays))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	line, err := bufio.NewReader(p.stdout).ReadString('\n')
	if err == nil {
		child, err = strconv.Atoi(strings.TrimSpace(line))
	}
	if err != nil {
		t.Fatal(err)
	}
	return p, child
}

// TestHowProcessesEnd checks the steps of decision X11.
func TestHowProcessesEnd(t *testing.T) {
	for _, tc := range []struct {
		plays         string
		after, before time.Duration
	}{
		{"stubborn", 2 * graceInTests, patience},
		{"leaving", 0, patience},
	} {
		t.Run(tc.plays, func(t *testing.T) {
			p, child := startRole(t, tc.plays)
			began := time.Now()
			p.Stop()
			if took := time.Since(began); took < tc.after || took > tc.before {
				t.Errorf("it took %s to end, want %s to %s", took, tc.after, tc.before)
			}
			select {
			case <-p.exited:
			default:
				t.Error("the process is still there")
			}
			awaitEnd(t, child)
		})
	}
}

// TestAProcessThatEndsByItself checks that a process which ends by itself takes its children along, even if another
// process has its output open.
func TestAProcessThatEndsByItself(t *testing.T) {
	p, child := startRole(t, "leaving")
	if err := syscall.Kill(p.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.exited
	awaitEnd(t, child)
}

func TestNoPartOfAProcessIsLeft(t *testing.T) {
	p, err := Start(playing(t, "mute"))
	if err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 200)
	n, err := p.stdout.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(line[:n]), `"data":`)
	child, err := strconv.Atoi(strings.TrimRight(rest, "}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var stopping sync.WaitGroup
	for range 3 {
		stopping.Go(p.Stop)
	}
	stopping.Wait()
	awaitEnd(t, child)
}

// awaitEnd waits until a process has ended. It polls, because the process is not a child of this one.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	guard := time.After(patience)
	for !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) && !zombie(pid) {
		select {
		case <-look.C:
		case <-guard:
			t.Fatalf("the process %d is still there after %s", pid, patience)
		}
	}
}

// zombie reports whether a process has ended, but was not waited for by its parent.
func zombie(pid int) bool {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(status), ") Z ")
}
