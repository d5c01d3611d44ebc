package coverage

import (
	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// Unconstrained lists the schemas of responses and events that allow any value. No value can break them, so for a
// difference inside of such a value the contract cannot say which side is wrong.
func Unconstrained(d *spec.Document) problem.Problems {
	var out problem.Problems
	seen := map[string]bool{}
	found := map[*schema.Schema]Messages{}
	for _, op := range operations(d) {
		for _, root := range rootsOf(op, Responses) {
			for _, s := range reach(root.schema, Responses, found, nil) {
				if s.AdmitsAnything() && !seen[s.Ref] {
					seen[s.Ref] = true
					out = append(out, d.Problem(s.Ref, SchemaName(s.Ref)+" allows any value", "give it a type"))
				}
			}
		}
	}
	return out.Sort()
}
