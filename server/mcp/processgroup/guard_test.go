//go:build linux

package processgroup_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/server/mcp/processgroup"
)

// TestMain makes the test binary also a guard, a server with an extension, and an extension with a process in another
// group.
func TestMain(m *testing.M) {
	role := ""
	if len(os.Args) > 1 {
		role = os.Args[1]
	}
	switch role {
	case "guard":
		processgroup.RunGuard(os.Stdin)
	case "server":
		serve()
	case "extension":
		extend()
	default:
		os.Exit(m.Run())
	}
}

func serve() {
	extension := exec.Command(os.Args[0], "extension")
	out, _ := extension.StdoutPipe()
	guard := processgroup.NewGuard(os.Args[0], "guard")
	release, err := guard.Start(extension)
	if err != nil {
		panic(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	fmt.Print(line)
	_, _ = os.Stdin.Read(make([]byte, 1)) // waits until it may end in an orderly way
	release()
	guard.Close()
}

func extend() {
	other := exec.Command("sleep", "60")
	processgroup.Lead(other)
	if err := other.Start(); err != nil {
		panic(err)
	}
	fmt.Println(os.Getpid(), other.Process.Pid)
	time.Sleep(time.Minute)
}

// runs reports whether a process has not ended.
func runs(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

func TestAGuardEndsWhatAKilledServerHasStarted(t *testing.T) {
	for _, tc := range []struct {
		name   string
		killed bool
	}{{"killed", true}, {"stopped", false}} {
		t.Run(tc.name, func(t *testing.T) {
			server := exec.Command(os.Args[0], "server")
			in, _ := server.StdinPipe()
			out, _ := server.StdoutPipe()
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			pids := strings.Fields(line)
			if err != nil || len(pids) != 2 || !runs(pids[0]) || !runs(pids[1]) {
				t.Fatalf("%q, %v", line, err)
			}
			if tc.killed {
				_ = server.Process.Kill()
			} else {
				in.Close()
			}
			_ = server.Wait()
			if !tc.killed { // the guard was released
				if !runs(pids[0]) || !runs(pids[1]) {
					t.Error("the guard has ended what it was not to guard any more")
				}
				for _, pid := range pids {
					_ = exec.Command("kill", "-KILL", pid).Run()
				}
			}
			for deadline := time.Now().Add(10 * time.Second); runs(pids[0]) || runs(pids[1]); time.Sleep(5 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("processes run on without their server")
				}
			}
		})
	}
}

func TestAGuardThatHasEndedIsReplaced(t *testing.T) {
	guard := processgroup.NewGuard("true") // it ends at once
	defer guard.Close()
	for range 3 {
		process := exec.Command("sleep", "60")
		release, err := guard.Start(process)
		if err != nil {
			t.Fatal(err)
		}
		_ = process.Process.Kill()
		_ = process.Wait()
		release()
	}
}

func TestAProcessThatCannotBeGuardedIsNotStarted(t *testing.T) {
	process := exec.Command("sleep", "60")
	if _, err := processgroup.NewGuard("/nowhere/at/all").Start(process); err == nil || process.Process != nil {
		t.Errorf("%v, and it was started", err)
	}
	var none *processgroup.Guard
	defer none.Close()
	unguarded := exec.Command("true")
	release, err := none.Start(unguarded)
	if err != nil || unguarded.Wait() != nil {
		t.Error(err)
	}
	release()
}
