package mutate

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// presenceOperators leave out what should be there, and put in what should not.
var presenceOperators = []Operator{
	members("presence", "dropped", "It leaves a member out", func(v *spot, yield emit) bool {
		return yield(v.mutant("", func(_, _ *jsontree.Node, _ int) *jsontree.Node { return nil }))
	}),
	members("presence", "renamed", "It spells a member's name in another case", func(v *spot, yield emit) bool {
		other := strings.ToUpper(v.name)
		if other == v.name {
			other = strings.ToLower(v.name)
		}
		if other == v.name {
			return true
		}
		return yield(v.mutant(other, func(n, parent *jsontree.Node, i int) *jsontree.Node {
			parent.Names[i] = other
			return n
		}))
	}),
	operator("presence", "added", "It adds a member", func(s *Subject, _ uint64, yield emit) {
		s.spots(func(v *spot) bool {
			if v.node.Kind != jsontree.Object {
				return true
			}
			return yield(v.mutant(`… "mutated": true`, func(n, _ *jsontree.Node, _ int) *jsontree.Node {
				add(n, "mutated", "true")
				return n
			}))
		})
	}),
	values("presence", "emptied", "It sends an object without members", func(v *spot, _ uint64) (string, bool) {
		return "{}", v.node.Kind == jsontree.Object && len(v.node.Items) > 0
	}),
	members("presence", "twice", "It sends a member twice", func(v *spot, yield emit) bool {
		return yield(v.mutant("twice", func(n, parent *jsontree.Node, _ int) *jsontree.Node {
			parent.Names, parent.Items = append(slices.Clip(parent.Names), v.name), append(slices.Clip(parent.Items), n)
			return n
		}))
	}),
	bodies("presence", "byte-order-mark", "It puts a byte order mark before a body", func(data []byte) ([]byte, bool) {
		return append([]byte("\ufeff"), data...), len(data) > 0
	}),
	bodies("presence", "trailing", "It sends more behind a body", func(data []byte) ([]byte, bool) {
		return append(slices.Clip(data), "null"...), len(data) > 0
	}),
	bodies("presence", "no-body", "It sends no body", func(data []byte) ([]byte, bool) { return nil, len(data) > 0 }),
	bodies("presence", "some-body", "It sends a body where there should be none", func(data []byte) ([]byte, bool) {
		return []byte("mutated"), len(data) == 0
	}),
	bodies("presence", "cut", "It leaves out the last byte of a body", func(data []byte) ([]byte, bool) {
		return data[:max(0, len(data)-1)], len(data) > 1
	}),
}

// add adds a member, written as JSON.
func add(n *jsontree.Node, name, json string) {
	n.Names, n.Items = append(slices.Clip(n.Names), name), append(slices.Clip(n.Items), parsed(json))
}

// members makes an operator of a function that is called with every member.
func members(family, name, doc string, change func(v *spot, yield emit) bool) Operator {
	return operator(family, name, doc, func(s *Subject, _ uint64, yield emit) {
		s.spots(func(v *spot) bool {
			if v.parent == nil || v.parent.Kind != jsontree.Object {
				return true
			}
			return change(v, yield)
		})
	})
}

// bodies makes an operator that sends another body, as bytes.
func bodies(family, name, doc string, change func([]byte) ([]byte, bool)) Operator {
	return operator(family, name, doc, func(s *Subject, _ uint64, yield emit) {
		s.answers(func(a *answer) bool {
			if a.x.Stream != "" || a.x.Request.Method == "HEAD" {
				return true
			}
			after, ok := change(a.x.Response.Body.Bytes)
			if !ok {
				return true
			}
			return yield(s.bodyMutant(a, after))
		})
	})
}

func (s *Subject) bodyMutant(a *answer, after []byte) Mutant {
	was, is := contrast(string(a.x.Response.Body.Bytes), string(after))
	return Mutant{
		Place: a.where + " body", Before: was, After: is, site: a.site(),
		Build: func() *transcript.Transcript {
			return s.withExchange(a.step, a.index, func(x *transcript.Exchange) { send(x.Response, after) })
		},
	}
}
