package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

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
