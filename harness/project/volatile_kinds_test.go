package project

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A kind that one of these lists lacks would hide values, or be accepted and not obeyed.
func TestTheListsOfVolatileKindsAgree(t *testing.T) {
	lists := []struct{ file, begin, end, kind string }{
		{"../scenario/rules.go", "type VolatileKind string", "\n)", `(?m)^\tVolatile\w+ +VolatileKind = "(\w+)"`},
		{"../compare/jsondiff/volatile.go", "type VolatileKind string", "\n)", `(?m)^\t\w+ +VolatileKind = "(\w+)"`},
		{"../scenario/scenario.schema.json", `"kind": {"description": "id: `, `"enum"`, `(?:: "|\. )(\w+): `},
		{"../scenario/scenario.schema.json", `"enum": ["id"`, "]", `"(\w+)"(?:, |$)`},
		{"../../docs/rules.md", "| kind | what is compared", "\n\n", "(?m)^\\| `(\\w+)` \\|"},
	}
	var want []string
	for _, l := range lists {
		data, err := os.ReadFile(l.file)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(string(data), l.begin)
		text, _, _ = strings.Cut(l.begin+text, l.end)
		var got []string
		for _, m := range regexp.MustCompile(l.kind).FindAllStringSubmatch(text, -1) {
			got = append(got, m[1])
		}
		slices.Sort(got)
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) < 7 {
			t.Errorf("%s (-in ../scenario/rules.go +here):\n%s", l.file, diff)
		}
	}
}
