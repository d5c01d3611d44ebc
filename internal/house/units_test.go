package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// These bounds keep units easy to understand. A type may have few methods. A knot is a set of files in a package that
// all need each other, and can only be read together.
const (
	maxMethods = 20
	maxKnot    = 12
)

// tooLarge lists the units that exceed a bound, with their size. They must not grow, and no unit may be added.
var tooLarge = map[string]int{
	"methods server.operations": 59,
}

func TestUnitsAreSmall(t *testing.T) {
	var measured []string
	for name, parts := range units(t) {
		n, bound := len(parts), maxMethods
		if strings.HasPrefix(name, "knot ") {
			bound = maxKnot
		}
		allowed, listed := tooLarge[name]
		switch {
		case n > max(bound, allowed):
			t.Errorf("%s: %d, at most %d: split it along its data: %s", name, n, max(bound, allowed), strings.Join(slices.Sorted(slices.Values(parts)), ", "))
		case listed && n <= bound:
			t.Errorf("%s is %d now: remove it from tooLarge", name, n)
		}
		if n > bound {
			measured = append(measured, fmt.Sprintf("%q: %d,", name, n))
		}
	}
	slices.Sort(measured)
	t.Logf("above a bound:\n%s", strings.Join(measured, "\n"))
}

// TestUnitsAreMeasured checks the measurement: it finds a knot, and the methods of both kinds of receiver.
func TestUnitsAreMeasured(t *testing.T) {
	fset := token.NewFileSet()
	var files []*ast.File
	for name, src := range map[string]string{
		"a.go": "package p\ntype T struct{ n int }\nfunc (t *T) A() { b() }\nfunc (T) B() {}",
		"b.go": "package p\nfunc b() { c(T{}) }",
		"c.go": "package p\nfunc c(t T) { t.B() }",
		"d.go": "package p\nfunc d() { c(T{}) }",
	} {
		file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	got := map[string][]string{}
	measure(got, "p", fset, files, nil)
	for _, parts := range got {
		slices.Sort(parts)
	}
	want := map[string][]string{"knot p": {"a.go", "b.go", "c.go"}, "methods p.T": {"A", "B"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("measured (-want +got):\n%s", diff)
	}
}

// units measures each package except generated ones: "knot <package>" has the files of its largest knot, and
// "methods <package>.<type>" the methods that a type declares or gets from embedded types.
func units(t *testing.T) map[string][]string {
	t.Helper()
	exports := exportData(t)
	measured := map[string][]string{}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.path, module+"/")
		if under(name, "gen") {
			continue
		}
		fset := token.NewFileSet()
		var files []*ast.File
		for _, f := range p.files {
			file, err := parser.ParseFile(fset, filepath.Join(p.dir, f), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		imported := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
		measure(measured, name, fset, files, imported)
	}
	return measured
}

// exportData returns the files with the compiler's export data, by import path.
func exportData(t *testing.T) map[string]string {
	t.Helper()
	exports := map[string]string{}
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}}|{{.Export}}", "./...")
	list.Dir = "../.."
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list -export: %v\n%s", err, &stderr)
	}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "|")
		exports[path] = file
	}
	return exports
}

func measure(measured map[string][]string, name string, fset *token.FileSet, files []*ast.File, imported types.Importer) {
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: imported, Error: func(error) {}} // the build reports errors, not this test
	pkg, _ := config.Check(name, fset, files, &info)
	fileOf := func(pos token.Pos) string { return filepath.Base(fset.Position(pos).Filename) }
	needs := map[string]map[string]bool{}
	for id, o := range info.Uses {
		if o.Pkg() != pkg || !o.Pos().IsValid() {
			continue
		}
		from, to := fileOf(id.Pos()), fileOf(o.Pos())
		if needs[from] == nil {
			needs[from] = map[string]bool{}
		}
		needs[from][to] = from != to
	}
	measured["knot "+name] = knot(needs)
	for _, n := range pkg.Scope().Names() {
		o, isType := pkg.Scope().Lookup(n).(*types.TypeName)
		if !isType || o.IsAlias() {
			continue
		}
		if named, ok := o.Type().(*types.Named); ok && !types.IsInterface(named) {
			if methods := callable(named, pkg); len(methods) > 0 {
				measured["methods "+name+"."+o.Name()] = methods
			}
		}
	}
}

// callable returns the methods that code in the package can call on a type: its own, and those of embedded types. Methods
// from other modules are left out, such as those of an embedded *os.File.
func callable(named *types.Named, pkg *types.Package) []string {
	var out []string
	for method := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		from := method.Obj().Pkg()
		if from == pkg || from != nil && method.Obj().Exported() && strings.HasPrefix(from.Path(), module+"/") {
			out = append(out, method.Obj().Name())
		}
	}
	return out
}

// knot returns the largest set of files in which each file needs all others, directly or not.
func knot(needs map[string]map[string]bool) []string {
	reach := func(from string) map[string]bool {
		seen := map[string]bool{}
		for todo := []string{from}; len(todo) > 0; {
			next := todo[0]
			todo = todo[1:]
			for to, other := range needs[next] {
				if other && !seen[to] {
					seen[to] = true
					todo = append(todo, to)
				}
			}
		}
		return seen
	}
	reached := map[string]map[string]bool{}
	for file := range needs {
		reached[file] = reach(file)
	}
	var largest []string
	for file, all := range reached {
		var tied []string
		for other := range all {
			if reached[other][file] {
				tied = append(tied, other)
			}
		}
		if len(tied) > len(largest) {
			largest = tied
		}
	}
	return largest
}
