package compare

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
)

// Waivers are checked against these lists, so a kind that is not listed could not be waived.
func TestTheListsOfKindsAreComplete(t *testing.T) {
	var kinds, unmet []string
	for _, k := range diff.Kinds() {
		kinds = append(kinds, string(k))
	}
	for _, k := range UnmetKinds() {
		unmet = append(unmet, string(k))
	}
	for _, tc := range []struct {
		file, typ string
		listed    []string
	}{{"diff/difference.go", "Kind", kinds}, {"unmet.go", "UnmetKind", unmet}} {
		declared := constants(t, tc.file, tc.typ)
		if len(declared) < 10 || len(declared) != len(tc.listed) {
			t.Errorf("%s declares %d constants of type %s, and %d are listed", tc.file, len(declared), tc.typ, len(tc.listed))
		}
		for _, value := range declared {
			if !slices.Contains(tc.listed, value) {
				t.Errorf("%s: %s is not listed", tc.file, value)
			}
		}
	}
}

// constants returns the values of all constants of a type in a file.
func constants(t *testing.T, file, typ string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(gotoken.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == typ {
			for _, v := range spec.Values {
				value, err := strconv.Unquote(v.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, value)
			}
		}
		return false
	})
	return out
}
