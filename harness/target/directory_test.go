//go:build unix

package target

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// tenant is the spec of a server that has files in its own directory.
func tenant(files ...File) Spec {
	spec := roleSpec("tenant")
	spec.Env[dirVariable], spec.Files = "${{ directory }}", files
	return spec
}

// found returns the files that a tenant has reported.
func found(t *Target) []string {
	var out []string
	for _, line := range t.Log() {
		if line.Stream == Stdout && line.Text != "listening" && line.Text != "bye" {
			out = append(out, line.Text)
		}
	}
	return out
}

func isGone(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left: %v", dir, err)
	}
}

func TestTheDirectoryOfATargetIsRemovedWithIt(t *testing.T) {
	target := start(t, tenant(
		File{Path: "b/c.json", Data: []byte("{${{ host }}}"), Text: true},
		File{Path: "a", Data: []byte("${{ host }} ${{ none }}")},
	))
	want := []string{"a: ${{ host }} ${{ none }}", "b/c.json: {127.0.0.1}"}
	if got := found(target); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	dir := target.dir.Path()
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory: %v, %v", info, err)
	}
	if err := target.Stop(t.Context()); err != nil {
		t.Errorf("Stop: %v", err)
	}
	isGone(t, dir)
	if err := target.Stop(t.Context()); err != nil {
		t.Errorf("Stop again: %v", err)
	}
}

func TestTheDirectoryOfATargetThatDoesNotStartIsRemoved(t *testing.T) {
	slow(t)
	spec := roleSpec("exits")
	spec.Command[0], spec.Dir = "./none", "${{ directory }}"
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	_, err := Start(t.Context(), spec, nil)
	wantError(t, err, `start target "exits": command "./none": execute `)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestOneDirectoryServesTargetsThatComeOneAfterTheOther(t *testing.T) {
	slow(t)
	dir, err := NewDirectory(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Remove()
	spec := tenant(File{Path: "port", Data: []byte("${{ port }}"), Text: true}, File{Path: "state", Data: []byte("new")})
	for _, state := range []string{"new", "changed"} {
		target, err := Start(t.Context(), spec, &Options{Directory: dir})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"left/behind: x", "port: " + target.URL().Port(), "state: " + state}
		if state == "new" {
			want = want[1:]
		}
		if got := found(target); !slices.Equal(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
		if err := errors.Join(os.WriteFile(filepath.Join(dir.Path(), "state"), []byte("changed"), 0o600), target.Stop(t.Context())); err != nil {
			t.Error(err)
		}
	}
	if err := dir.Remove(); err != nil {
		t.Errorf("Remove: %v", err)
	}
	isGone(t, dir.Path())
}

func TestNoFileLeavesItsDirectoryThroughALink(t *testing.T) {
	dir, err := NewDirectory(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Remove()
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir.Path(), "out")); err != nil {
		t.Fatal(err)
	}
	if err := dir.writeFiles([]File{{Path: "out/x"}}, (Spec{}).values(1, dir.Path())); err == nil {
		t.Error("the file was written")
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("outside there is %v", left)
	}
}

func TestAPipeInThePlaceOfAFileIsReplaced(t *testing.T) {
	dir, err := NewDirectory(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Remove()
	file := filepath.Join(dir.Path(), "port")
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := dir.writeFiles([]File{{Path: "port", Data: []byte("1")}}, (Spec{}).values(1, dir.Path())); err != nil {
		t.Error(err)
	}
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		t.Errorf("there is %v, %v", info, err)
	}
}

func TestNoDirectoryIsRemovedWithoutAnError(t *testing.T) {
	var none *Directory
	if none.Path() != "" || none.Remove() != nil {
		t.Errorf("no directory: %q, %v", none.Path(), none.Remove())
	}
}

func TestPathsOfDirectoriesAreAsLong(t *testing.T) {
	in := t.TempDir()
	for range 50 {
		d, err := NewDirectory(in)
		if err != nil {
			t.Fatal(err)
		}
		if want := len(in) + len("/lockstep-0123456789abcdef"); len(d.Path()) != want {
			t.Errorf("%s has %d bytes, want %d", d.Path(), len(d.Path()), want)
		}
		if err := d.Remove(); err != nil {
			t.Error(err)
		}
	}
}
