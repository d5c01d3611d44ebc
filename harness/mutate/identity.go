package mutate

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// identityOperators confuse ids: those that the server makes up, and those that a client gives.
var identityOperators = []Operator{
	ids("other", "In one place it sends an id that nobody has", func(s *Subject, v *spot, seed uint64) string {
		if s.count(v.node.Text) < 2 {
			return "" // nobody can tell which of the two is right
		}
		return s.another(v.node.Text, v.doc.seen, seed)
	}),
	ids("shape", "It makes ids that are shorter", func(s *Subject, v *spot, _ uint64) string {
		out := v.node.Text[:len(v.node.Text)-1]
		for s.alikeByShape(out, v.node.Text) { // which is another id, and a right one
			out = out[:len(out)-1]
		}
		return out
	}),
	ids("prefix", "It makes ids with another prefix", func(_ *Subject, v *spot, _ uint64) string { return "x" + v.node.Text }),
	ids("constant", "It sends the same id to everybody", func(_ *Subject, v *spot, _ uint64) string { return "id" }),
	named("exchanged", "It sends the id of another thing of the same kind", func(s *Subject, v *spot) string {
		for _, other := range s.namesakes(v.name) {
			if other != v.node.Text {
				return other
			}
		}
		return ""
	}),
	named("parent", "It names another parent: the id of something of another kind", func(s *Subject, v *spot) string {
		for i, name := range v.parent.Names {
			if n := v.parent.Items[i]; name != v.name && isID(name) && n.Kind == v.node.Kind && n.Text != v.node.Text && n.Text != "" {
				return n.Text
			}
		}
		return ""
	}),
	named("foreign", "It sends the id of another client's thing", func(s *Subject, v *spot) string {
		unique := s.Candidate.Unique
		if unique == "" || !strings.Contains(v.node.Text, unique) {
			return ""
		}
		return strings.ReplaceAll(v.node.Text, unique, fresh(unique, 1))
	}),
	operator("identity", "swapped", "It confuses two things: each has the id of the other in one document", func(s *Subject, _ uint64, yield emit) {
		for _, d := range s.documents() {
			for _, pair := range d.pairs() {
				a, b := pair[0], pair[1]
				m := a.mutant(b.node.Text+" and "+a.node.Text, nil)
				m.Build = func() *transcript.Transcript {
					return d.put([]byte(swapTexts(parsed(string(d.data)), a.node.Text, b.node.Text).String()))
				}
				if !yield(m) {
					return
				}
			}
		}
	}),
	operator("identity", "collision", "It gives two things the same id", func(s *Subject, _ uint64, yield emit) {
		for _, name := range s.idNames() {
			values := s.namesakes(name)
			for i := 1; i < len(values); i++ {
				from, to := values[i], values[0]
				if !plain(from) || !plain(to) || strings.Contains(from, to) || strings.Contains(to, from) {
					continue
				}
				if !yield(Mutant{
					Place: "every " + name, Before: shown(from), After: shown(to),
					Build: func() *transcript.Transcript { return s.sent(strings.NewReplacer(from, to).Replace) },
				}) {
					return
				}
			}
		}
	}),
}

// plain reports whether a text is written in JSON as it is, so that it can be told wherever it stands.
func plain(s string) bool { return len(s) > 1 && text(s) == `"`+s+`"` }

// ids makes an operator on values that the server makes up.
func ids(name, doc string, change func(s *Subject, v *spot, seed uint64) string) Operator {
	return operator("identity", name, doc, func(s *Subject, seed uint64, yield emit) {
		s.spots(func(v *spot) bool {
			if v.class != made || v.node.Kind != jsontree.String || len(v.node.Text) < 6 || v.inWords() {
				return true
			}
			after := change(s, v, seed)
			return after == "" || after == v.node.Text || yield(v.set(text(after)))
		})
	})
}

// inWords reports whether a value is in words of the server's own, which a rule lets it choose: it is no id.
func (v *spot) inWords() bool {
	return v.doc.free[v.pointer] && !strings.ContainsAny(v.node.Text, "0123456789")
}

