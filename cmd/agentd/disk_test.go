//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
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
	// readOnlyVariable makes that file system read-only, with [filesWith] this text.
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
		if err = writeAll(dir, filesWith(text)); err == nil {
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

// filesWith returns files of a configuration directory by their paths in it, with a text as config.yaml.
func filesWith(config string) map[string]string {
	definition := `{"name":"x","engine":"openai","display_name":"X","api_key_env":"","base_url":"http://127.0.0.1:1","models":[]}`
	return map[string]string{
		"config.yaml": config, "secrets.yaml": "s: abcd\nCUSTOM_C_API_KEY: abcd\n",
		"custom_providers/custom_c.json": definition, "custom_providers/custom_d.json": definition,
	}
}

func writeAll(dir string, files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	return nil
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
	{"POST", "/config/set_provider", object{"provider": "openai", "model": "m"}, 400, "config.yaml"},
	{"POST", "/config/custom-providers", defined("New"), 500, "secrets.yaml"},
	{"PUT", "/config/custom-providers/custom_c", defined("Other"), 500, "custom_c.json"},
	{"DELETE", "/config/custom-providers/custom_c", nil, 500, "secrets.yaml"}, // its key comes first
	{"GET", "/config/custom-providers/custom_c", nil, 200, ""},
	{"GET", "/config", nil, 200, ""},
	{"GET", "/config/validate", nil, 200, ""},
	{"POST", "/config/read", object{"key": "s", "is_secret": true}, 200, ""},
}

// TestAFullDiskLosesNothing checks decision G41.
func TestAFullDiskLosesNothing(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "config")
	s, _ := startCommand(t, home, onDisk(t, dir, agentd(t, home, "http://127.0.0.1:1")))
	inside := filepath.Join("/proc", fmt.Sprint(s.cmd.Process.Pid), "root", dir)
	s.check(t,
		request{"POST", "/config/upsert", upsert("a", 1, false), 200, ""},
		request{"POST", "/config/upsert", upsert("s", "abcd", true), 200, ""},
		request{"POST", "/config/permissions", allow("a"), 200, ""},
		request{"POST", "/config/custom-providers", defined("C"), 200, ""},
	)
	before := contents(t, inside)
	fill(t, filepath.Join(inside, "full"))
	s.check(t, refusals...)
	testfile.Remove(t, filepath.Join(inside, "full"))
	after := contents(t, inside)
	for _, name := range []string{"config.yaml", "secrets.yaml", "permission.yaml", "custom_providers/custom_c.json"} {
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
	s.checkRefusals(t, filepath.Join("/proc", fmt.Sprint(s.cmd.Process.Pid), "root", home, "config"), "read-only file system")
}

// checkRefusals checks what a server answers and logs that cannot write any of [filesWith], and that they stay.
func (s *served) checkRefusals(t *testing.T, dir, reason string) {
	t.Helper()
	requests := append([]request{{"DELETE", "/config/custom-providers/custom_d", nil, 500, "custom_d.json"}}, refusals...)
	s.check(t, requests...)
	if diff := cmp.Diff(filesWith("a: 1"), contents(t, dir)); diff != "" {
		t.Errorf("the files (-want +got):\n%s", diff)
	}
	s.checkLog(t, reason, requests...)
}

// TestADirectoryOfOthersLosesNothing starts the server as a user who may read the directory, but not write there. Root may
// write everywhere, so for root that is another user.
func TestADirectoryOfOthersLosesNothing(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "config")
	if err := writeAll(dir, filesWith("a: 1")); err != nil {
		t.Fatal(err)
	}
	cmd := agentd(t, home, "http://127.0.0.1:1")
	if os.Getuid() == 0 {
		const otherUser = 65534
		cmd.Path = filepath.Join(home, "agentd") // a copy: others may not enter the directory of the test binary
		copied := exec.CommandContext(t.Context(), "cp", testfile.Program(t), cmd.Path)
		owned := exec.CommandContext(t.Context(), "chown", "-R", fmt.Sprint(otherUser), home)
		if err := errors.Join(copied.Run(), owned.Run(), os.Chmod(filepath.Dir(home), 0o711)); err != nil {
			t.Fatal(err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUser, Gid: otherUser}}
	}
	for _, name := range []string{dir, filepath.Join(dir, "custom_providers")} {
		if err := os.Chmod(name, 0o500); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(name, 0o700)
	}
	s, _ := startCommand(t, home, cmd)
	s.checkRefusals(t, dir, "permission denied")
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
	s.check(t,
		request{"POST", "/config/upsert", upsert("a", 1, false), 200, ""},
		request{"POST", "/config/upsert", upsert("s", "abcd", true), 200, ""},
		request{"POST", "/config/custom-providers", defined("C"), 200, ""},
	)
	want := contents(t, filepath.Join(home, "config"))
	large := strings.Repeat("x", fileLimit)
	requests := []request{
		{"POST", "/config/upsert", upsert("a", large, false), 500, "config.yaml"},
		{"POST", "/config/upsert", upsert("s", large, true), 500, "secrets.yaml"},
		{"POST", "/config/permissions", allow(large), 500, "permission.yaml"},
		{"PUT", "/config/custom-providers/custom_c", defined(large), 500, "custom_c.json"},
	}
	s.check(t, requests...)
	// The backups have not moved, because the new text could not be written.
	if diff := cmp.Diff(want, contents(t, filepath.Join(home, "config"))); diff != "" || len(want) != 4 {
		t.Errorf("the files (-want +got):\n%s", diff)
	}
	s.checkLog(t, "file too large", requests...)
}
