//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// These variables make a process of the test binary confine itself before it does anything else.
const (
	// diskVariable is the directory on which it mounts a small file system, in a namespace of its own.
	diskVariable = "AGENTD_TEST_DISK"
	// readOnlyVariable makes that file system read-only, with this text as config.yaml.
	readOnlyVariable = "AGENTD_TEST_READ_ONLY"
	// limitVariable limits the size of a file to [fileLimit].
	limitVariable = "AGENTD_TEST_LIMIT"

	fileLimit = 1 << 20
	diskSize  = "size=256k,mode=700"
)

func confine() {
	dir, isDisk := os.LookupEnv(diskVariable)
	_, isLimited := os.LookupEnv(limitVariable)
	var err error
	if isDisk {
		err = syscall.Mount("agentd-test", dir, "tmpfs", 0, diskSize)
	}
	if text, is := os.LookupEnv(readOnlyVariable); is && err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600), os.WriteFile(filepath.Join(dir, "secrets.yaml"), []byte("s: abcd\n"), 0o600))
		if err == nil {
			err = syscall.Mount("agentd-test", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, diskSize)
		}
	}
	if isLimited {
		signal.Ignore(syscall.SIGXFSZ) // otherwise it would end the process
		err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: fileLimit, Max: fileLimit})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if isDisk && os.Getenv(asAgentd) == "" {
		os.Exit(0)
	}
}

// onDisk has a command run in a namespace of its own, with a small file system at a directory. It skips the test if
// the machine does not let the user mount one.
func onDisk(t *testing.T, dir string, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	namespace := &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	probe := exec.CommandContext(t.Context(), cmd.Path)
	probe.Env, probe.SysProcAttr = []string{diskVariable + "=" + dir}, namespace
	if said, err := probe.CombinedOutput(); err != nil {
		t.Skipf("NOT RUN: this machine does not let the user mount a file system: %v %s", err, said)
	}
	cmd.Env, cmd.SysProcAttr = append(cmd.Env, diskVariable+"="+dir), namespace
	return cmd
}

// A request is sent to a server, which answers with a status.
type request struct {
	method, path string
	body         any
	status       int
	logged       string // the file of which its line in the log speaks
}

// check sends requests and checks the statuses.
func (s *served) check(t *testing.T, requests ...request) {
	t.Helper()
	api := s.api()
	defer api.close()
	for _, r := range requests {
		_, err := api.do(r.method, r.path, r.body)
		status := 200
		if no := (*refused)(nil); errors.As(err, &no) {
			status, err = no.status, nil
		}
		if err != nil || status != r.status {
			t.Errorf("%s %s: %d, %v; want %d", r.method, r.path, status, err, r.status)
		}
	}
}

// checkLog ends the server, and checks that the log has a line with the reason for each request that has one, in order.
func (s *served) checkLog(t *testing.T, reason string, requests ...request) {
	t.Helper()
	s.kill() // all it has said is known then
	var lines, want []string
	for line := range strings.Lines(s.stderr.String()) {
		if strings.Contains(line, reason) {
			lines = append(lines, line)
		}
	}
	for _, r := range requests {
		if r.logged != "" {
			want = append(want, r.logged)
		}
	}
	if !slices.EqualFunc(lines, want, strings.Contains) {
		t.Errorf("the log has %d lines about %q, want one about each of %q:\n%s", len(lines), reason, want, s.stderr)
	}
}

func upsert(key string, value any, secret bool) object {
	return object{"key": key, "value": value, "is_secret": secret}
}

func allow(tool string) object {
	return object{"tool_permissions": []object{{"tool_name": tool, "permission": "always_allow"}}}
}

var anExtension = object{"name": "e", "enabled": true, "config": object{"type": "builtin", "name": "e"}}

// refusals are the answers of a server that cannot write its files.
var refusals = []request{
	{"POST", "/config/upsert", upsert("a", 2, false), 500, "config.yaml"},
	{"POST", "/config/remove", object{"key": "a", "is_secret": false}, 404, "config.yaml"},
	{"POST", "/config/extensions", anExtension, 200, "config.yaml"},
	{"DELETE", "/config/extensions/e", nil, 200, "config.yaml"},
	{"POST", "/config/backup", nil, 500, "config.yaml.bak"},
	{"POST", "/config/upsert", upsert("s", "other", true), 500, "secrets.yaml"},
	{"POST", "/config/remove", object{"key": "s", "is_secret": true}, 404, "secrets.yaml"},
	{"POST", "/config/permissions", allow("b"), 500, "permission.yaml"},
	{"GET", "/config", nil, 200, ""},
	{"GET", "/config/validate", nil, 200, ""},
	{"POST", "/config/read", object{"key": "s", "is_secret": true}, 200, ""},
}

