// Package house has tests for the rules of this repository: which package may import which, who may touch the outside
// world, and how comments and documents are written.
package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

const module = "github.com/lockstep-dev/lockstep"

// mayImport says which of this module's packages each package of the harness and the client library may import, in
// addition to internal/ and harness/internal/. Imports only go down, never sideways.
var mayImport = map[string][]string{
	"harness/scenario":                 {"harness/transcript"},
	"harness/target":                   {},
	"harness/transcript":               {},
	"harness/match":                    {"harness/transcript"},
	"harness/stub":                     {"harness/stub/otlp", "harness/transcript"},
	"harness/stub/mcp":                 {"harness/stub/mcp/record"},
	"harness/stub/mcp/record":          {},
	"harness/stub/otlp":                {},
	"harness/transport/watch":          {"harness/transcript"},
	"harness/transport/sse":            {"harness/transcript", "harness/transport/watch"},
	"harness/transport/httpwire":       {"harness/transcript", "harness/transport/watch"},
	"harness/transport/ws":             {"harness/transcript", "harness/transport/httpwire", "harness/transport/watch"},
	"harness/transport/stdio":          {"harness/transcript", "harness/transport/watch"},
	"harness/run":                      {"harness/scenario", "harness/match", "harness/stub", "harness/stub/mcp/record", "harness/stub/otlp", "harness/transcript", "harness/transport/httpwire", "harness/transport/sse", "harness/transport/stdio", "harness/transport/watch", "harness/transport/ws"},
	"harness/compare/diff":             {},
	"harness/compare/internal/docgen":  {},
	"harness/compare/ident":            {"harness/compare/diff", "harness/transcript"},
	"harness/compare/jsondiff":         {"harness/compare/diff", "harness/compare/ident", "harness/transcript"},
	"harness/compare":                  {"harness/compare/diff", "harness/compare/ident", "harness/compare/jsondiff", "harness/compare/streamdiff", "harness/match", "harness/redact", "harness/transcript"},
	"harness/compare/streamdiff":       {"harness/compare/diff", "harness/compare/ident", "harness/transcript"},
	"harness/contract":                 {"harness/contract/bundle", "harness/contract/schema", "harness/contract/spec", "harness/transcript"},
	"harness/contract/internal/sample": {"harness/contract/spec", "harness/transcript"},
	"harness/contract/schema":          {},
	"harness/contract/bundle":          {},
	"harness/contract/spec":            {"harness/contract/schema", "harness/transcript"},
	"harness/contract/coverage":        {"harness/contract/schema", "harness/contract/spec", "harness/transcript"},
	"harness/contract/specgap":         {"harness/contract/schema", "harness/contract/spec", "harness/transcript"},
	"harness/lab/scaffold":             {"harness/contract", "harness/transcript"},
	"harness/verdict":                  {"harness/compare", "harness/compare/diff", "harness/compare/ident", "harness/contract", "harness/contract/coverage", "harness/contract/schema", "harness/contract/spec", "harness/contract/specgap", "harness/transcript", "harness/verdict/baseline", "harness/verdict/waiver"},
	"harness/verdict/waiver":           {"harness/verdict/baseline"},
	"harness/verdict/baseline":         {},
	"harness/lab/mutate":               {"harness/compare", "harness/compare/ident", "harness/compare/jsondiff", "harness/compare/streamdiff", "harness/match", "harness/transcript"},
	"harness/redact":                   {"harness/transcript"},
	"harness/report":                   {"harness/compare/diff", "harness/contract/coverage", "harness/report/internal/textfit", "harness/transcript", "harness/verdict"},
	"harness/report/internal/textfit":  {},
	"harness/report/internal/cause":    {"harness/compare/diff", "harness/verdict"},
	"harness/report/internal/groups":   {"harness/report", "harness/report/internal/cause", "harness/report/internal/textfit", "harness/verdict"},
	"harness/report/text":              {"harness/compare/diff", "harness/contract/coverage", "harness/contract/specgap", "harness/report", "harness/report/internal/cause", "harness/report/internal/textfit", "harness/verdict", "harness/verdict/baseline"},
	"harness/report/jsonreport":        {"harness/report", "harness/report/internal/cause", "harness/verdict"},
	"harness/report/junit":             {"harness/report", "harness/report/internal/textfit", "harness/report/text", "harness/verdict"},
	"harness/report/html":              {"harness/contract/coverage", "harness/report", "harness/report/internal/cause", "harness/report/internal/groups", "harness/report/internal/textfit", "harness/report/text", "harness/verdict"},
	"harness/report/markdown":          {"harness/report", "harness/report/internal/groups", "harness/report/internal/textfit", "harness/verdict"},
	"harness/project": {
		"harness/scenario", "harness/target", "harness/stub", "harness/transcript",
		"harness/compare", "harness/compare/diff", "harness/compare/ident", "harness/compare/jsondiff", "harness/compare/streamdiff", "harness/contract", "harness/contract/coverage", "harness/redact", "harness/verdict/waiver", "harness/verdict/baseline",
	},
	"harness/engine/pool":    {"harness/project", "harness/run", "harness/scenario", "harness/stub", "harness/target", "harness/transport/httpwire"},
	"harness/engine/runfile": {"harness/project", "harness/scenario", "harness/transcript", "harness/verdict/waiver"},
	"harness/engine": {
		"harness/engine/pool", "harness/engine/runfile", "harness/project", "harness/scenario", "harness/target", "harness/run", "harness/stub",
		"harness/transcript", "harness/compare", "harness/compare/streamdiff", "harness/contract", "harness/contract/coverage", "harness/verdict", "harness/report",
	},
	"harness/lab/explain": {"harness/project", "harness/scenario", "harness/transcript"},
	"harness/lab/noise": {
		"harness/engine", "harness/engine/runfile", "harness/project", "harness/compare", "harness/compare/diff", "harness/compare/ident", "harness/compare/jsondiff", "harness/compare/streamdiff", "harness/scenario", "harness/transcript", "harness/verdict",
	},
	"harness/lab/mutaterun": {
		"harness/engine", "harness/engine/runfile", "harness/project", "harness/lab/mutate", "harness/transcript", "harness/verdict",
	},
	"harness/code":        {"harness/engine", "harness/match", "harness/project", "harness/run", "harness/scenario", "harness/transcript", "harness/verdict"},
	"harness/harnesstest": {"harness/code", "harness/engine", "harness/project", "harness/contract", "harness/contract/coverage", "harness/report", "harness/verdict"},
	"harness": {
		"harness/code", "harness/engine", "harness/engine/runfile", "harness/project", "harness/lab/mutate", "harness/lab/mutaterun", "harness/lab/noise", "harness/target",
	},
	"cmd/lockstep": {
		"harness/engine", "harness/engine/runfile", "harness/project", "harness/target", "harness/contract", "harness/contract/coverage", "harness/lab/explain", "harness/lab/mutaterun", "harness/lab/noise", "harness/lab/scaffold",
		"harness/scenario", "harness/stub/mcp", "harness/transport/stdio", "harness/transcript", "harness/verdict", "harness/verdict/waiver", "harness/verdict/baseline", "harness/report", "harness/report/text", "harness/report/html", "harness/report/jsonreport", "harness/report/junit", "harness/report/markdown",
	},
	"sdk/agent":              {},
	"sdk/agent/agenttest":    {"sdk/agent"},
	"sdk/agent/driver":       {"sdk/agent"},
	"sdk/agent/realcli":      {},
	"sdk/clienttools":        {},
	"sdk/clienttools/driver": {"sdk/clienttools"},
}

