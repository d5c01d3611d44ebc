//go:build linux

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// keyringVariable makes TestTheKeyringOfADesktop fail where it cannot run.
const keyringVariable = "AGENTD_TEST_KEYRING"

// desktop starts a session bus with the keyring of GNOME, unlocked, and returns the address of the bus.
func desktop(t *testing.T) (address string) {
	t.Helper()
	for _, program := range []string{"dbus-run-session", "gnome-keyring-daemon"} {
		if _, err := exec.LookPath(program); err == nil {
			continue
		}
		if os.Getenv(keyringVariable) != "" {
			t.Fatalf("there is no %s in the PATH", program)
		}
		t.Skipf("NOT RUN: there is no %s in the PATH; make test-keyring installs it", program)
	}
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "dbus-run-session", "--", "sh", "-c",
		`printf secret | gnome-keyring-daemon --unlock --components=secrets && echo "bus $DBUS_SESSION_BUS_ADDRESS" && exec cat`)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_DATA_HOME=" + home, "XDG_RUNTIME_DIR=" + home}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		cmd.Wait()
		group := -cmd.Process.Pid // the bus and the keyring outlive the command
		for range 500 {
			if syscall.Kill(group, syscall.SIGKILL) != nil {
				return
			}
			<-time.After(10 * time.Millisecond)
		}
		t.Error("the bus or the keyring does not end")
	})
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if address, found := strings.CutPrefix(lines.Text(), "bus "); found {
			return address
		}
	}
	t.Fatal("the keyring did not start")
	return ""
}

// TestTheKeyringOfADesktop stores secrets in the keyring of GNOME, over HTTP, with a restart (decisions G53 to G55).
func TestTheKeyringOfADesktop(t *testing.T) {
	address := "DBUS_SESSION_BUS_ADDRESS=" + desktop(t)
	home := t.TempDir()
	file := filepath.Join(home, "config", "secrets.yaml")
	s, _ := startServer(t, home, "http://127.0.0.1:1", address)
	testfile.Write(t, file, "OLD: from-file\nMOVED: from-file\n")
	answers := &answers{api: s.api()}
	read := func(key, want string) {
		t.Helper()
		if got := answers.of(t, "POST", "/config/read", object{"key": key, "is_secret": true}); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
	set := func(key string, value any, want string) {
		t.Helper()
		path, body := "/config/upsert", object{"key": key, "value": value, "is_secret": true}
		if value == nil {
			path, body = "/config/remove", object{"key": key, "is_secret": true}
		}
		if got := answers.of(t, "POST", path, body); got != want {
			t.Errorf("%s %s: %s, want %s", path, key, got, want)
		}
	}
	read("A", "null")
	read("OLD", `{"maskedValue":"from*****"}`)
	set("A", "abcd", `"Upserted key A"`)
	set("B", []int{1}, `"Upserted key B"`)
	set("MOVED", "to-the-keyring", `"Upserted key MOVED"`)
	set("B", nil, `"Removed key B"`)
	large := strings.Repeat("x", 1<<20)
	set("large", large, `"Upserted key large"`)
	set("large", nil, `"Removed key large"`)
	if got := testfile.Text(t, file); got != "OLD: from-file\n" {
		t.Errorf("secrets.yaml is %q, want the one secret that was not stored again", got)
	}
	answers.api.close()
	s.kill()
	if log := s.stderr.String(); strings.Count(log, "keyring") != 1 || strings.Contains(log, "abcd") {
		t.Errorf("the log does not name the keyring once, or has a secret:\n%s", log)
	}

	s, _ = startServer(t, home, "http://127.0.0.1:1", address)
	answers.api = s.api()
	read("A", `{"maskedValue":"ab**"}`)
	read("B", "null")
	read("MOVED", `{"maskedValue":"to-the-*******"}`)
	set("A", nil, `"Removed key A"`)
	read("A", "null")
	answers.api.close()
	s.kill()

	s, _ = startServer(t, home, "http://127.0.0.1:1", address, "GOOSE_DISABLE_KEYRING=")
	answers.api = s.api()
	defer answers.api.close()
	read("MOVED", "null")
	read("OLD", `{"maskedValue":"from*****"}`)
}
