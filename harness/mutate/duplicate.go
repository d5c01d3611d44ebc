package mutate

import (
	"slices"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// duplicateOperators send elements of a list twice.
var duplicateOperators = []Operator{
	elements("duplicate", "last", "It sends the last element twice", func(items []*jsontree.Node) []*jsontree.Node {
		return slices.Concat(items, items[len(items)-1:])
	}),
	elements("duplicate", "first", "It sends the first element again at the end", func(items []*jsontree.Node) []*jsontree.Node {
		return slices.Concat(items, items[:1])
	}),
	elements("duplicate", "all", "It sends the whole list twice", func(items []*jsontree.Node) []*jsontree.Node {
		return slices.Concat(items, items)
	}),
}
