package mutate

import (
	"mime"
	"slices"
	"strings"
	"time"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A document is a JSON document that the candidate sent: a body, an event's data, or what it has asked an upstream.
type document struct {
	s     *Subject
	where string // "step 3 body"
	data  []byte
	root  *jsontree.Node
	ref   *jsontree.Node // the reference's; nil where it has none
	seen  time.Time
	site  site
	// answer is the exchange whose answer it is; nil for an event, and for what was asked.
	answer *transcript.Exchange
	put    func(data []byte) *transcript.Transcript
	rules  []compare.Volatile
	// declared has the places that rules call volatile, but for texts, as JSON Pointers.
	declared map[string]bool
	free     map[string]bool // those that rules call texts
	spots    []*spot         // in the order of the document
	fails    bool            // the body of an answer that tells of no success
	upstream string          // the stub that it was sent to; "" for what was sent to the client
	archive  bool            // it stands for an archive, in which the order of members is that of entries
}

// A spot is a value of a document.
type spot struct {
	doc     *document
	path    []int // from the root, by index
	pointer string
	name    string // of the member; "" for an element and for the root
	node    *jsontree.Node
	parent  *jsontree.Node
	ref     *jsontree.Node // the reference's value in the same place; nil where it has none
	class   class
}

const (
	deepest = 40  // levels of a document that are gone through
	largest = 400 // values of it
)

// documents returns the documents of a subject.
func (s *Subject) documents() []*document {
	if s.scanned {
		return s.docs
	}
	s.scanned = true
	s.answers(func(a *answer) bool {
		if a.x.Stream != "" || !isJSON(a.x.Response.Header) {
			s.archived(a)
			return true
		}
		d := &document{
			s: s, where: a.where + " body", data: a.x.Response.Body.Bytes, seen: seen(s.Candidate, a.x.Done), site: a.site(),
			answer: a.x, fails: a.x.Response.Status >= 400,
			put: func(data []byte) *transcript.Transcript {
				return s.withExchange(a.step, a.index, func(x *transcript.Exchange) { send(x.Response, data) })
			},
		}
		var ref []byte
		if a.ref != nil {
			ref = a.ref.Response.Body.Bytes
		}
		s.take(d, ref)
		return true
	})
	s.asked()
	s.events(func(o *occurrence) bool {
		if text := strings.TrimSpace(o.ev.Data); o.beat || o.ev.Comment || text == "" || text[0] != '{' && text[0] != '[' {
			return true
		}
		d := &document{
			s: s, where: o.where + " data", data: []byte(o.ev.Data), seen: seen(s.Candidate, o.ev.At), site: o.site(),
			put: func(data []byte) *transcript.Transcript {
				return s.withEvent(o.stream, o.index, func(ev *transcript.Event) { ev.Data = string(data) })
			},
		}
		var ref []byte
		if o.ref != nil {
			ref = []byte(o.ref.Data)
		}
		s.take(d, ref)
		return true
	})
	return s.docs
}

// take reads a document and goes through it.
func (s *Subject) take(d *document, ref []byte) {
	root, _, err := jsontree.Parse(d.data)
	if err != nil {
		return
	}
	d.root = root
	if ref != nil {
		d.ref, _, _ = jsontree.Parse(ref)
	}
	d.site.doc = d
	if d.upstream == "" {
		d.rules = slices.Concat(s.Rules.Steps[d.site.step].Volatile, s.Rules.Volatile)
	}
	d.declare()
	d.walk(&spot{doc: d, node: root, ref: d.ref})
	s.docs = append(s.docs, d)
}

// declare finds the places whose values rules say are made up.
func (d *document) declare() {
	var value any
	for _, rule := range d.rules {
		path, err := jsonpath.Parse(rule.At)
		if err != nil || rule.Kind == compare.JSON || rule.Kind.ComparesNumbers() { // whether the text is made up, nobody knows; numbers are not
			continue
		}
		if value == nil {
			value, d.declared, d.free = d.root.Value(), map[string]bool{}, map[string]bool{}
		}
		into := d.declared
		if rule.Kind == compare.Text { // nor of this one
			into = d.free
		}
		for _, found := range path.SelectLocated(value) {
			into[found.Path.Pointer()] = true
		}
	}
}

func (d *document) walk(v *spot) {
	if len(d.spots) >= largest || len(v.path) > deepest {
		return
	}
	v.class = d.s.classify(v)
	d.spots = append(d.spots, v)
	for i, item := range v.node.Items {
		child := &spot{doc: d, path: append(slices.Clip(v.path), i), node: item, parent: v.node}
		if v.node.Kind == jsontree.Object {
			child.name, child.pointer = v.node.Names[i], jsontree.AppendName(v.pointer, v.node.Names[i])
			if v.ref != nil && v.ref.Kind == jsontree.Object {
				child.ref = v.ref.Member(child.name)
			}
		} else {
			child.pointer = jsontree.AppendIndex(v.pointer, i)
			if v.ref != nil && v.ref.Kind == jsontree.Array && i < len(v.ref.Items) {
				child.ref = v.ref.Items[i]
			}
		}
		d.walk(child)
	}
}

// edited returns a transcript in which the document is changed: change gets the value at a path and what it is in, which
// is nil for the root, and returns what stands there then.
func (d *document) edited(path []int, change func(n, parent *jsontree.Node, i int) *jsontree.Node) *transcript.Transcript {
	root, _, err := jsontree.Parse(d.data)
	if err != nil {
		panic("mutate: a document that was JSON is none: " + err.Error())
	}
	if len(path) == 0 {
		return d.put([]byte(change(root, nil, 0).String()))
	}
	parent := root
	for _, i := range path[:len(path)-1] {
		parent = parent.Items[i]
	}
	last := path[len(path)-1]
	if n := change(parent.Items[last], parent, last); n != nil {
		parent.Items[last] = n
	} else {
		parent.Items = slices.Delete(parent.Items, last, last+1)
		if parent.Kind == jsontree.Object {
			parent.Names = slices.Delete(parent.Names, last, last+1)
		}
	}
	return d.put([]byte(root.String()))
}

// mutant is the mutant in which the value is changed.
func (v *spot) mutant(after string, change func(n, parent *jsontree.Node, i int) *jsontree.Node) Mutant {
	before, is := contrast(v.show(), after)
	m := Mutant{
		Place: strings.TrimSpace(v.doc.where + " " + v.pointer), Before: before, After: is,
		Build: func() *transcript.Transcript { return v.doc.edited(v.path, change) }, site: v.doc.site,
	}
	m.site.pointer = v.pointer
	return m
}

// set is the mutant in which the value is another, written as JSON.
func (v *spot) set(json string) Mutant {
	return v.mutant(json, func(*jsontree.Node, *jsontree.Node, int) *jsontree.Node { return parsed(json) })
}

// show returns the value as lists have it. Long ones are not written out to be cut.
func (v *spot) show() string {
	if len(v.node.Items) > 20 {
		return v.node.Kind.String()
	}
	return v.node.String()
}

func parsed(json string) *jsontree.Node {
	n, _, err := jsontree.Parse([]byte(json))
	if err != nil {
		panic("mutate: " + json + ": " + err.Error())
	}
	return n
}

// text returns a string as JSON.
func text(s string) string { return (&jsontree.Node{Kind: jsontree.String, Text: s}).String() }

// spots calls f with every value of every document, until more is false.
func (s *Subject) spots(f func(v *spot) bool) {
	for _, d := range s.documents() {
		for _, v := range d.spots {
			if !f(v) {
				return
			}
		}
	}
}

// values makes an operator that puts something else in the place of single values: change returns it as JSON, and false
// to leave the value alone.
func values(family, name, doc string, change func(v *spot, seed uint64) (string, bool)) Operator {
	return operator(family, name, doc, func(s *Subject, seed uint64, yield emit) {
		s.spots(func(v *spot) bool {
			after, ok := change(v, seed)
			return !ok || yield(v.set(after))
		})
	})
}

func isJSON(h transcript.Header) bool {
	value, _ := h.Get("Content-Type")
	media, _, err := mime.ParseMediaType(value)
	return err == nil && (media == "application/json" || strings.HasSuffix(media, "+json"))
}
