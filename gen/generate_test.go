package gen

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const cure = "run make generate and commit what it changes with the change that caused it"

func TestTheGoCodeIsUpToDate(t *testing.T) {
	for _, name := range []string{"api", "server", "client"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inputs(t, name+".yaml", "overlay.yaml", "../go.sum")
			file := name + "/" + name + ".gen.go"
			fresh := filepath.Join(t.TempDir(), "fresh.go")
			command(t, ".", nil, "go", "tool", "oapi-codegen", "--config", name+".yaml", "-o", fresh, "../openapi.yaml")
			compare(t, file, read(t, file), read(t, fresh))
		})
	}
}

func TestTheTypeScriptCodeIsUpToDate(t *testing.T) {
	if _, err := os.Stat("../reference/node_modules"); err != nil {
		t.Fatal("the generator is not installed: run make reference/node_modules (make test does)")
	}
	inputs(t, "../reference/openapi-ts.config.ts", "../reference/package-lock.json")
	fresh := t.TempDir()
	command(t, "../reference", []string{"GEN_TS=" + fresh}, "npm", "run", "--silent", "generate")
	want, got := tree(t, "ts"), tree(t, fresh)
	for name := range got {
		compare(t, "ts/"+name, want[name], got[name])
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("gen/ts/%s is not made from the contract any more: %s", name, cure)
		}
	}
}

// inputs opens what the generators read, so that the test cache notices a change.
func inputs(t *testing.T, files ...string) {
	t.Helper()
	for _, file := range append(files, "../openapi.yaml") {
		read(t, file)
	}
}

func command(t *testing.T, dir string, env []string, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// tree returns the files in and below a folder, by their path in it.
func tree(t *testing.T, root string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[path] = read(t, filepath.Join(root, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func compare(t *testing.T, name string, committed, fresh []byte) {
	t.Helper()
	if !bytes.Equal(committed, fresh) {
		t.Errorf("gen/%s is stale: %s (-committed +fresh):\n%s", name, cure, excerpt(cmp.Diff(string(committed), string(fresh))))
	}
}

func excerpt(diff string) string {
	const most = 2000
	if len(diff) > most {
		return diff[:most] + "\n…"
	}
	return diff
}
