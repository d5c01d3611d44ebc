package release

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/zip"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// A file is one that git knows, or would add.
type file string

func (f file) Path() string                 { return string(f) }
func (f file) Lstat() (os.FileInfo, error)  { return os.Lstat(filepath.Join(root, string(f))) }
func (f file) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(root, string(f))) }

// tracked returns the files of the repository.
func tracked(t *testing.T) (files []zip.File) {
	t.Helper()
	names := strings.Split(run(t, root, nil, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"), "\x00")
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if f := file(name); name != "" {
			if _, err := f.Lstat(); err == nil {
				files = append(files, f)
			}
		}
	}
	if len(files) < 1000 {
		t.Fatalf("only %d files", len(files))
	}
	return files
}

// moduleFiles returns the names of the files that a module's archive has.
func moduleFiles(t *testing.T) []string {
	t.Helper()
	checked, err := zip.CheckFiles(tracked(t))
	if err != nil {
		t.Fatal(err)
	}
	return checked.Valid
}

// TestTheModuleCanBeInstalled checks what `go install …@latest` demands of a module: no directive that only counts in
// the main module, and an archive with every embedded file.
func TestTheModuleCanBeInstalled(t *testing.T) {
	mod, err := modfile.Parse("go.mod", testfile.Read(t, filepath.Join(root, "go.mod")), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(mod.Replace) > 0 || len(mod.Exclude) > 0 {
		t.Errorf("go install rejects a module that replaces or excludes others: %v, %v", mod.Replace, mod.Exclude)
	}
	there := map[string]bool{}
	for _, name := range moduleFiles(t) {
		there[name] = true
	}
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for path := range strings.Lines(run(t, root, nil, "go", "list", "-f", `{{range .EmbedFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}`, "./...")) {
		if path = strings.TrimSpace(path); path == "" {
			continue
		}
		name, err := filepath.Rel(top, path)
		if err != nil {
			t.Fatal(err)
		}
		found++
		if !there[filepath.ToSlash(name)] {
			t.Errorf("%s is embedded, but not in the module's archive", name)
		}
	}
	if found < 10 || !there["LICENSE"] || !there["NOTICES"] {
		t.Errorf("%d embedded files; LICENSE: %t, NOTICES: %t", found, there["LICENSE"], there["NOTICES"])
	}
}
