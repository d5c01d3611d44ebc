package mutate

import (
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A document is a JSON document that the candidate sent: a body, the data of an event, or a request to an upstream.
type document struct {
	ruledJSON
	ref     *jsontree.Node // the reference's document; nil when it has none
	origins *origins
	where   string // "step 3 body"
	data    []byte
	seen    time.Time // when it was received
	site    site
	// exchange is the exchange with this JSON body; nil for all other documents.
	exchange *transcript.Exchange
	put      func(data []byte) *transcript.Transcript // returns a transcript with other data in this place
	freeText map[string]bool                          // the places that rules call free text, as JSON Pointers
	values   []*value                                 // in the order of the document
	isError  bool                                     // the body of a response whose status is not a success
	stub     string                                   // the stub that received it; "" for what was sent to the client
	packed   bool                                     // an archive, so its members have the order of the entries
}

// A value is a value in a document.
type value struct {
	doc     *document
	path    []int // indexes from the root
	pointer string
	name    string // name of the member; "" for an element and for the root
	node    *jsontree.Node
	parent  *jsontree.Node
	ref     *jsontree.Node // the reference's value in the same place; nil when it has none
	origin  origin
}

const (
	maxDepth  = 40  // levels of a document
	maxValues = 400 // of a document
)

// scan lists the values of the document.
func (d *document) scan() {
	generated, freeText := d.declared()
	d.freeText = freeText
	var walk func(v *value)
	walk = func(v *value) {
		if len(d.values) >= maxValues || len(v.path) > maxDepth {
			return
		}
		v.origin = d.origins.of(v.node, v.ref, generated[v.pointer], d.seen)
		d.values = append(d.values, v)
		for i, item := range v.node.Items {
			child := &value{doc: d, path: append(slices.Clip(v.path), i), node: item, parent: v.node, ref: childOf(v.ref, v.node, i)}
			if v.node.Kind == jsontree.Object {
				child.name, child.pointer = v.node.Names[i], jsontree.AppendName(v.pointer, v.node.Names[i])
			} else {
				child.pointer = jsontree.AppendIndex(v.pointer, i)
			}
			walk(child)
		}
	}
	walk(&value{doc: d, node: d.root, ref: d.ref})
}

// edit returns a transcript in which the document is changed. change gets the value at a path and its parent, which is
// nil for the root. It returns the new value, or nil to remove it.
func (d *document) edit(path []int, change func(n, parent *jsontree.Node, i int) *jsontree.Node) *transcript.Transcript {
	root := mustParse(string(d.data))
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

// mutant returns the mutant in which the value is changed, see edit.
func (v *value) mutant(after string, change func(n, parent *jsontree.Node, i int) *jsontree.Node) Mutant {
	before, is := excerpts(v.show(), after)
	m := Mutant{
		Place: strings.TrimSpace(v.doc.where + " " + v.pointer), Before: before, After: is,
		Build: func() *transcript.Transcript { return v.doc.edit(v.path, change) }, site: v.doc.site,
	}
	m.site.pointer = v.pointer
	return m
}

// set returns the mutant with another value, given as JSON.
func (v *value) set(json string) Mutant {
	return v.mutant(json, func(*jsontree.Node, *jsontree.Node, int) *jsontree.Node { return mustParse(json) })
}

// likeValue returns a time as JSON of the value's type.
func (v *value) likeValue(text string) string {
	if v.node.Kind == jsontree.Number {
		return text
	}
	return quoted(text)
}

// time reads the value as a time of the run.
func (v *value) time() (time.Time, notation, bool) { return parseTime(v.node.Text, v.doc.seen) }

func (v *value) is(kind jsontree.Kind, from origin) bool {
	return v.node.Kind == kind && v.origin == from
}

// show returns the value as lists show it. It does not write out long values, because they would be cut.
func (v *value) show() string {
	if len(v.node.Items) > 20 {
		return v.node.Kind.String()
	}
	return v.node.String()
}

// mustParse parses JSON that this package has parsed or written before.
func mustParse(json string) *jsontree.Node {
	n, _, err := jsontree.Parse([]byte(json))
	if err != nil {
		panic("mutate: " + json + ": " + err.Error())
	}
	return n
}

// quoted returns a text as JSON.
func quoted(s string) string { return (&jsontree.Node{Kind: jsontree.String, Text: s}).String() }
