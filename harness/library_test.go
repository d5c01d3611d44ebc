package harness_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

var update = flag.Bool("update", false, "write the examples into docs/library.md")

// quoted matches an example in the guide.
var quoted = regexp.MustCompile("(?s)<!-- example: (\\w+) -->\n```go\n(.*?)```\n")

// The guide quotes the examples exactly, and they are run as tests.
func TestTheGuideQuotesTheExamples(t *testing.T) {
	const file = "../docs/library.md"
	data := testfile.Text(t, file)
	text, examples := data, bodies(t)
	if a, b := strings.Count(text, "```go\n"), len(quoted.FindAllString(text, -1)); a != b || b != len(examples) {
		t.Fatalf("the guide has %d blocks of Go, %d of them quoted, and there are %d examples", a, b, len(examples))
	}
	want := quoted.ReplaceAllStringFunc(text, func(whole string) string {
		m := quoted.FindStringSubmatch(whole)
		if examples[m[1]] == "" {
			t.Errorf("there is no %s", m[1])
		}
		return "<!-- example: " + m[1] + " -->\n```go\n" + examples[m[1]] + "```\n"
	})
	if *update {
		testfile.Write(t, file, want)
		return
	}
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("docs/library.md does not quote the examples; run go test -run TestTheGuideQuotesTheExamples -update (-want +got):\n%s", diff)
	}
}

// bodies returns the code of each example with its output, and whole tests.
func bodies(t *testing.T) map[string]string {
	t.Helper()
	const file = "example_test.go"
	src := testfile.Read(t, file)
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		body := src[fset.Position(f.Body.Lbrace).Offset+1 : fset.Position(f.Body.Rbrace).Offset]
		if strings.HasPrefix(f.Name.Name, "Test") {
			body = src[fset.Position(f.Pos()).Offset:fset.Position(f.End()).Offset]
		}
		text, err := format.Source(bytes.TrimSpace(body))
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name.Name] = strings.TrimSuffix(string(text), "\n") + "\n"
	}
	return out
}
