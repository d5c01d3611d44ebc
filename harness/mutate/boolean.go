package mutate

import "github.com/lockstep-dev/lockstep/internal/jsontree"

// booleanOperators say no for yes.
var booleanOperators = []Operator{
	values("boolean", "flipped", "It says true for false, and false for true", func(v *spot, _ uint64) (string, bool) {
		if v.node.String() == "true" {
			return "false", v.node.Kind == jsontree.Boolean
		}
		return "true", v.node.Kind == jsontree.Boolean
	}),
}