// neverReaches says what a package must not depend on, not even indirectly, and why.
var neverReaches = []struct{ from, to, why string }{
	{"harness", "gen", "the harness works for anybody's document, and a shared type would share the mistake"},
	{"harness", "server", "the harness judges the server, so it shares no code with it"},
	{"harness", "sdk", "the harness shares no code with what it judges"},
	{"server", "harness", "the server is judged by the harness, so it shares no code with it"},
	{"server/wire", "server/domain", "wire knows JSON and YAML, not what they mean"},
	{"server/domain", "server/httpapi", "domain values are plain data, whoever sends them"},
	{"server/httpapi", "server/engine", "requests and responses know nothing of what answers them"},
	{"server/engine", "server/handlers", "the engine works without HTTP operations"},
	{"server/mcp", "server/handlers", "extensions work without HTTP operations"},
	{"harness/run", "github.com/modelcontextprotocol", "whoever tests with the harness needs no library for MCP: only the command has the server"},
	{"harness/report", "harness/run", "a report can show last month's run without being able to run anything"},
	{"harness/report", "harness/target", "a report can show last month's run without being able to run anything"},
	{"harness/report", "harness/transport", "a report can show last month's run without being able to run anything"},
	{"harness/transcript", "harness/transport", "reading a record must not pull in a wire"},
	{"sdk", module + "/internal", "a client library is for programs outside of this repository"},
	{"sdk", "server", "a client library knows the server's API, not its code"},
	{"sdk", "harness", "the harness drives the client library, so they share no code"},
	{"sdk", "modernc.org", "the database is for an example in the tests"},
	{"gen/api", "github.com/labstack/echo/v4", "client libraries use the types without a web framework"},
	{"gen/client", "github.com/labstack/echo/v4", "client libraries use the client without a web framework"},
}

