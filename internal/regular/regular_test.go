//go:build unix

package regular

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestOnlyFilesAreReadAndNothingHangs(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(path("file"), []byte("text"), 0o644))
	must(os.Symlink("file", path("link")))
	must(os.Symlink("pipe", path("link-to-pipe")))
	must(syscall.Mkfifo(path("pipe"), 0o600))
	must(os.Mkdir(path("folder"), 0o755))
	l, err := net.Listen("unix", path("socket"))
	must(err)
	defer l.Close()

	const isLink, isPipe = "it is a symbolic link", "it is a named pipe"
	for _, tc := range []struct{ name, read, create string }{
		{"link", "", isLink},
		{"file", "", ""},
		{"link-to-pipe", isPipe, isLink},
		{"pipe", isPipe, isPipe},
		{"folder", "it is a directory", "it is a directory"},
		{"socket", "it is a socket", "it is a socket"},
		{"/dev/zero", "it is a device", "it is a device"},
		{"nothing", "no such file", ""},
	} {
		file := tc.name
		if !filepath.IsAbs(file) {
			file = path(file)
		}
		data, err := Read(file)
		if !says(err, tc.read) || err == nil && string(data) != "text" {
			t.Errorf("Read %s: %q, %v, want %q", tc.name, data, err, tc.read)
		}
		made, err := Create(file)
		if !says(err, tc.create) {
			t.Errorf("Create %s: %v, want %q", tc.name, err, tc.create)
		}
		if err == nil {
			made.Close()
		}
	}
}

func says(err error, want string) bool {
	return (err == nil) == (want == "") && (err == nil || strings.Contains(err.Error(), want))
}

func TestAFileWithASecondNameIsNotOverwritten(t *testing.T) {
	dir := t.TempDir()
	one, other := filepath.Join(dir, "one"), filepath.Join(dir, "other")
	if err := errors.Join(os.WriteFile(one, []byte("kept"), 0o644), os.Link(one, other)); err != nil {
		t.Fatal(err)
	}
	file, err := Create(other)
	if err != nil {
		t.Fatal(err)
	}
	file.WriteString("new")
	file.Close()
	if data, _ := os.ReadFile(one); string(data) != "kept" {
		t.Errorf("the other name has %q", data)
	}
}

func TestAPipeThatIsHandedOverIsRead(t *testing.T) {
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	in.WriteString("text")
	in.Close()
	path := filepath.Join("/dev/fd", strconv.Itoa(int(out.Fd())))
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	if data, err := Read(path); err != nil || string(data) != "text" {
		t.Errorf("Read: %q, %v", data, err)
	}
}
