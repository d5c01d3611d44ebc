package contract

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A surface is what the schemas of a document declare: a row for each that has properties, an enum or alternatives. It is
// made once for a document.
type surface struct {
	rows  []SchemaCoverage // with nothing seen, in the order of the document
	index map[*schema]int  // the row of a schema
}

// newSurface collects the schemas of all messages.
func (d *Document) newSurface() *surface {
	f := &surface{index: map[*schema]int{}}
	found := map[*schema]In{}
	var order []*schema
	for _, in := range []In{InAnswers, InRequests} { // what both have is looked for in answers
		for _, op := range d.ops {
			for _, root := range op.roots(in) {
				order = reach(root.schema, in, found, order)
			}
		}
	}
	byRef := map[string]int{}
	slices.SortStableFunc(order, func(a, b *schema) int { return cmp.Compare(d.src.line(a.ref), d.src.line(b.ref)) })
	for _, s := range order {
		if _, known := byRef[s.ref]; !known { // a base schema stands twice under its name
			r := d.rowOf(s, found[s])
			if len(r.Properties)+len(r.Enum)+len(r.Alternatives) == 0 {
				continue
			}
			byRef[s.ref] = len(f.rows)
			f.rows = append(f.rows, r)
		}
		f.index[s] = byRef[s.ref]
	}
	return f
}

// A root is a schema that a message begins with, and what the message is of.
type root struct {
	schema *schema
	of     []Key
}

// roots are the schemas that an operation's messages begin with.
func (op *Operation) roots(in In) (out []root) {
	add := func(s *schema, of ...Key) {
		if s != nil {
			out = append(out, root{s, append([]Key{{OperationsReached, op.String()}}, of...)})
		}
	}
	if in == InRequests {
		if op.body != nil {
			for _, m := range op.body.media {
				add(m.schema, keyOf(RequestsSent, op, m.name))
			}
		}
		return out
	}
	for _, r := range op.responses {
		status := keyOf(StatusesReached, op, r.code)
		for _, h := range r.headers {
			add(h.schema, status)
		}
		for _, m := range r.media {
			media := keyOf(MediaReached, op, r.code, m.name)
			if !m.typ.isStream() {
				add(m.schema, status, media)
			} else if m.events != nil {
				for _, name := range m.events.names {
					if e := m.events.events[name]; e != nil {
						add(e.schema, status, media, keyOf(EventsReached, op, name))
					}
				}
			}
		}
	}
	return out
}

// keyOf names what an operation declares.
func keyOf(m Measure, op *Operation, names ...string) Key {
	return Key{m, op.String() + " " + strings.Join(names, " ")}
}

// reach appends the schemas that a value of s, or what is inside of it, can be judged by, and that are not known yet.
func reach(s *schema, in In, found map[*schema]In, order []*schema) []*schema {
	if _, known := found[s]; known {
		return order
	}
	found[s] = in
	order = append(order, s)
	for _, next := range s.beside() {
		order = reach(next, in, found, order)
	}
	return order
}

// beside are the schemas that a schema leads to.
func (s *schema) beside() []*schema {
	out := slices.Concat(s.parts, s.oneOf, s.anyOf)
	for _, name := range s.names {
		out = append(out, s.properties[name])
	}
	for _, one := range []*schema{s.items, s.additional} {
		if one != nil {
			out = append(out, one)
		}
	}
	if s.tag != nil {
		if s.tag.base != nil {
			out = append(out, s.tag.base)
		}
		for _, value := range s.tag.values {
			if branch := s.tag.branches[value]; branch != nil {
				out = append(out, branch)
			}
		}
	}
	return out
}