// pure has the packages that use only their input: no clock and nothing of the outside world.
var pure = []string{"harness/contract/bundle", "harness/compare", "harness/compare/diff", "harness/compare/ident", "harness/compare/jsondiff", "harness/compare/streamdiff", "harness/contract", "harness/contract/coverage", "harness/contract/schema", "harness/contract/spec", "harness/contract/specgap", "harness/lab/scaffold", "harness/match", "harness/lab/mutate", "harness/redact", "harness/verdict"}

func TestPackagesImportDownwards(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.path, module+"/")
		allowed, known := mayImport[name]
		if !known {
			if (strings.HasPrefix(name, "harness") || strings.HasPrefix(name, "sdk")) && !strings.HasPrefix(name, "harness/internal/") {
				t.Errorf("%s is not in the table of this test: say what it may import", name)
			}
			continue
		}
		for _, imported := range p.imports {
			ours, isOurs := strings.CutPrefix(imported, module+"/")
			if !isOurs || strings.HasPrefix(ours, "internal/") || strings.HasPrefix(ours, "harness/internal/") || slices.Contains(allowed, ours) {
				continue
			}
			t.Errorf("%s imports %s, which is not below it", name, ours)
		}
	}
}

// maxDepth is the maximum length of a chain of this module's packages in which each imports the next. It may only
// decrease.
const maxDepth = 9

func TestPackagesAreNotTooDeep(t *testing.T) {
	imports := map[string][]string{}
	for _, p := range packages(t) {
		imports[p.path] = p.imports
	}
	deepest := map[string][]string{}
	var chain func(path string) []string
	chain = func(path string) []string {
		if known, ok := deepest[path]; ok {
			return known
		}
		var below []string
		for _, imported := range imports[path] {
			if _, ours := imports[imported]; ours && len(chain(imported)) > len(below) {
				below = chain(imported)
			}
		}
		deepest[path] = append([]string{strings.TrimPrefix(path, module+"/")}, below...)
		return deepest[path]
	}
	var longest []string
	for path := range imports {
		if c := chain(path); len(c) > len(longest) {
			longest = c
		}
	}
	if len(longest) != maxDepth {
		t.Errorf("%d packages stand on each other, want %d:\n%s", len(longest), maxDepth, strings.Join(longest, "\n"))
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
		if !checked {
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
		"harness/harnesstest/harnesstest.go": "os.Environ", // a test has no main that could pass in the environment
		"internal/memnet/leak/leak.go":       "os.Stderr",  // it acts for a test's main
		"internal/memnet/leak/process.go":    "os.Stderr",  // it acts for a test's main
	}
	for _, p := range packages(t) {
		// An example is a command of its own, as is a driver.
		if under(p.path, module+"/cmd") || under(p.path, module+"/examples") || under(p.path, module+"/sdk/clienttools/driver") || under(p.path, module+"/sdk/agent/driver") {
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

// A pkg is what go list reports about a package of this module.
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

// inspect calls f with every node of a package's files, except its tests.
func inspect(t *testing.T, p pkg, f func(where string, n ast.Node)) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range p.files {
		path := filepath.Join(p.dir, name)
		src := testfile.Read(t, path) // the test cache notices a change of a file that is read here
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

// selector returns "package.Name" for an expression of this form.
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
