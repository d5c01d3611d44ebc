package mutate

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// identityOperators confuse ids: those that the server generates, and those that a client gives.
var identityOperators = []Operator{
	changeID("other", "It sends an id that does not exist in one place", func(s *Subject, v *value, seed uint64) string {
		if countValues(s, v.node.Text) < 2 {
			return "" // nothing shows which of the two is right
		}
		return v.doc.origins.similar(v.node.Text, v.doc.seen, seed)
	}),
	changeID("shape", "It generates shorter ids", func(_ *Subject, v *value, _ uint64) string {
		out := v.node.Text[:len(v.node.Text)-1]
		for v.doc.origins.sameShape(out, v.node.Text) { // sameShape means that out is another valid id
			out = out[:len(out)-1]
		}
		return out
	}),
	changeID("prefix", "It generates ids with another prefix", func(_ *Subject, v *value, _ uint64) string { return "x" + v.node.Text }),
	changeID("constant", "It sends the same id to all clients", func(*Subject, *value, uint64) string { return "id" }),
	changeIDMember("exchanged", "It sends the id of another object of the same kind", func(s *Subject, v *value) string {
		for _, other := range valuesNamed(s, v.name) {
			if other != v.node.Text {
				return other
			}
		}
		return ""
	}),
	changeIDMember("parent", "It names another parent: the id of an object of another kind", func(_ *Subject, v *value) string {
		for i, name := range v.parent.Names {
			if n := v.parent.Items[i]; name != v.name && isIDName(name) && n.Kind == v.node.Kind && n.Text != v.node.Text && n.Text != "" {
				return n.Text
			}
		}
		return ""
	}),
	changeIDMember("foreign", "It sends the id of another client's object", func(s *Subject, v *value) string {
		unique := s.Candidate.Unique
		if unique == "" || !strings.Contains(v.node.Text, unique) {
			return ""
		}
		return strings.ReplaceAll(v.node.Text, unique, similarID(unique, 1))
	}),
	operator("identity", "swapped", "It swaps the ids of two objects in one document", func(s *Subject, _ uint64, yield emit) {
		for _, d := range s.documents() {
			for _, pair := range neighbouringIDs(s, d) {
				a, b := pair[0], pair[1]
				m := a.mutant(b.node.Text+" and "+a.node.Text, nil)
				m.Build = func() *transcript.Transcript {
					return d.put([]byte(swapTexts(mustParse(string(d.data)), a.node.Text, b.node.Text).String()))
				}
				yield(m)
			}
		}
	}),
	operator("identity", "collision", "It gives two objects the same id", func(s *Subject, _ uint64, yield emit) {
		for _, name := range idNames(s) {
			values := valuesNamed(s, name)
			for i := 1; i < len(values); i++ {
				from, to := values[i], values[0]
				if !needsNoEscapes(from) || !needsNoEscapes(to) || strings.Contains(from, to) || strings.Contains(to, from) {
					continue
				}
				yield(Mutant{
					Place: "every " + name, Before: excerpt(from), After: excerpt(to),
					Build: func() *transcript.Transcript { return rewriteSent(s.Candidate, strings.NewReplacer(from, to).Replace) },
				})
			}
		}
	}),
}

// needsNoEscapes reports whether JSON writes a text without escapes, so that it can be recognised in any place.
func needsNoEscapes(s string) bool { return len(s) > 1 && quoted(s) == `"`+s+`"` }

// changeID makes an operator on values that the server generates.
func changeID(name, doc string, change func(s *Subject, v *value, seed uint64) string) Operator {
	return operator("identity", name, doc, func(s *Subject, seed uint64, yield emit) {
		for v := range s.values() {
			if !v.is(jsontree.String, generated) || len(v.node.Text) < 6 || isProse(v) {
				continue
			}
			if after := change(s, v, seed); after != "" && after != v.node.Text {
				yield(v.set(quoted(after)))
			}
		}
	})
}

// isProse reports whether a value consists of words that a rule lets the server choose. Then it is not an id.
func isProse(v *value) bool {
	return v.doc.freeText[v.pointer] && !strings.ContainsAny(v.node.Text, "0123456789")
}

// changeIDMember makes an operator on members with the name of an id, whichever side generated the value.
func changeIDMember(name, doc string, change func(s *Subject, v *value) string) Operator {
	return operator("identity", name, doc, func(s *Subject, _ uint64, yield emit) {
		for v := range s.values() {
			if !isIDName(v.name) || v.node.Kind != jsontree.String || v.node.Text == "" {
				continue
			}
			after := change(s, v)
			if after != "" && after != v.node.Text && (v.origin == fixed || countValues(s, v.node.Text) > 1) {
				yield(v.set(quoted(after)))
			}
		}
	})
}

// countValues returns the number of values that contain a text.
func countValues(s *Subject, text string) int {
	n := 0
	own := len(s.Rules.ProjectIDs(text)) > 0 // 20261120_1 does not count as part of 20261120_17
	for v := range s.values() {
		if v.node.Kind == jsontree.String && strings.Contains(v.node.Text, text) && (!own || nextWord(v.node.Text, text, 0) >= 0) {
			n++
		}
	}
	return n
}

// idNames returns the names of the members with the name of an id, in the order of their first occurrence.
func idNames(s *Subject) []string {
	var out []string
	for v := range s.values() {
		if isIDName(v.name) && v.node.Kind == jsontree.String && !slices.Contains(out, v.name) {
			out = append(out, v.name)
		}
	}
	return out
}

// valuesNamed returns the different values with a name, in the order of their first occurrence.
func valuesNamed(s *Subject, name string) []string {
	var out []string
	for v := range s.values() {
		if v.name == name && v.node.Kind == jsontree.String && !slices.Contains(out, v.node.Text) {
			out = append(out, v.node.Text)
		}
	}
	return out
}

// neighbouringIDs returns the values of a document with different ids and the same name. Each is paired with the
// previous one.
func neighbouringIDs(s *Subject, d *document) [][2]*value {
	last := map[string]*value{}
	var out [][2]*value
	for _, v := range d.values {
		if !isIDName(v.name) || v.node.Kind != jsontree.String || v.origin != fixed && countValues(s, v.node.Text) < 2 {
			continue
		}
		if before := last[v.name]; before != nil && before.node.Text != v.node.Text {
			out = append(out, [2]*value{before, v})
		}
		last[v.name] = v
	}
	return out
}

// swapTexts swaps two texts in a document.
func swapTexts(n *jsontree.Node, a, b string) *jsontree.Node {
	if n.Kind == jsontree.String {
		switch n.Text {
		case a:
			n.Text = b
		case b:
			n.Text = a
		}
	}
	for _, item := range n.Items {
		swapTexts(item, a, b)
	}
	return n
}
