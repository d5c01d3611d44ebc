package mutate

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// identityOperators confuse ids: those that the server generates, and those that a client gives.
var identityOperators = []Operator{
	changeID("other", "It sends an id that does not exist in one place", func(v *value, seed uint64) string {
		if countValues(v.doc.s, v.node.Text) < 2 {
			return "" // nothing shows which of the two is right
		}
		return v.doc.s.similar(v.node.Text, v.doc.seen, seed)
	}),
	changeID("shape", "It generates shorter ids", func(v *value, _ uint64) string {
		out := v.node.Text[:len(v.node.Text)-1]
		for v.doc.s.sameShape(out, v.node.Text) { // sameShape means that out is another valid id
			out = out[:len(out)-1]
		}
		return out
	}),
	changeID("prefix", "It generates ids with another prefix", func(v *value, _ uint64) string { return "x" + v.node.Text }),
	changeID("constant", "It sends the same id to all clients", func(*value, uint64) string { return "id" }),
	changeIDMember("exchanged", "It sends the id of another object of the same kind", func(v *value) string {
		for _, other := range valuesNamed(v.doc.s, v.name) {
			if other != v.node.Text {
				return other
			}
		}
		return ""
	}),
	changeIDMember("parent", "It names another parent: the id of an object of another kind", func(v *value) string {
		for i, name := range v.parent.Names {
			if n := v.parent.Items[i]; name != v.name && isIDName(name) && n.Kind == v.node.Kind && n.Text != v.node.Text && n.Text != "" {
				return n.Text
			}
		}
		return ""
	}),
	changeIDMember("foreign", "It sends the id of another client's object", func(v *value) string {
		unique := v.doc.s.Candidate.Unique
		if unique == "" || !strings.Contains(v.node.Text, unique) {
			return ""
		}
		return strings.ReplaceAll(v.node.Text, unique, similarID(unique, 1))
	}),
	operator("identity", "swapped", "It swaps the ids of two objects in one document", func(s *Subject, _ uint64, yield emit) {
		for _, d := range s.documents() {
			for _, pair := range neighbouringIDs(d) {
				v, a, b := pair[0], pair[0].node.Text, pair[1].node.Text
				if d.onlyReorders(pair) {
					continue
				}
				m := v.mutant(b+" and "+a, nil)
				yield(d.mutant(m.site, m.Place, m.Before, m.After, func() []byte {
					root, other := d.parsed(), map[string]string{a: b, b: a}
					walk(root, func(n *jsontree.Node) {
						if text, ok := other[n.Text]; ok && n.Kind == jsontree.String {
							n.Text = text
						}
					})
					return []byte(root.String())
				}))
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
				replace := strings.NewReplacer(from, to).Replace
				yield(s.mutant(site{}, "every "+name, excerpt(from), excerpt(to), func(t *transcript.Transcript) { rewriteSent(t, replace) }))
			}
		}
	}),
}

// needsNoEscapes reports whether JSON writes a text without escapes, so that it can be recognised in any place.
func needsNoEscapes(s string) bool { return len(s) > 1 && quoted(s) == `"`+s+`"` }

// shortestID is the length from which a text may be an id that operators confuse with others.
const shortestID = 6

// changeID makes an operator on values that the server generates. The function returns another id, or "".
func changeID(name, doc string, change func(v *value, seed uint64) string) Operator {
	return replaceValues("identity", name, doc, func(v *value, seed uint64) string {
		if !v.is(jsontree.String, generated) || len(v.node.Text) < shortestID || isProse(v) {
			return ""
		}
		return v.otherID(change(v, seed))
	})
}

// otherID returns an id as JSON, or "" if there is none or it is the value's.
func (v *value) otherID(after string) string {
	if after == "" || after == v.node.Text {
		return ""
	}
	return quoted(after)
}

// isProse reports whether a value consists of words that a rule lets the server choose. Then it is not an id.
func isProse(v *value) bool {
	return v.doc.freeText[v.pointer] && !strings.ContainsAny(v.node.Text, "0123456789")
}

