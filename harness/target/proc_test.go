//go:build unix

package target

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"testing"
)

func TestMembersOfAGroup(t *testing.T) {
	slow(t)
	for name, list := range map[string]func(int) ([]int, error){
		"/proc": procMembers,
		"ps":    func(group int) ([]int, error) { return psMembers(t.Context(), group) },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "/proc" && runtime.GOOS != "linux" {
				t.Skip("only Linux has this /proc")
			}
			if _, err := os.Stat("/bin/ps"); name == "ps" && err != nil {
				t.Skip(err)
			}
			g, err := newGroup(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			cat := exec.Command("/bin/cat")
			cat.SysProcAttr = g.attributes()
			stdin, err := cat.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cat.Start(); err != nil {
				t.Fatal(err)
			}
			want := []int{g.id, cat.Process.Pid}
			if got, err := list(g.id); err != nil || !slices.Equal(sorted(got), sorted(want)) {
				t.Errorf("members: %d, %v, want %d", got, err, want)
			}
			if !g.hasOthers(t.Context()) {
				t.Error("hasOthers: false with a cat in the group")
			}
			stdin.Close()
			if err := cat.Wait(); err != nil {
				t.Fatal(err)
			}
			if g.hasOthers(t.Context()) {
				t.Error("hasOthers: true with nobody but the guard")
			}
			syscall.Kill(g.id, syscall.SIGKILL)
			<-g.guardDied
			for zombie := false; !zombie; { // the pipe closes a moment before the process becomes a zombie
				got, err := list(g.id)
				if err != nil {
					t.Fatal(err)
				}
				zombie = len(got) == 0
			}
			g.dismiss()
		})
	}
}

func sorted(pids []int) []int { return slices.Sorted(slices.Values(pids)) }

func TestAProcessIsNoMemberOnceAllItsThreadsAreDead(t *testing.T) {
	for stat, want := range map[string]bool{
		"7 (server) S 1 42 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 99":           true,
		"7 (a) 42 (b)) R 1 42 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 99":        true,
		"7 (server) S 1 43 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 99":           false,
		"7 (server) Z 1 42 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 99":           false,
		"7 (main thread gone) Z 1 42 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 4 0 99": true,
		"7 (server) X 1 42 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 0 0 99":           false,
		"cut short":                 false,
		"":                          false,
		"7 (server) S 1 42 1 0 -1 ": false,
	} {
		if e, alive := parseStat(7, []byte(stat)); (alive && e.group == 42) != want {
			t.Errorf("parseStat(%q) = %+v, %t", stat, e, alive)
		}
	}
}

func TestAGuardIsReaped(t *testing.T) {
	slow(t)
	g, err := newGroup(cancelled())
	if err == nil { // the guard was ready before newGroup checked the context
		g.signal(syscall.SIGKILL)
		g.dismiss()
	}
	// TestMain notices a guard that was left behind.
}
