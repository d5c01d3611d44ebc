//go:build linux

package agentsdk_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
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

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/internal/testfile"
	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

// AGENTSDK_SESSIONS makes the tests of many sessions larger.
func sessions(t *testing.T, usual int) int {
	if n, err := strconv.Atoi(os.Getenv("AGENTSDK_SESSIONS")); err == nil {
		return n
	}
	return usual
}

// resources counts what a session could leave behind.
func resources(t *testing.T) (files, threads int) {
	t.Helper()
	fds, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := filepath.Glob("/proc/self/task/*")
	if err != nil {
		t.Fatal(err)
	}
	return len(fds), len(tasks)
}

// nothingIsLeft checks that no goroutine, process, pipe or file is left of the sessions since before.
func nothingIsLeft(t *testing.T, files int, goroutines int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		runtime.GC()
		now, _ := resources(t)
		if now <= files && runtime.NumGoroutine() <= goroutines {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d files and %d goroutines, were %d and %d", now, runtime.NumGoroutine(), files, goroutines)
		}
	}
	if left := leak.Processes(); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

func TestSessionsOneAfterTheOtherLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	o := options(t, "good")
	one(t, o, "x") // what the runtime keeps
	files, _ := resources(t)
	goroutines := runtime.NumGoroutine()
	n := sessions(t, 30)
	for range n {
		if _, result, err := one(t, o, "x"); err != nil || !result.Success {
			t.Fatalf("%v, %+v", err, result)
		}
	}
	nothingIsLeft(t, files, goroutines)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("temporary files: %v, %v", left, err)
	}
	t.Logf("%d sessions", n)
}

func TestSessionsAtOnceLeaveNothing(t *testing.T) {
	o := options(t, "good")
	one(t, o, "x")
	files, _ := resources(t)
	goroutines := runtime.NumGoroutine()
	n := min(sessions(t, 20), 200)
	agent, err := agentsdk.NewClaudeCodeAgent(o)
	if err != nil {
		t.Fatal(err)
	}
	started := make([]*agentsdk.AgentSession, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			s, err := agent.StartSession(t.Context(), agentsdk.SessionConfig{Prompt: fmt.Sprint(i)})
			if err != nil {
				t.Error(err)
				return
			}
			started[i] = s
			if i%2 == 0 { // half of them end by themselves, and half are cancelled
				if result, err := s.WaitForCompletion(t.Context()); err != nil || !result.Success {
					t.Errorf("%+v, %v", result, err)
				}
			}
		})
	}
	group.Wait()
	if err := agent.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := agent.StartSession(t.Context(), agentsdk.SessionConfig{Prompt: "x"}); !errors.Is(err, agentsdk.ErrInvalidState) {
		t.Errorf("after Close: %v", err)
	}
	nothingIsLeft(t, files, goroutines)
	t.Logf("%d sessions at once", n)
}

// host is a program that is killed while its sessions run. It starts them from threads that end.
func host() int {
	self, err := os.Executable()
	if err != nil {
		return 1
	}
	client, err := agentsdk.NewClaudeCodeClient(agentsdk.ClientOptions{AgentOptions: agentsdk.AgentOptions{
		CLIPath: self, Env: map[string]string{"FAKE_CLI": os.Getenv("FAKE_HOST"), "FAKE_HOST": ""},
	}})
	if err != nil {
		return 1
	}
	connected := make(chan error, 1)
	thread := onThread(func() { connected <- client.Connect(context.Background()) })
	if err := <-connected; err != nil {
		fmt.Println(err)
		return 1
	}
	for err == nil { // the thread ends after its goroutine
		_, err = os.Stat(fmt.Sprintf("/proc/self/task/%d", <-thread))
	}
	if !client.IsConnected() {
		fmt.Println("the CLI has ended with the thread")
		return 1
	}
	fmt.Println(client.ServerInfo().PID)
	select {}
}

// onThread runs a function on a thread that ends with it: on any but the first one, which stays. It sends the thread's id,
// again and again.
func onThread(f func()) <-chan int {
	id := make(chan int)
	go func() {
		runtime.LockOSThread()
		if syscall.Gettid() == syscall.Getpid() {
			for other := onThread(f); ; {
				id <- <-other
			}
		}
		f()
		thread := syscall.Gettid()
		go func() {
			for {
				id <- thread
			}
		}()
	}()
	return id
}

func TestAKilledProgramLeavesNoChild(t *testing.T) {
	for _, fake := range []string{"good", "stubborn", "slow to end"} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, testfile.Program(t))
		cmd.Env = append(os.Environ(), "FAKE_HOST="+fake)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, _ := bufio.NewReader(out).ReadString('\n')
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Errorf("%s: %q", fake, line)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		if err != nil {
			continue
		}
		for deadline := time.Now().Add(10 * time.Second); !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) && !zombie(pid); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				t.Fatalf("%s: the CLI still runs", fake)
			}
		}
	}
}

// zombie reports whether a process has ended, and its new parent has not noticed yet.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}
