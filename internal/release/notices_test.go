package release

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

var update = flag.Bool("update", false, "write NOTICES")

// legal matches the files that a copy of a module's code must come with.
var legal = regexp.MustCompile(`^(LICEN[CS]E|COPYING|NOTICE|PATENTS)([.-].*)?$`)

// linked returns the folders that the programs of a release are made of, with the modules that they belong to, such as
// "golang.org/x/sys v0.1.0".
func linked(t *testing.T) (folders map[string]string, roots map[string]string) {
	t.Helper()
	folders, roots = map[string]string{}, map[string]string{}
	for _, b := range read(t).Builds {
		for _, goos := range b.Goos {
			for _, goarch := range b.Goarch {
				const format = `{{with .Module}}{{if not .Main}}{{$.Dir}}|{{.Path}} {{.Version}}|{{.Dir}}{{end}}{{end}}`
				for line := range strings.Lines(run(t, root, append(b.Env, "GOOS="+goos, "GOARCH="+goarch), "go", "list", "-deps", "-f", format, b.Main)) {
					if f := strings.Split(strings.TrimSpace(line), "|"); len(f) == 3 {
						folders[f[0]], roots[f[1]] = f[1], f[2]
					}
				}
			}
		}
	}
	return folders, roots
}

// notices returns the legal texts of all modules that are linked, each text once.
func notices(t *testing.T) string {
	t.Helper()
	folders, roots := linked(t)
	of := map[string][]string{} // a text, and the files that have it
	add := func(module, dir, name string) {
		t.Helper()
		text := strings.Trim(strings.ReplaceAll(testfile.Text(t, filepath.Join(dir, name)), "\r\n", "\n"), "\n")
		of[text] = append(of[text], module+": "+name)
	}
	goroot := strings.TrimSpace(run(t, root, nil, "go", "env", "GOROOT"))
	for _, name := range []string{"LICENSE", "PATENTS"} {
		add("Go, its runtime and standard library", goroot, name)
	}
	for module, dir := range roots {
		inside := map[string]bool{} // the folders of linked packages, and those above them
		for folder, m := range folders {
			for ; m == module && strings.HasPrefix(folder, dir); folder = filepath.Dir(folder) {
				inside[folder] = true
			}
		}
		found := false
		for folder := range inside {
			entries, err := os.ReadDir(folder)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if e.IsDir() || !legal.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
					continue
				}
				name, err := filepath.Rel(dir, filepath.Join(folder, e.Name()))
				if err != nil {
					t.Fatal(err)
				}
				found = found || folder == dir
				add(module, dir, filepath.ToSlash(name))
			}
		}
		if !found {
			t.Errorf("%s has no licence", module)
		}
	}
	var b strings.Builder
	b.WriteString("The programs lockstep and agentd contain code of others. These are its licences and notices.\n" +
		"`make notices` writes this file.\n")
	for _, files := range of {
		slices.Sort(files)
	}
	for _, text := range slices.SortedFunc(maps.Keys(of), func(a, b string) int { return strings.Compare(of[a][0], of[b][0]) }) {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(of[text], "\n"), text)
	}
	return b.String()
}

func TestTheNoticesAreUpToDate(t *testing.T) {
	file, want := filepath.Join(root, "NOTICES"), notices(t)
	if *update {
		testfile.Write(t, file, want)
		return
	}
	if diff := cmp.Diff(want, testfile.Text(t, file)); diff != "" {
		t.Errorf("NOTICES is out of date; run make notices (-want +got):\n%s", diff)
	}
}
