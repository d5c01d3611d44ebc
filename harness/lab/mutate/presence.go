package mutate

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// presenceOperators omit what should be there, and add what should not.
var presenceOperators = []Operator{
	eachMember("presence", "dropped", "It leaves a member out", func(v *value, yield emit) { yield(v.removed()) }),
	eachMember("presence", "renamed", "It spells a member's name in another case", func(v *value, yield emit) {
		other := strings.ToUpper(v.name)
		if other == v.name {
			other = strings.ToLower(v.name)
		}
		if other == v.name {
			return
		}
		yield(v.mutant(other, func(n, parent *jsontree.Node, i int) *jsontree.Node {
			parent.Names[i] = other
			return n
		}))
	}),
	eachValue("presence", "added", "It adds a member", func(_ *Subject, v *value, yield emit) {
		if v.node.Kind == jsontree.Object {
			yield(v.mutant(`… "mutated": true`, func(n, _ *jsontree.Node, _ int) *jsontree.Node {
				addMember(n, "mutated", mustParse("true"))
				return n
			}))
		}
	}),
	replaceValues("presence", "emptied", "It sends an object without members", func(v *value, _ uint64) (string, bool) {
		return "{}", v.node.Kind == jsontree.Object && len(v.node.Items) > 0
	}),
	eachMember("presence", "twice", "It sends a member twice", func(v *value, yield emit) {
		yield(v.mutant("twice", func(n, parent *jsontree.Node, _ int) *jsontree.Node {
			addMember(parent, v.name, n)
			return n
		}))
	}),
	changeBody("byte-order-mark", "It puts a byte order mark before a body", func(data []byte) ([]byte, bool) {
		return append([]byte("\ufeff"), data...), len(data) > 0
	}),
	changeBody("trailing", "It sends more after a body", func(data []byte) ([]byte, bool) {
		return append(slices.Clip(data), "null"...), len(data) > 0
	}),
	changeBody("no-body", "It sends no body", func(data []byte) ([]byte, bool) { return nil, len(data) > 0 }),
	changeBody("some-body", "It sends a body where there should be no body", func(data []byte) ([]byte, bool) {
		return []byte("mutated"), len(data) == 0
	}),
	changeBody("cut", "It leaves out the last byte of a body", func(data []byte) ([]byte, bool) {
		return data[:max(0, len(data)-1)], len(data) > 1
	}),
}

// nullOperators confuse null with other ways of having nothing.
var nullOperators = []Operator{
	replaceValues("null", "value", "It sends null instead of a value", func(v *value, _ uint64) (string, bool) {
		return "null", v.node.Kind != jsontree.Null
	}),
	eachMember("null", "left-out", "It leaves out a member that is null", func(v *value, yield emit) {
		if v.node.Kind == jsontree.Null {
			yield(v.removed())
		}
	}),
	replaceValues("null", "empty-text", "It sends an empty text instead of null", func(v *value, _ uint64) (string, bool) {
		return `""`, v.node.Kind == jsontree.Null
	}),
	replaceValues("null", "false", "It sends false instead of null", func(v *value, _ uint64) (string, bool) {
		return "false", v.node.Kind == jsontree.Null
	}),
	eachMember("null", "added", "It adds a member that is null", func(v *value, yield emit) {
		if v.parent.Items[0] != v.node { // once for each object
			return
		}
		yield(v.mutant(`… "mutated": null`, func(n, parent *jsontree.Node, _ int) *jsontree.Node {
			addMember(parent, "mutated", mustParse("null"))
			return n
		}))
	}),
	replaceValues("null", "word", "It sends null as a text", func(v *value, _ uint64) (string, bool) {
		return `"null"`, v.node.Kind == jsontree.Null
	}),
}

func addMember(n *jsontree.Node, name string, member *jsontree.Node) {
	n.Names, n.Items = append(slices.Clip(n.Names), name), append(slices.Clip(n.Items), member)
}

// removed returns the mutant without the value.
func (v *value) removed() Mutant {
	return v.mutant("", func(_, _ *jsontree.Node, _ int) *jsontree.Node { return nil })
}

// eachMember makes an operator from a function that is called with every member of an object.
func eachMember(family, name, doc string, change func(v *value, yield emit)) Operator {
	return eachValue(family, name, doc, func(_ *Subject, v *value, yield emit) {
		if v.parent != nil && v.parent.Kind == jsontree.Object {
			change(v, yield)
		}
	})
}

// changeBody makes an operator that sends another body, as bytes.
func changeBody(name, doc string, change func([]byte) ([]byte, bool)) Operator {
	return eachResponse("presence", name, doc, func(_ *Subject, r *response, yield emit) {
		if r.x.Stream != "" || r.x.Request.Method == "HEAD" {
			return
		}
		if after, ok := change(r.body()); ok {
			yield(r.withBody(after))
		}
	})
}
