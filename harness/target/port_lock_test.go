//go:build unix

package target

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// While a port is reserved, another lockstep process cannot reserve it, even if the target does not listen. It can when
// the port is released or the first process has ended.
func TestAReservedPortIsGivenToNoOtherProcess(t *testing.T) {
	slow(t)
	mine := freePort(t)
	other := exec.CommandContext(t.Context(), os.Args[0], strconv.Itoa(mine.number))
	other.Env = append(os.Environ(), roleVariable+"=rival")
	asks, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Wait()
	defer asks.Close()
	answers := bufio.NewReader(out)
	gets := func(want string) {
		t.Helper()
		if _, err := asks.Write([]byte("\n")); err != nil {
			t.Fatal(err)
		}
		line, err := answers.ReadString('\n')
		if got := strings.TrimSpace(line); got != want {
			t.Fatalf("another process that reserves the port: %q (%v), want %s", got, err, want)
		}
	}
	gets("false")
	mine.release()
	gets("true")
	if reserve(mine.number) {
		t.Error("the port is another process's, and was reserved")
	}
	asks.Close()
	if err := other.Wait(); err != nil {
		t.Error(err)
	}
	after := &port{number: mine.number}
	defer after.release()
	if !reserve(after.number) {
		t.Error("the process that had the port has ended, and it cannot be reserved")
	}
}
