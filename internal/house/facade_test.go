package house

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxFacade limits how many names a user of package harness has to know.
const maxFacade = 22

// TestTheFacadeIsThin makes sure that package harness stays small, that each of its functions has an example, and
// that no exported name has a type that other modules cannot import.
func TestTheFacadeIsThin(t *testing.T) {
	examples := exampleNames(t, "../../harness")
	exported := exportData(t)
	fset := token.NewFileSet()
	imported := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exported[path]) })
	facade, err := imported.Import(module + "/harness")
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for _, name := range facade.Scope().Names() {
		o := facade.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		names++
		if _, isFunc := o.(*types.Func); isFunc && !slices.Contains(examples, "Example"+name) {
			t.Errorf("harness.%s has no example: write Example%[1]s", name)
		}
		for _, shown := range shownTypes(o.Type()) {
			if strings.Contains(shown, "/internal/") {
				t.Errorf("harness.%s shows the internal type %s", name, shown)
			}
		}
	}
	if names == 0 || names > maxFacade {
		t.Errorf("package harness exports %d names, at most %d: what one command alone needs belongs to a package of its own", names, maxFacade)
	}
}

// shownTypes returns the named types in a signature, or in the exported fields and methods of a type.
func shownTypes(t types.Type) []string {
	var out []string
	note := func(of types.Type) {
		out = append(out, types.TypeString(of, nil))
	}
	if named, ok := types.Unalias(t).(*types.Named); ok {
		for m := range named.Methods() {
			if m.Exported() {
				note(m.Type())
			}
		}
		t = named.Underlying()
	}
	if s, ok := t.(*types.Struct); ok {
		for f := range s.Fields() {
			if f.Exported() {
				note(f.Type())
			}
		}
		return out
	}
	note(t)
	return out
}

// exampleNames returns the names of a package's example functions.
func exampleNames(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Example") {
				out = append(out, f.Name.Name)
			}
		}
	}
	return out
}
