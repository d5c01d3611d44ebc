package mutate

import "github.com/lockstep-dev/lockstep/internal/jsontree"

// dropOperators leave elements of a list out.
var dropOperators = []Operator{
	elements("drop", "first", "It leaves out the first element", func(items []*jsontree.Node) []*jsontree.Node { return items[1:] }),
	elements("drop", "last", "It leaves out the last element", func(items []*jsontree.Node) []*jsontree.Node { return items[:len(items)-1] }),
	elements("drop", "all", "It sends an empty list", func([]*jsontree.Node) []*jsontree.Node { return nil }),
	elements("drop", "but-first", "It sends the first element only", func(items []*jsontree.Node) []*jsontree.Node { return items[:1] }),
}

// elements makes an operator of a function that returns other elements of a list that has some.
func elements(family, name, doc string, change func([]*jsontree.Node) []*jsontree.Node) Operator {
	return operator(family, name, doc, func(s *Subject, _ uint64, yield emit) {
		s.spots(func(v *spot) bool {
			if v.node.Kind != jsontree.Array || len(v.node.Items) == 0 || len(change(v.node.Items)) == len(v.node.Items) {
				return true
			}
			return yield(v.mutant(name, func(n, _ *jsontree.Node, _ int) *jsontree.Node {
				n.Items = change(n.Items)
				return n
			}))
		})
	})
}
