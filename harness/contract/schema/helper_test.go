package schema

import (
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// load reads component schemas, indented by four, into a document.
func load(t testing.TB, schemas string) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData([]byte("openapi: 3.0.3\ninfo: {title: test, version: '1'}\npaths: {}\ncomponents:\n  schemas:\n" + schemas))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// compile returns the component schemas of a document by their names.
func compile(t testing.TB, doc *openapi3.T) map[string]*Schema {
	t.Helper()
	notes := &problems{}
	b := NewBuilder(notes, doc.Components.Schemas, !strings.HasPrefix(doc.OpenAPI, "3.0."))
	b.Finish()
	if len(*notes) > 0 {
		t.Fatal(*notes)
	}
	out := map[string]*Schema{}
	for name, ref := range doc.Components.Schemas {
		out[name] = b.Schema(ref, "")
	}
	return out
}

// problems are the mistakes of a document. What cannot be judged is left out.
type problems []string

func (p *problems) Problem(ref, what, fix string) { *p = append(*p, ref+": "+what+"; "+fix) }
func (p *problems) Note(_, _, _ string)           {}

func mustTree(t testing.TB, text string) *jsontree.Node {
	t.Helper()
	n, _, err := jsontree.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
