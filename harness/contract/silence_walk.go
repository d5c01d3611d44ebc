package contract

import (
	"slices"
	"strconv"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A walk goes down two documents to where they part, along the schemas that each value is judged by: those that a
// reference leads to, all of an allOf, the alternatives of oneOf and anyOf that match. The schema it is about is the
// last that both sides have to obey. Where the sides match different alternatives, it is the one that offers them.
type walk struct {
	doc    *Document
	judges [2]*judge
	large  *[2]look
}

// A look is what the schemas say of one value.
type look struct {
	node    *jsontree.Node
	schema  *schema
	applied []*schema    // those that it is judged by
	fields  []fieldState // of an object, as its names
	items   fieldState   // of an array
}

// largeObject is from how many members on an object is held against its schemas once, and not for each place in which it differs.
const largeObject = 1000

// walk finds the schema that admits two values at the end of their pointers.
func (f *Silences) walk(nodes [2]*jsontree.Node, s *schema, tokens [2][]string, how How) (Silence, bool) {
	if how == OtherLength { // the list is what it is about
		for i := range tokens {
			tokens[i] = tokens[i][:max(0, len(tokens[i])-1)]
		}
	}
	w := walk{doc: f.doc, large: &f.large}
	at := [2]fieldState{{schema: s}, {schema: s}}
	for i := range w.judges {
		w.judges[i] = f.doc.newJudge(Response)
		w.judges[i].quiet = true
	}
	for depth := 0; ; depth++ {
		looks := [2]look{w.look(0, nodes[0], at[0]), w.look(1, nodes[1], at[1])}
		common := inBoth(looks[0].applied, looks[1].applied)
		if len(common) == 0 {
			return Silence{}, false
		}
		if split := offers(common, looks); split != nil {
			return w.alternatives(split, looks), true
		}
		if depth == min(len(tokens[0]), len(tokens[1])) {
			return w.end(looks, common, how), true
		}
		for i := range looks {
			nodes[i], at[i] = looks[i].step(tokens[i][depth])
		}
		switch {
		case nodes[0] == nil && nodes[1] == nil:
			return Silence{}, false
		case nodes[0] == nil || nodes[1] == nil:
			there := 0
			if nodes[0] == nil {
				there = 1
			}
			return w.absent(common, tokens[there][depth], nodes[there])
		case (at[0].schema == nil || at[1].schema == nil) && looks[0].node.Kind == jsontree.Array:
			return w.anyElement(common), true
		case at[0].schema == nil || at[1].schema == nil:
			return w.free(common, tokens[0][depth])
		}
	}
}

// look holds a value against the schemas for it, without a word.
func (w *walk) look(side int, n *jsontree.Node, s fieldState) look {
	if l := w.large[side]; l.node == n && l.schema == s.schema && len(s.also) == 0 {
		return l
	}
	j := w.judges[side]
	sc := scope{first: len(j.fields), applied: len(j.applied)}
	if n.Kind == jsontree.Object {
		j.fields = append(j.fields, make([]fieldState, len(n.Items))...)
	}
	for _, one := range append([]*schema{s.schema}, s.also...) {
		j.apply(n, one, &sc)
	}
	l := look{node: n, schema: s.schema, applied: slices.Clone(j.applied[sc.applied:]), fields: slices.Clone(j.fields[sc.first:]), items: sc.items}
	if n.Kind == jsontree.Null { // of which a schema only says whether it may be
		l.applied = append([]*schema{s.schema}, s.also...)
	}
	j.applied, j.fields = j.applied[:sc.applied], j.fields[:sc.first]
	if len(n.Items) >= largeObject && len(s.also) == 0 {
		w.large[side] = l
	}
	return l
}

// step goes down to a field or an element; the node is nil when there is none.
func (l *look) step(token string) (*jsontree.Node, fieldState) {
	switch l.node.Kind {
	case jsontree.Object:
		for i, name := range l.node.Names {
			if name == token {
				return l.node.Items[i], l.fields[i]
			}
		}
	case jsontree.Array:
		if i, err := strconv.Atoi(token); err == nil && 0 <= i && i < len(l.node.Items) {
			return l.node.Items[i], l.items
		}
	}
	return nil, fieldState{}
}

// inBoth returns the schemas that both lists have, in the order of the first.
func inBoth(a, b []*schema) (out []*schema) {
	for _, s := range a {
		if slices.Contains(b, s) {
			out = append(out, s)
		}
	}
	return out
}

// offers returns the schema whose alternatives the sides do not match alike; nil when they match the same.
func offers(common []*schema, looks [2]look) *schema {
	for _, s := range common {
		for _, branch := range slices.Concat(s.oneOf, s.anyOf) {
			if !inAny(common, branch) && (inAny(looks[0].applied, branch) || inAny(looks[1].applied, branch)) {
				return s
			}
		}
	}
	return nil
}

// inAny reports whether the schema, or the one that stands for it when its tag names an heir, was applied.
func inAny(applied []*schema, s *schema) bool {
	if slices.Contains(applied, s) {
		return true
	}
	return s.isBase() && slices.Contains(applied, s.tag.base)
}