// rowOf returns what a schema declares. A property that belongs to the other side is none.
func (d *Document) rowOf(s *schema, in In) SchemaCoverage {
	r := SchemaCoverage{Schema: s.ref, Line: d.src.line(s.ref), In: in}
	for _, name := range s.names {
		if p := s.properties[name]; in == InAnswers && p.writeOnly || in == InRequests && p.readOnly {
			continue
		}
		at := string(appendName([]byte(s.ref+"/properties"), name))
		r.Properties = append(r.Properties, PointCoverage{Name: name, Line: d.src.line(at)})
	}
	for _, e := range s.enum {
		r.Enum = append(r.Enum, PointCoverage{Name: e.node.String(), Line: r.Line})
	}
	for _, branch := range slices.Concat(s.oneOf, s.anyOf) {
		r.Alternatives = append(r.Alternatives, PointCoverage{Name: branch.ref, Line: r.Line})
	}
	return r
}

// A sighting marks what contents have of a surface, and passes over what cannot have anything new.
type sighting struct {
	doc   *Document
	rows  []SchemaCoverage
	left  []int             // how much of each row has not been seen
	total int               // of all rows
	views map[*schema]*view // by the schema that contents begin with
	known cache             // contents that were looked at
}

func newSighting(d *Document, rows []SchemaCoverage) *sighting {
	s := &sighting{doc: d, rows: rows, left: make([]int, len(rows)), views: map[*schema]*view{}}
	for i := range rows {
		for _, list := range rows[i].lists() {
			s.left[i] += len(*list)
			s.total += len(*list)
		}
	}
	return s
}

// content marks what is in a content that is judged by a schema.
func (g *sighting) content(s *schema, how content, in In, data []byte) {
	if s == nil || how == opaque || !g.view(s, in).mayHave(how, data) {
		return
	}
	key := cacheKey{schema: s, how: how, side: Side(in)}
	if _, again := g.known.get(key, data); again {
		return
	}
	if how == plainText {
		g.value(s, in, s.read(string(data)))
	} else if n, _, err := jsontree.Parse(data); err == nil {
		g.value(s, in, n)
	}
	g.known.put(key, data, nil)
}

// field marks the value of a header field.
func (g *sighting) field(h *parameter, s sent) {
	text := []byte(strings.Join(s.values, ", "))
	if h.schema == nil || h.how != plainText || !g.view(h.schema, InAnswers).mayHave(plainText, text) {
		return
	}
	key := cacheKey{schema: h.schema, how: opaque, side: Side(InAnswers)}
	if _, again := g.known.get(key, text); again {
		return
	}
	g.value(h.schema, InAnswers, h.value(s))
	g.known.put(key, text, nil)
}

// value marks what is in a value, by a judge that says nothing.
func (g *sighting) value(s *schema, in In, n *jsontree.Node) {
	j := g.doc.newJudge(Response)
	if in == InRequests {
		j.side = Request
	}
	j.quiet = true
	j.sees = func(n *jsontree.Node, s *schema, applied []*schema) {
		if n.Kind == jsontree.Null {
			g.mark(n, s, nil, in)
		}
		for _, p := range applied {
			g.mark(n, p, applied, in)
		}
	}
	j.value(n, s, nil)
}

// mark marks what a value has of one schema that it is judged by, among others.
func (g *sighting) mark(n *jsontree.Node, s *schema, applied []*schema, in In) {
	i, ok := g.doc.surface().index[s]
	if !ok || g.left[i] == 0 || g.rows[i].In != in {
		return
	}
	r := &g.rows[i]
	if n.Kind == jsontree.Object {
		for k := range r.Properties {
			if p := &r.Properties[k]; !p.Seen && n.Member(p.Name) != nil {
				g.see(i, p)
			}
		}
	}
	for k := range r.Enum {
		if p := &r.Enum[k]; !p.Seen && s.enum[k].is(n) {
			g.see(i, p)
		}
	}
	for k, branch := range slices.Concat(s.oneOf, s.anyOf) {
		if p := &r.Alternatives[k]; !p.Seen && inAny(applied, branch) {
			g.see(i, p)
		}
	}
}

func (g *sighting) see(row int, p *PointCoverage) {
	p.Seen = true
	g.left[row]--
	g.total--
}
