package schema

import (
	"fmt"
	"maps"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// AddExamples records the examples of a schema.
func (b *Builder) AddExamples(s *Schema, one any, several openapi3.Examples, ref string) {
	if s == nil {
		return
	}
	b.examples = append(b.examples, example{"example", one, s, ref + "/example"})
	for _, key := range slices.Sorted(maps.Keys(several)) {
		if e := several[key]; e != nil && e.Value != nil {
			b.examples = append(b.examples, example{"example " + key, e.Value.Value, s, jsontree.AppendName(ref+"/examples", key)})
		}
	}
}

// An example is a value that the document gives for a schema.
type example struct {
	what   string
	value  any
	schema *Schema
	ref    string
}

// checkExample checks a value of the document against its schema.
func (b *Builder) checkExample(e example) {
	if e.value == nil {
		return
	}
	const maxFindings = 3
	for _, f := range NewJudge(anyDirection, false, maxFindings).Judge(tree(e.value), e.schema) {
		if f.Kind == MoreViolations {
			break
		}
		at := ""
		if f.Pointer != "" {
			at = " at " + f.Pointer
		}
		b.Note(e.ref, fmt.Sprintf("the %s does not match its schema%s: %s", e.what, at, f.Text), "")
	}
}
