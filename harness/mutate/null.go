package mutate

import "github.com/lockstep-dev/lockstep/internal/jsontree"

// nullOperators confuse null with other ways of having nothing.
var nullOperators = []Operator{
	values("null", "value", "It sends null for a value", func(v *spot, _ uint64) (string, bool) {
		return "null", v.node.Kind != jsontree.Null
	}),
	members("null", "left-out", "It leaves out a member that is null", func(v *spot, yield emit) bool {
		return v.node.Kind != jsontree.Null || yield(v.mutant("", func(_, _ *jsontree.Node, _ int) *jsontree.Node { return nil }))
	}),
	values("null", "empty-text", "It sends an empty text for null", func(v *spot, _ uint64) (string, bool) {
		return `""`, v.node.Kind == jsontree.Null
	}),
	values("null", "false", "It sends false for null", func(v *spot, _ uint64) (string, bool) {
		return "false", v.node.Kind == jsontree.Null
	}),
	members("null", "added", "It adds a member that is null", func(v *spot, yield emit) bool {
		if v.parent.Items[0] != v.node { // once for each object
			return true
		}
		return yield(v.mutant(`… "mutated": null`, func(n, parent *jsontree.Node, _ int) *jsontree.Node {
			add(parent, "mutated", "null")
			return n
		}))
	}),
	values("null", "word", "It sends the word null", func(v *spot, _ uint64) (string, bool) {
		return `"null"`, v.node.Kind == jsontree.Null
	}),
}