// changeIDMember makes an operator on members with the name of an id, whichever side generated the value.
func changeIDMember(name, doc string, change func(v *value) string) Operator {
	return replaceValues("identity", name, doc, func(v *value, _ uint64) string {
		if !isIDName(v.name) || v.node.Kind != jsontree.String || v.node.Text == "" {
			return ""
		}
		after := v.otherID(change(v))
		if after == "" || v.origin != fixed && countValues(v.doc.s, v.node.Text) < 2 {
			return ""
		}
		return after
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
func neighbouringIDs(d *document) [][2]*value {
	last := map[string]*value{}
	var out [][2]*value
	for _, v := range d.values {
		if !isIDName(v.name) || v.node.Kind != jsontree.String || v.origin != fixed && countValues(d.s, v.node.Text) < 2 {
			continue
		}
		if before := last[v.name]; before != nil && before.node.Text != v.node.Text {
			out = append(out, [2]*value{before, v})
		}
		last[v.name] = v
	}
	return out
}

// onlyReorders reports whether two elements of a list whose order does not matter are the same after their ids are
// swapped, so that swapping them only reorders the list.
func (d *document) onlyReorders(ids [2]*value) bool {
	for _, list := range d.values {
		depth := len(list.path)
		if !list.isLoose() || len(ids[0].path) <= depth || len(ids[1].path) <= depth || !slices.Equal(ids[0].path[:depth], list.path) || !slices.Equal(ids[1].path[:depth], list.path) {
			continue
		}
		first, second := list.node.Items[ids[0].path[depth]].String(), list.node.Items[ids[1].path[depth]].String()
		if strings.ReplaceAll(first, ids[0].node.Text, ids[1].node.Text) == second {
			return true
		}
	}
	return false
}

// echoOperators respond with another id than the one that the client sent in a header field, or sign tokens wrongly.
var echoOperators = []Operator{
	operator("identity", "echo-header", "It generates an id in a header field instead of the client's", func(s *Subject, seed uint64, yield emit) {
		for e := range s.responses() {
			for i, f := range e.x.Response.Header {
				if !aboutMessage(s.Rules, f) || !isCompared(s.Rules, e.st.ID, f.Name) {
					continue
				}
				if after := replaceSentID(e.x, f.Value, seed); after != f.Value {
					yield(e.withField(i, after))
				}
			}
		}
	}),
	replaceValues("identity", "echo-body", "It generates an id in a body instead of the one in the client's header fields", func(v *value, seed uint64) string {
		if v.doc.exchange == nil || v.node.Kind != jsontree.String {
			return ""
		}
		return v.otherID(replaceSentID(v.doc.exchange, v.node.Text, seed))
	}),
	replaceValues("identity", "signature", "It signs tokens with zeros", func(v *value, _ uint64) string {
		at := strings.LastIndexByte(v.node.Text, '.') + 1
		if v.origin != generated || !isJWT(v.node) || !isJWT(v.ref) || strings.Trim(v.node.Text[at:], "A") == "" {
			return ""
		}
		return quoted(v.node.Text[:at] + strings.Repeat("A", len(v.node.Text)-at))
	}),
}

// sentID matches ids in a client's header fields, including those in a traceparent and in a cookie.
var sentID = regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9A-Za-z]+(?:_[0-9A-Za-z]+)*`)

// replaceSentID returns a text with another id instead of the first one that the client sent in a header field of the
// request.
func replaceSentID(x *transcript.Exchange, text string, seed uint64) string {
	const shortest = 8
	for _, f := range x.Request.Header {
		for _, id := range sentID.FindAllString(f.Value, -1) {
			if len(id) >= shortest && strings.ContainsAny(id, "0123456789") && nextWord(text, id, 0) >= 0 {
				return replaceWord(id, similarID(id, seed))(text)
			}
		}
	}
	return text
}

func isJWT(n *jsontree.Node) bool {
	if n == nil || n.Kind != jsontree.String {
		return false
	}
	parts := strings.Split(n.Text, ".")
	if len(parts) != 3 {
		return false
	}
	for _, part := range parts[:2] {
		if inner, _ := embeddedObject(&jsontree.Node{Kind: jsontree.String, Text: part}); inner == nil {
			return false
		}
	}
	return true
}

// embeddedOperators confuse ids that are part of a text: in JSON or Base64, or in the name of a temporary folder.
var embeddedOperators = []Operator{
	operator("identity", "encoded", "It sends an id that does not exist in a text that contains JSON", func(s *Subject, seed uint64, yield emit) {
		for v := range s.values() {
			inner, encode := embeddedObject(v.node)
			if inner == nil || v.ref == nil {
				continue
			}
			for i, name := range inner.Names {
				id := inner.Items[i]
				if !isIDName(name) || id.Kind != jsontree.String || len(id.Text) < shortestID || !standsElsewhere(s, id.Text, v) {
					continue
				}
				after := encode(strings.Replace(inner.String(), quoted(id.Text), quoted(similarID(id.Text, seed)), 1))
				if after != v.node.Text {
					yield(v.set(quoted(after)))
				}
			}
		}
	}),
	replaceValues("identity", "temporary", "It names a temporary folder that does not exist in one place", func(v *value, seed uint64) string {
		name := temporaryFolder(v.node)
		if name == "" || v.origin == fixed || countValues(v.doc.s, name) < 2 {
			return ""
		}
		return quoted(strings.Replace(v.node.Text, name, similarID(name, seed), 1))
	}),
}

// standsElsewhere reports whether a text occurs in another value.
func standsElsewhere(s *Subject, text string, here *value) bool {
	for v := range s.values() {
		if v != here && v.node.Kind == jsontree.String && strings.Contains(v.node.Text, text) {
			return true
		}
	}
	return false
}

// temporaryFolder returns the name of the folder in /tmp at the beginning of a text, or "".
func temporaryFolder(n *jsontree.Node) string {
	rest, ok := strings.CutPrefix(n.Text, "/tmp/")
	if !ok || n.Kind != jsontree.String {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	if !isPlainID(name) {
		return ""
	}
	return name
}
