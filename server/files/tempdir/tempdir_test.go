//go:build unix

package tempdir_test

import (
	"bufio"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/files/tempdir"
)

// holder makes the test binary a server that holds a directory until it is killed.
const holder = "SCRATCH_TEST_HOLDER"

func TestMain(m *testing.M) {
	if os.Getenv(holder) != "" {
		hold()
	}
	os.Exit(leak.Run(m))
}

func hold() {
	d, err := tempdir.Make()
	if err == nil {
		err = os.WriteFile(filepath.Join(d.Path, "main.py"), []byte("print()"), 0o600)
	}
	fmt.Println(d.Path, err)
	select {}
}

// held starts a process that holds a directory, and returns a function that kills it.
func held(t *testing.T) (path string, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holder+"=1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	kill = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	path, ok := strings.CutSuffix(line, " <nil>\n")
	if !ok {
		t.Fatalf("the process says %q, %v", line, err)
	}
	return path, kill
}

func there(t *testing.T, path string, want bool) {
	t.Helper()
	if _, err := os.Lstat(path); (err == nil) != want {
		t.Errorf("%s: %v, want that it is there: %t", filepath.Base(path), err, want)
	}
}

func sweep() { tempdir.Sweep(slog.New(slog.DiscardHandler)) }

func TestFilesOfAKilledServerAreRemoved(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	path, kill := held(t)
	sweep()
	there(t, filepath.Join(path, "main.py"), true) // while its server lives
	kill()
	there(t, filepath.Join(path, "main.py"), true)
	sweep()
	there(t, path, false)
}

func TestADirectoryIsPrivateAndIsRemoved(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	d, err := tempdir.Make()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(d.Path)
	if err != nil || info.Mode().Perm() != 0o700 || filepath.Dir(d.Path) != temporary {
		t.Errorf("%s: %v, %v", d.Path, info, err)
	}
	sweep() // by another server in this process
	there(t, d.Path, true)
	if err := d.Remove(); err != nil {
		t.Error(err)
	}
	there(t, d.Path, false)
	if err := (*tempdir.Directory)(nil).Remove(); err != nil {
		t.Error(err)
	}
}

func TestNoDirectoryWithoutATemporaryDirectory(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	if d, err := tempdir.Make(); err == nil {
		t.Errorf("made %s", d.Path)
	}
	sweep()
}

// TestFilesOfOthersAreNotRemoved checks that only directories are removed that a server of this user has created and
// locked.
func TestFilesOfOthersAreNotRemoved(t *testing.T) {
	temporary, elsewhere := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	name := func(last string) string {
		return filepath.Join(temporary, "goose-11111111-2222-4333-8444-55555555555"+last)
	}
	for _, tc := range []struct {
		what string
		path string
		make func(path string) error
	}{
		{"a directory without a lock", name("0"), func(path string) error { return os.Mkdir(path, 0o700) }},
		{"a directory that others may read", name("1"), func(path string) error {
			return withLock(path, 0o755)
		}},
		{"another name", filepath.Join(temporary, "goose-mine"), func(path string) error { return withLock(path, 0o700) }},
		{"a longer name", name("2x"), func(path string) error { return withLock(path, 0o700) }},
		{"a link", name("3"), func(path string) error {
			if err := withLock(filepath.Join(elsewhere, "d"), 0o700); err != nil {
				return err
			}
			return os.Symlink(filepath.Join(elsewhere, "d"), path)
		}},
		{"a lock that is a link", name("4"), func(path string) error {
			if err := os.Mkdir(path, 0o700); err != nil {
				return err
			}
			return os.Symlink(filepath.Join(elsewhere, "d", "lock"), filepath.Join(path, "lock"))
		}},
		{"a file", name("5"), func(path string) error { return os.WriteFile(path, nil, 0o700) }},
	} {
		if err := tc.make(tc.path); err != nil {
			t.Fatal(err)
		}
		sweep()
		if _, err := os.Lstat(tc.path); err != nil {
			t.Errorf("%s: %v", tc.what, err)
		}
	}
	there(t, filepath.Join(elsewhere, "d", "lock"), true)
	ours := name("6")
	if err := withLock(ours, 0o700); err != nil {
		t.Fatal(err)
	}
	sweep()
	there(t, ours, false)
}

// withLock creates a directory like one that a killed server leaves behind.
func withLock(path string, mode os.FileMode) error {
	if err := os.Mkdir(path, mode); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(path, "lock"), nil, 0o600)
}
