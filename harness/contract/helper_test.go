package contract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// parse parses a document without mistakes.
func parse(t testing.TB, doc string) *Document {
	t.Helper()
	d, err := Parse([]byte(doc), &Options{File: "api.yaml"})
	if err != nil {
		t.Fatalf("Parse:\n%v\n\n%s", err, sample.Numbered(doc))
	}
	return d
}

func ours(t testing.TB) (*Document, []byte) {
	t.Helper()
	data := testfile.Read(t, "../../openapi.yaml")
	d, err := Parse(data, &Options{File: "openapi.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	return d, data
}

// short lists violations as "place kind", one per line.
func short(vs []Violation) string {
	lines := make([]string, len(vs))
	for i, v := range vs {
		lines[i] = v.Place + " " + string(v.Kind)
	}
	return strings.Join(lines, "\n")
}

// long lists violations in full, for a failing test.
func long(vs []Violation) string {
	var b strings.Builder
	for _, v := range vs {
		fmt.Fprintf(&b, "%s %s %s: %s (%s, line %d)\n", v.Side, v.Place, v.Kind, v.Text, v.Schema, v.Line)
	}
	return b.String()
}
