// Package house holds the rules of the house as tests: who may import whom, and who may touch the world outside.
package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/lockstep-dev/lockstep"

// mayImport says what each package of the harness may import of ours, besides internal/. Arrows point down, never
// sideways; the one exception is httpwire → sse, because an event stream is an HTTP body.
var mayImport = map[string][]string{
	"harness/scenario":           {},
	"harness/target":             {},
	"harness/transcript":         {},
	"harness/match":              {"harness/transcript"},
	"harness/stub":               {"harness/transcript"},
	"harness/stub/mcp":           {"harness/stub/mcp/record"},
	"harness/stub/mcp/record":    {},
	"harness/transport/sse":      {"harness/transcript"},
	"harness/transport/httpwire": {"harness/transcript", "harness/transport/sse"},
	"harness/run":                {"harness/scenario", "harness/match", "harness/stub", "harness/stub/mcp/record", "harness/transcript", "harness/transport/httpwire", "harness/transport/sse"},
	"harness/compare":            {"harness/match", "harness/redact", "harness/transcript"},
	"harness/contract":           {"harness/transcript"},
	"harness/draft":              {"harness/contract", "harness/transcript"},
	"harness/verdict":            {"harness/compare", "harness/contract", "harness/transcript"},
	"harness/waiver":             {"harness/verdict"},
	"harness/baseline":           {"harness/verdict"},
	"harness/mutate":             {"harness/compare", "harness/match", "harness/transcript"},
	"harness/redact":             {"harness/transcript"},
	"harness/report":             {"harness/verdict", "harness/contract", "harness/transcript"},
	"harness": {
		"harness/scenario", "harness/target", "harness/run", "harness/stub", "harness/transcript", "harness/transport/httpwire",
		"harness/compare", "harness/contract", "harness/verdict", "harness/waiver", "harness/baseline", "harness/redact", "harness/report", "harness/mutate", "harness/draft",
	},
	"cmd/lockstep": {"harness", "harness/draft", "harness/scenario", "harness/stub/mcp", "harness/transcript", "harness/verdict", "harness/waiver", "harness/baseline", "harness/report"},
}

// neverReaches says what a package must not depend on, however indirectly, and why.
var neverReaches = []struct{ from, to, why string }{
	{"harness", "gen", "the harness works for anybody's document, and a shared type would share the mistake"},
	{"harness", "server", "the harness judges the server, so it shares no code with it"},
	{"harness", "sdk", "the harness shares no code with what it judges"},
	{"server", "harness", "the server is judged by the harness, so it shares no code with it"},
	{"harness/run", "github.com/modelcontextprotocol", "whoever tests with the harness needs no library for MCP: only the command has the server"},
	{"harness/report", "harness/run", "a report can show last month's run without being able to run anything"},
	{"harness/report", "harness/target", "a report can show last month's run without being able to run anything"},
	{"harness/report", "harness/transport", "a report can show last month's run without being able to run anything"},
	{"harness/transcript", "harness/transport", "reading a record must not pull in a wire"},
	{"gen/api", "github.com/labstack/echo/v4", "client libraries use the types without a web framework"},
	{"gen/client", "github.com/labstack/echo/v4", "client libraries use the client without a web framework"},
}

// pure are the packages that read what they are given, and neither a clock nor the world outside.
var pure = []string{"harness/compare", "harness/contract", "harness/draft", "harness/match", "harness/mutate", "harness/redact", "harness/verdict"}

func TestPackagesImportDownwards(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.path, module+"/")
		allowed, known := mayImport[name]
		if !known {
			if strings.HasPrefix(name, "harness") {
				t.Errorf("%s is not in the table of this test: say what it may import", name)
			}
			continue
		}
		for _, imported := range p.imports {
			ours, isOurs := strings.CutPrefix(imported, module+"/")
			if !isOurs || strings.HasPrefix(ours, "internal/") || slices.Contains(allowed, ours) {
				continue
			}
			t.Errorf("%s imports %s, which is not below it", name, ours)
		}
	}
}

