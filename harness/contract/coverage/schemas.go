package coverage

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// declarations are what the schemas of a document declare. Each schema with properties, an enum or alternatives has a
// row.
type declarations struct {
	rows  []Schema               // with nothing seen, in the order of the document
	index map[*schema.Schema]int // the row of a schema
}

// newDeclarations collects the schemas of all messages.
func newDeclarations(d *spec.Document) *declarations {
	f := &declarations{index: map[*schema.Schema]int{}}
	found := map[*schema.Schema]Messages{}
	var order []*schema.Schema
	for _, in := range []Messages{Responses, Requests} { // schemas of both responses and requests count in responses
		for _, op := range operations(d) {
			for _, root := range rootsOf(op, in) {
				order = reach(root.schema, in, found, order)
			}
		}
	}
	byRef := map[string]int{}
	slices.SortStableFunc(order, func(a, b *schema.Schema) int { return cmp.Compare(d.Line(a.Ref), d.Line(b.Ref)) })
	for _, s := range order {
		if _, known := byRef[s.Ref]; !known { // a base schema occurs twice under its name
			r := rowOf(d, s, found[s])
			if len(r.Properties)+len(r.Enum)+len(r.Alternatives) == 0 {
				continue
			}
			byRef[s.Ref] = len(f.rows)
			f.rows = append(f.rows, r)
		}
		f.index[s] = byRef[s.Ref]
	}
	return f
}

// A root is the schema of a whole message, with the keys of what the message belongs to.
type root struct {
	schema *schema.Schema
	of     []Key
}

// rootsOf returns the schemas of an operation's messages.
func rootsOf(op *spec.Operation, in Messages) (out []root) {
	add := func(s *schema.Schema, of ...Key) {
		if s != nil {
			out = append(out, root{s, append([]Key{{OperationsReached, op.String()}}, of...)})
		}
	}
	addAll := func(side *spec.EventSet, of ...Key) {
		for _, name := range side.Names {
			if e := side.Events[name]; e != nil {
				add(e.Schema, append(slices.Clip(of), keyOf(EventsReached, op, e.Label))...)
			}
		}
	}
	if in == Requests {
		if op.Body != nil {
			for _, m := range op.Body.Media {
				add(m.Schema, keyOf(RequestsSent, op, m.Name))
			}
		}
		if op.Messages != nil {
			addAll(&op.Messages.Sent)
		}
		return out
	}
	for _, r := range op.Responses {
		status := keyOf(StatusesReached, op, r.Code)
		for _, h := range r.Headers {
			add(h.Schema, status)
		}
		for _, m := range r.Media {
			media := keyOf(MediaReached, op, r.Code, m.Name)
			if !m.Type.IsStream() {
				add(m.Schema, status, media)
			} else if m.Events != nil {
				addAll(&m.Events.Received, status, media)
			}
		}
	}
	if op.Messages != nil {
		addAll(&op.Messages.Received)
	}
	return out
}

// keyOf returns the key of something that an operation declares.
func keyOf(m Measure, op *spec.Operation, names ...string) Key {
	return Key{m, op.String() + " " + strings.Join(names, " ")}
}

// reach appends the schemas that can judge a value of s or a part of it, unless they are in found.
func reach(s *schema.Schema, in Messages, found map[*schema.Schema]Messages, order []*schema.Schema) []*schema.Schema {
	if _, known := found[s]; known {
		return order
	}
	found[s] = in
	order = append(order, s)
	for _, next := range s.Next() {
		order = reach(next, in, found, order)
	}
	return order
}

// rowOf returns what a schema declares. It leaves out properties that only the other side sends.
func rowOf(d *spec.Document, s *schema.Schema, in Messages) Schema {
	r := Schema{Schema: s.Ref, Line: d.Line(s.Ref), In: in}
	for _, name := range s.Names {
		if p := s.Properties[name]; in == Responses && p.WriteOnly || in == Requests && p.ReadOnly {
			continue
		}
		at := jsontree.AppendName(s.Ref+"/properties", name)
		r.Properties = append(r.Properties, Point{Name: name, Line: d.Line(at)})
	}
	for _, e := range s.Enum {
		r.Enum = append(r.Enum, Point{Name: e.Node.String(), Line: r.Line})
	}
	for _, branch := range s.Alternatives() {
		r.Alternatives = append(r.Alternatives, Point{Name: branch.Ref, Line: r.Line})
	}
	return r
}

// A marker marks the declarations that contents use. It skips contents that cannot have anything new.
type marker struct {
	*declarations
	left     []int                      // how much of each row has not been seen
	total    int                        // sum of left
	unseenOf map[*schema.Schema]*unseen // by the schema of the whole content
}

func newMarker(declared *declarations) *marker {
	s := &marker{declarations: declared, left: make([]int, len(declared.rows)), unseenOf: map[*schema.Schema]*unseen{}}
	for i := range s.rows {
		for _, list := range s.rows[i].lists() {
			s.left[i] += len(*list)
			s.total += len(*list)
		}
	}
	return s
}

// content marks what a content has of a schema.
func (g *marker) content(s *schema.Schema, how spec.Encoding, in Messages, data []byte) {
	if s == nil || how == spec.Opaque || !g.unseen(s, in).mayHave(how, data) {
		return
	}
	if how == spec.PlainText {
		g.value(s, in, s.Read(string(data)))
	} else if n, _, err := jsontree.Parse(data); err == nil {
		g.value(s, in, n)
	}
}

// field marks the value of a header field.
func (g *marker) field(h *spec.Parameter, s spec.Sent) {
	text := []byte(strings.Join(s.Values, ", "))
	if h.Schema == nil || h.Encoding != spec.PlainText || !g.unseen(h.Schema, Responses).mayHave(spec.PlainText, text) {
		return
	}
	g.value(h.Schema, Responses, h.Value(s))
}

// value marks what a value has, with the help of a judge that reports nothing.
func (g *marker) value(s *schema.Schema, in Messages, n *jsontree.Node) {
	direction := schema.ToClient
	if in == Requests {
		direction = schema.ToServer
	}
	schema.NewWatcher(direction, func(n *jsontree.Node, s *schema.Schema, applied []*schema.Schema) {
		if n.Kind == jsontree.Null {
			g.mark(n, s, nil, in)
		}
		for _, p := range applied {
			g.mark(n, p, applied, in)
		}
	}).Judge(n, s)
}

// mark marks what a value has of one schema. applied are all schemas that judge the value.
func (g *marker) mark(n *jsontree.Node, s *schema.Schema, applied []*schema.Schema, in Messages) {
	i, ok := g.index[s]
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
		if p := &r.Enum[k]; !p.Seen && s.Enum[k].Is(n) {
			g.see(i, p)
		}
	}
	for k, branch := range s.Alternatives() {
		if p := &r.Alternatives[k]; !p.Seen && schema.IsApplied(applied, branch) {
			g.see(i, p)
		}
	}
}

func (g *marker) see(row int, p *Point) {
	p.Seen = true
	g.left[row]--
	g.total--
}
