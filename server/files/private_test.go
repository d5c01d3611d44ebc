package files_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/files"
)

// names lists a directory.
func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestAFileIsReplacedWhateverWasLeftBehind(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := filepath.Join(t.TempDir(), "new", "directory")
	path := filepath.Join(dir, "file")
	victim := filepath.Join(t.TempDir(), "victim")
	testfile.Write(t, victim, "untouched")
	for text, leave := range map[string]func(temporary string) error{
		"nothing": func(string) error { return nil },
		"text":    func(temporary string) error { return os.WriteFile(temporary, bytes.Repeat([]byte("x"), 100), 0o666) },
		"link":    func(temporary string) error { return os.Symlink(victim, temporary) },
		"fifo":    func(temporary string) error { return syscall.Mkfifo(temporary, 0o666) },
		"":        func(temporary string) error { return os.Mkdir(temporary, 0o777) },
	} {
		if err := errors.Join(os.MkdirAll(dir, 0o700), leave(path+".tmp")); err != nil {
			t.Fatal(err)
		}
		if err := files.ReplacePrivate(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode() != 0o600 || testfile.Text(t, path) != text {
			t.Errorf("the file is %v, %v, want %q with mode 600", info, err, text)
		}
		if got := names(t, dir); len(got) != 1 {
			t.Errorf("the directory has %q, want only the file", got)
		}
		if err := os.Chmod(path, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got := testfile.Text(t, victim); got != "untouched" {
		t.Errorf("a link that was left behind was followed: %q", got)
	}
}

func TestMissingDirectoriesAreCreated(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := files.ReplacePrivate(filepath.Join(dir, "file"), nil); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Dir(dir)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory is %v, %v; want mode 700", info, err)
	}
}

func TestAFailureLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.MkdirAll(filepath.Join(path, "x"), 0o700); err != nil { // a directory cannot be replaced
		t.Fatal(err)
	}
	if err := files.ReplacePrivate(path, []byte("x")); err == nil {
		t.Error("a directory was replaced")
	}
	if got := names(t, dir); !slices.Equal(got, []string{"file"}) {
		t.Errorf("the directory has %q, want only what was there", got)
	}
}

// TestManyReplaceOneFile checks that a reader never sees a mixture. Each call opens the directory, as another process
// would, so the test is the same for several servers.
func TestManyReplaceOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	const size = 200_000
	var all sync.WaitGroup
	for _, letter := range strings.Split("abcdefgh", "") {
		all.Go(func() {
			for range 5 {
				if err := files.ReplacePrivate(path, []byte(strings.Repeat(letter, size))); err != nil {
					t.Error(err)
				}
				text, err := files.ReadText(path, size)
				if err != nil || len(text) != size || text != strings.Repeat(text[:1], size) {
					t.Errorf("a mixture of %d bytes, %v", len(text), err)
				}
			}
		})
	}
	all.Wait()
}

func TestTheEndOfALink(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	testfile.Write(t, in("plain"), "")
	if err := errors.Join(os.Symlink("plain", in("link")), os.Symlink(in("link"), in("links")), os.Symlink("none", in("dangling")), os.Symlink("loop", in("loop"))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"plain": "plain", "link": "plain", "links": "plain", "dangling": "dangling", "loop": "loop", "none": "none"} {
		if got := files.Target(in(name)); got != in(want) {
			t.Errorf("Target(%s) is %s, want %s", name, got, want)
		}
	}
}