func TestPackagesDoNotReachWhatTheyMustNot(t *testing.T) {
	all := packages(t)
	for _, rule := range neverReaches {
		checked := false
		for _, p := range all {
			if !under(p.path, module+"/"+rule.from) {
				continue
			}
			checked = true
			for _, dep := range p.deps {
				if under(dep, rule.to) || under(dep, module+"/"+rule.to) {
					t.Errorf("%s depends on %s: %s", p.path, dep, rule.why)
				}
			}
		}
		if !checked && rule.from != "sdk" {
			t.Errorf("there is no package %s: the rule about %s has lost its object", rule.from, rule.to)
		}
	}
}

func under(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

func TestJudgingIsPure(t *testing.T) {
	forbidden := []string{"bufio", "io/fs", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "os", "os/exec", "syscall"}
	clock := []string{"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc", "time.NewTimer", "time.NewTicker", "time.Tick"}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.path, module+"/")
		if !slices.Contains(pure, name) {
			continue
		}
		for _, imported := range p.imports {
			if slices.Contains(forbidden, imported) {
				t.Errorf("%s imports %s, but is pure", name, imported)
			}
		}
		inspect(t, p, func(where string, n ast.Node) {
			if _, ok := n.(*ast.GoStmt); ok {
				t.Errorf("%s: starts a goroutine, but %s is pure", where, name)
			}
			if s := selector(n); slices.Contains(clock, s) {
				t.Errorf("%s: %s, but %s has no clock", where, s, name)
			}
		})
	}
}

func TestOnlyCommandsTouchTheWorldOutside(t *testing.T) {
	world := []string{"os.Args", "os.Stdin", "os.Stdout", "os.Stderr", "os.Exit", "os.Getenv", "os.LookupEnv", "os.Environ", "os.Setenv"}
	excepted := map[string]string{
		"harness/testing.go":              "os.Environ", // a test has no main that could hand it the environment
		"internal/memnet/leak/leak.go":    "os.Stderr",  // it speaks for a test's main
		"internal/memnet/leak/process.go": "os.Stderr",  // it speaks for a test's main
	}
	for _, p := range packages(t) {
		if under(p.path, module+"/cmd") || under(p.path, module+"/examples") { // an example is a command of its own
			continue
		}
		inspect(t, p, func(where string, n ast.Node) {
			s := selector(n)
			file, _, _ := strings.Cut(where, ":")
			if slices.Contains(world, s) && excepted[file] != s {
				t.Errorf("%s: %s: only cmd/ touches it; take it as an option", where, s)
			}
		})
	}
}

func TestNoPackageIsADrawer(t *testing.T) {
	for _, p := range packages(t) {
		switch name := filepath.Base(p.path); name {
		case "util", "utils", "common", "helpers", "misc":
			t.Errorf("%s: call it what it is", p.path)
		}
	}
}

// A pkg is what go list says of a package of ours.
type pkg struct {
	path, dir     string
	files         []string
	imports, deps []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	const format = `{{.ImportPath}}|{{.Dir}}|{{join .GoFiles " "}}|{{join .Imports " "}}|{{join .Deps " "}}`
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f", format, "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		all = append(all, pkg{f[0], f[1], strings.Fields(f[2]), strings.Fields(f[3]), strings.Fields(f[4])})
	}
	return all
}

// inspect calls f with every node of a package's files, its tests left out.
func inspect(t *testing.T, p pkg, f func(where string, n ast.Node)) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range p.files {
		path := filepath.Join(p.dir, name)
		src, err := os.ReadFile(path) // so that a cached result is thrown away when the file changes
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if n != nil {
				at := fset.Position(n.Pos())
				rel, _ := filepath.Rel(root, at.Filename)
				at.Filename = filepath.ToSlash(rel)
				f(at.String(), n)
			}
			return true
		})
	}
}

// selector returns "package.Name" for such an expression.
func selector(n ast.Node) string {
	s, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if x, ok := s.X.(*ast.Ident); ok {
		return x.Name + "." + s.Sel.Name
	}
	return ""
}
