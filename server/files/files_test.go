package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/files"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

func TestFilesAreBounded(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"fits": strings.Repeat("x", 10), "large": strings.Repeat("x", 11), "bytes": "\xff", "empty": ""} {
		testfile.Write(t, in(name), text)
	}
	if err := errors.Join(os.Symlink("fits", in("link")), os.Symlink("/dev/zero", in("zeros")), syscall.Mkfifo(in("fifo"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"fits": nil, "link": nil, "empty": nil, "large": files.ErrTooLarge, "bytes": files.ErrNotUTF8,
		"zeros": files.ErrNotPlain, "fifo": files.ErrNotPlain, ".": files.ErrNotPlain, "none": os.ErrNotExist,
	} {
		text, err := files.ReadText(in(name), 10)
		if !errors.Is(err, want) || err != nil && text != "" {
			t.Errorf("%s: %q, %v; want %v", name, text, err, want)
		}
	}
}

// TestReadingDoesNotWaitForAFIFO reads a file that a FIFO replaces again and again.
func TestReadingDoesNotWaitForAFIFO(t *testing.T) {
	dir := t.TempDir()
	path, next := filepath.Join(dir, "file"), filepath.Join(dir, "next")
	testfile.Write(t, path, "x")
	read := make(chan error, 1)
	go func() {
		for range 120_000 {
			if _, err := files.Read(path, 10); err != nil && !errors.Is(err, files.ErrNotPlain) {
				read <- err
				return
			}
		}
		read <- nil
	}()
	for stuck := time.After(10 * time.Second); ; {
		err := errors.Join(syscall.Mkfifo(next, 0o600), os.Rename(next, path), os.WriteFile(next, []byte("x"), 0o600), os.Rename(next, path))
		if err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-read:
			if err != nil {
				t.Error(err)
			}
			return
		case <-stuck:
			t.Fatal("reading waits for a writer of a FIFO")
		default:
		}
	}
}
