package specgap

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A walk descends two documents to the place where they differ. It follows the schemas that judge each value: those
// that a reference leads to, all of an allOf, and the matching alternatives of oneOf and anyOf. The result is the last
// schema that applies to both sides. If the sides match different alternatives, it is the schema with these
// alternatives.
type walk struct {
	*Finder
	judges [2]*schema.Judge
}

// largeObject is the number of members from which the schemas of an object are looked up only once, and not again for
// each place in which it differs.
const largeObject = 1000

// walk finds the schema that allows both values at the end of their pointers.
func (f *Finder) walk(nodes [2]*jsontree.Node, s *schema.Schema, tokens [2][]string, how How) (Gap, bool) {
	if how == OtherLength { // the difference is about the list
		for i := range tokens {
			tokens[i] = tokens[i][:max(0, len(tokens[i])-1)]
		}
	}
	w := walk{Finder: f}
	at := [2]schema.FieldSchemas{{Schema: s}, {Schema: s}}
	for i := range w.judges {
		w.judges[i] = schema.NewWatcher(schema.ToClient, nil)
	}
	for depth := 0; ; depth++ {
		looks := [2]schema.Look{w.look(0, nodes[0], at[0]), w.look(1, nodes[1], at[1])}
		common := inBoth(looks[0].Applied, looks[1].Applied)
		if len(common) == 0 {
			return Gap{}, false
		}
		if split := offers(common, looks); split != nil {
			return w.alternatives(split, looks), true
		}
		if depth == min(len(tokens[0]), len(tokens[1])) {
			return w.end(looks, common, how), true
		}
		for i := range looks {
			nodes[i], at[i] = looks[i].Step(tokens[i][depth])
		}
		switch {
		case nodes[0] == nil && nodes[1] == nil:
			return Gap{}, false
		case nodes[0] == nil || nodes[1] == nil:
			there := 0
			if nodes[0] == nil {
				there = 1
			}
			return w.absent(common, tokens[there][depth], nodes[there])
		case (at[0].Schema == nil || at[1].Schema == nil) && looks[0].Node.Kind == jsontree.Array:
			return w.anyElement(common), true
		case at[0].Schema == nil || at[1].Schema == nil:
			return w.free(common, tokens[0][depth])
		}
	}
}

// look applies the schemas to a value. The result for a large object is kept.
func (w *walk) look(side int, n *jsontree.Node, s schema.FieldSchemas) schema.Look {
	if l := w.large[side]; l.Node == n && l.Schema == s.Schema && len(s.Also) == 0 {
		return l
	}
	l := w.judges[side].Look(n, s)
	if len(n.Items) >= largeObject && len(s.Also) == 0 {
		w.large[side] = l
	}
	return l
}

// inBoth returns the schemas that are in both lists, in the order of the first.
func inBoth(a, b []*schema.Schema) (out []*schema.Schema) {
	for _, s := range a {
		if slices.Contains(b, s) {
			out = append(out, s)
		}
	}
	return out
}

// offers returns a schema of whose alternatives the sides match different ones, or nil.
func offers(common []*schema.Schema, looks [2]schema.Look) *schema.Schema {
	for _, s := range common {
		for _, branch := range s.Alternatives() {
			if !schema.IsApplied(common, branch) && (schema.IsApplied(looks[0].Applied, branch) || schema.IsApplied(looks[1].Applied, branch)) {
				return s
			}
		}
	}
	return nil
}