// contents returns the files of a directory by name.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		all[entry.Name()] = testfile.Text(t, filepath.Join(dir, entry.Name()))
	}
	return all
}

func TestAFullDiskLosesNothing(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "config")
	s, _ := startCommand(t, home, onDisk(t, dir, agentd(t, home, "http://127.0.0.1:1")))
	inside := filepath.Join("/proc", fmt.Sprint(s.cmd.Process.Pid), "root", dir)
	s.check(t,
		request{"POST", "/config/upsert", upsert("a", 1, false), 200, ""},
		request{"POST", "/config/upsert", upsert("s", "abcd", true), 200, ""},
		request{"POST", "/config/permissions", allow("a"), 200, ""},
	)
	before := contents(t, inside)
	fill(t, filepath.Join(inside, "full"))
	s.check(t, refusals...)
	testfile.Remove(t, filepath.Join(inside, "full"))
	after := contents(t, inside)
	for _, name := range []string{"config.yaml", "secrets.yaml", "permission.yaml"} {
		if before[name] == "" || after[name] != before[name] {
			t.Errorf("%s has %q, want %q", name, after[name], before[name])
		}
	}
	for name := range after {
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s is left", name)
		}
	}
	s.check(t, request{"POST", "/config/upsert", upsert("a", 2, false), 200, ""})
	if got := contents(t, inside)["config.yaml"]; got != "a: 2\n" {
		t.Errorf("with space again config.yaml is %q", got)
	}
	s.checkLog(t, "no space left on device", refusals...)
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for page := make([]byte, 4096); err == nil; {
		_, err = f.Write(page)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

func TestAReadOnlyDirectoryLosesNothing(t *testing.T) {
	home := t.TempDir()
	cmd := onDisk(t, filepath.Join(home, "config"), agentd(t, home, "http://127.0.0.1:1", readOnlyVariable+"=a: 1"))
	s, _ := startCommand(t, home, cmd)
	s.check(t, refusals...)
	if got := contents(t, filepath.Join("/proc", fmt.Sprint(s.cmd.Process.Pid), "root", home, "config")); len(got) != 2 || got["config.yaml"] != "a: 1" {
		t.Errorf("the files are %q, want the two that were there", got)
	}
	s.checkLog(t, "read-only file system", refusals...)
}

// TestABrokenFileInAReadOnlyDirectory checks decision G38: a file that cannot be repaired cannot be read.
func TestABrokenFileInAReadOnlyDirectory(t *testing.T) {
	home := t.TempDir()
	cmd := onDisk(t, filepath.Join(home, "config"), agentd(t, home, "http://127.0.0.1:1", readOnlyVariable+"=- broken"))
	s, _ := startCommand(t, home, cmd)
	requests := []request{
		{"GET", "/config", nil, 422, "config.yaml"},
		{"POST", "/config/upsert", upsert("a", 1, false), 500, "config.yaml"},
		{"GET", "/config/extensions", nil, 200, "config.yaml"},
		{"POST", "/config/read", object{"key": "s", "is_secret": true}, 200, ""},
	}
	s.check(t, requests...)
	s.checkLog(t, "read-only file system", append([]request{{logged: "config.yaml"}}, requests...)...) // the start reads it too
}

// TestAFileThatTheSystemRefusesLosesNothing is like a full disk, but needs no privileges.
func TestAFileThatTheSystemRefusesLosesNothing(t *testing.T) {
	home := t.TempDir()
	s, _ := startServer(t, home, "http://127.0.0.1:1", limitVariable+"=1")
	large := strings.Repeat("x", fileLimit)
	requests := []request{
		{"POST", "/config/upsert", upsert("a", 1, false), 200, ""},
		{"POST", "/config/upsert", upsert("s", "abcd", true), 200, ""},
		{"POST", "/config/upsert", upsert("a", large, false), 500, "config.yaml"},
		{"POST", "/config/upsert", upsert("s", large, true), 500, "secrets.yaml"},
		{"POST", "/config/permissions", allow(large), 500, "permission.yaml"},
	}
	s.check(t, requests...)
	// The backups have not moved, because the new text could not be written.
	want := map[string]string{"config.yaml": "a: 1\n", "config.yaml.bak": "{}\n", "secrets.yaml": "s: abcd\n"}
	if diff := cmp.Diff(want, contents(t, filepath.Join(home, "config"))); diff != "" {
		t.Errorf("the files (-want +got):\n%s", diff)
	}
	s.checkLog(t, "file too large", requests...)
}