// named makes an operator on members that are called ids, whoever made the value.
func named(name, doc string, change func(s *Subject, v *spot) string) Operator {
	return operator("identity", name, doc, func(s *Subject, _ uint64, yield emit) {
		s.spots(func(v *spot) bool {
			if !isID(v.name) || v.node.Kind != jsontree.String || v.node.Text == "" {
				return true
			}
			after := change(s, v)
			if after == "" || after == v.node.Text || v.class != fixed && s.count(v.node.Text) < 2 {
				return true
			}
			return yield(v.set(text(after)))
		})
	})
}

// isID reports whether a member is called an id.
func isID(name string) bool {
	return name == "id" || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "ID") || strings.HasSuffix(name, "_id")
}

// count returns in how many values a text stands.
func (s *Subject) count(text string) int {
	n := 0
	own := len(s.Rules.OwnIDs(text)) > 0 // 20261120_1 does not stand in 20261120_17
	s.spots(func(v *spot) bool {
		if v.node.Kind == jsontree.String && strings.Contains(v.node.Text, text) && (!own || nextWord(v.node.Text, text, 0) >= 0) {
			n++
		}
		return true
	})
	return n
}

// idNames are the names of the members that are called ids, in the order in which they come.
func (s *Subject) idNames() []string {
	var out []string
	s.spots(func(v *spot) bool {
		if isID(v.name) && v.node.Kind == jsontree.String && !slices.Contains(out, v.name) {
			out = append(out, v.name)
		}
		return true
	})
	return out
}

// namesakes are the different values under a name, in the order in which they come.
func (s *Subject) namesakes(name string) []string {
	var out []string
	s.spots(func(v *spot) bool {
		if v.name == name && v.node.Kind == jsontree.String && !slices.Contains(out, v.node.Text) {
			out = append(out, v.node.Text)
		}
		return true
	})
	return out
}

// pairs are values of a document with different ids under the same name, each with the one before it.
func (d *document) pairs() [][2]*spot {
	last := map[string]*spot{}
	var out [][2]*spot
	for _, v := range d.spots {
		if !isID(v.name) || v.node.Kind != jsontree.String || v.class != fixed && d.s.count(v.node.Text) < 2 {
			continue
		}
		if before := last[v.name]; before != nil && before.node.Text != v.node.Text {
			out = append(out, [2]*spot{before, v})
		}
		last[v.name] = v
	}
	return out
}

// swapTexts exchanges two texts in a document.
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

// sent returns a copy in which what the server sent is rewritten.
func (s *Subject) sent(replace func(string) string) *transcript.Transcript {
	t := *s.Candidate
	t.Steps = slices.Clone(t.Steps)
	for i := range t.Steps {
		st := &t.Steps[i]
		st.Exchanges = slices.Clone(st.Exchanges)
		for k, x := range st.Exchanges {
			if x.Response == nil {
				continue
			}
			y, resp := *x, *x.Response
			resp.Header = slices.Clone(resp.Header)
			for f := range resp.Header {
				resp.Header[f].Value = replace(resp.Header[f].Value)
			}
			send(&resp, rewrittenBody(&resp, replace))
			y.Response = &resp
			st.Exchanges[k] = &y
		}
	}
	t.Upstream = slices.Clone(t.Upstream)
	for i := range t.Upstream {
		st := &t.Upstream[i]
		st.Exchanges = slices.Clone(st.Exchanges)
		for k, x := range st.Exchanges {
			y := *x
			y.Request.Target, y.Request.Body = replace(x.Request.Target), body([]byte(replace(string(x.Request.Body.Bytes))))
			y.Request.Header = slices.Clone(x.Request.Header)
			for f := range y.Request.Header {
				y.Request.Header[f].Value = replace(y.Request.Header[f].Value)
			}
			st.Exchanges[k] = &y
		}
	}
	t.Streams = slices.Clone(t.Streams)
	for i, st := range t.Streams {
		c := *st
		c.Events = slices.Clone(c.Events)
		for k := range c.Events {
			c.Events[k].Data, c.Events[k].ID = replace(c.Events[k].Data), replace(c.Events[k].ID)
		}
		t.Streams[i] = &c
	}
	return &t
}
