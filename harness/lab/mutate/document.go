package mutate

import (
	"fmt"
	"iter"
	"mime"
	"slices"
	"strings"
	"time"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/internal/archive"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A document is a JSON document that the candidate sent: a body, the data of an event, or a request to an upstream.
type document struct {
	s       *Subject
	root    *jsontree.Node
	ref     *jsontree.Node // the reference's document; nil when it has none
	where   string         // "step 3 body"
	data    []byte
	seen    time.Time // when it was received
	site    site
	rules   []jsondiff.Volatile // about values in it that may vary
	decoded any                 // the root in the form to which JSONPaths are applied; set when needed
	// exchange is the exchange with this JSON body; nil for all other documents.
	exchange *transcript.Exchange
	put      func(t *transcript.Transcript, data []byte) // writes other data in this place of a clone
	freeText map[string]bool                             // the places that rules call free text, as JSON Pointers
	values   []*value                                    // in the order of the document
	isError  bool                                        // the body of a response whose status is not a success
	packed   bool                                        // an archive, so its members have the order of the entries
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

// documents returns the JSON documents of the candidate: bodies, then requests to upstreams, then events.
func (s *Subject) documents() []*document {
	if s.scanned {
		return s.docs
	}
	s.scanned = true
	for e := range s.responses() {
		s.addResponse(e)
	}
	for e := range s.requests() {
		s.addRequest(e)
	}
	for e := range s.events() {
		s.addEvent(e)
	}
	return s.docs
}

// values ranges over the values of all documents.
func (s *Subject) values() iter.Seq[*value] {
	return func(yield func(*value) bool) {
		for _, d := range s.documents() {
			for _, v := range d.values {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// members ranges over the values that are members of an object.
var members = filter((*Subject).values, func(v *value) bool { return v.parent != nil && v.parent.Kind == jsontree.Object })

// addResponse adds a body: JSON, an archive, or lines of JSON.
func (s *Subject) addResponse(e *exchange) {
	d := &document{where: e.where + " body", seen: s.wallClock(e.x.Done), site: e.site()}
	var read func(*transcript.Response) []byte
	write := func(data, _ []byte) []byte { return data }
	switch {
	case e.x.Stream == "" && isJSON(e.x.Response.Header):
		d.exchange, d.isError = e.x, e.x.Response.Status >= 400
		read = func(r *transcript.Response) []byte { return r.Body.Bytes }
	case archiveIn(e.x.Response) != nil:
		d.packed = true
		read, write = archiveIn, repack
	default:
		read, write = linesIn, asLines
	}
	if d.data = read(e.x.Response); d.data == nil {
		return
	}
	d.put = func(t *transcript.Transcript, data []byte) {
		setBody(e.stepIn(t).Exchanges[e.index].Response, write(data, e.body()))
	}
	var ref []byte
	if e.ref != nil {
		ref = read(e.ref.Response)
	}
	s.add(d, ref, slices.Concat(s.Rules.Steps[e.st.ID].Volatile, s.Rules.Volatile))
}

// addRequest adds the body of a request to an upstream.
func (s *Subject) addRequest(e *exchange) {
	if !isJSON(e.x.Request.Header) || len(e.x.Request.Body.Bytes) == 0 {
		return
	}
	var ref []byte
	if e.ref != nil {
		ref = e.ref.Request.Body.Bytes
	}
	s.add(&document{
		where: e.where + " body", data: e.x.Request.Body.Bytes, seen: s.wallClock(e.x.Sent), site: e.site(),
		put: func(t *transcript.Transcript, data []byte) {
			e.stepIn(t).Exchanges[e.index].Request.Body = newBody(data)
		},
	}, ref, s.Rules.UpstreamVolatile(e.st))
}

// addEvent adds the data of an event that are an object or a list.
func (s *Subject) addEvent(e *event) {
	if e.isBeat || !isMessage(e.ev) || !isObjectOrList(e.ev.Data) {
		return
	}
	var ref []byte
	if e.ref != nil {
		ref = []byte(e.ref.Data)
	}
	root, _, err := jsontree.Parse([]byte(e.ev.Data))
	if err != nil {
		return
	}
	s.add(&document{
		where: e.where + " data", data: []byte(e.ev.Data), seen: s.wallClock(e.ev.At), site: e.site(),
		put: func(t *transcript.Transcript, data []byte) {
			e.edit(t, func(ev *transcript.Event) { ev.Data = string(data) })
		},
	}, ref, s.Rules.EventVolatile(e.stream.st, root))
}

// add parses a document and lists its values. ref is the reference's document, or nil.
func (s *Subject) add(d *document, ref []byte, rules []jsondiff.Volatile) {
	root, _, err := jsontree.Parse(d.data)
	if err != nil {
		return
	}
	d.s, d.root, d.rules, d.site.doc = s, root, rules, d
	if ref != nil {
		d.ref, _, _ = jsontree.Parse(ref)
	}
	d.scan()
	s.docs = append(s.docs, d)
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
		v.origin = d.s.originOf(v.node, v.ref, generated[v.pointer], d.seen)
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

// mutant returns the mutant in which the document has other data.
func (d *document) mutant(at site, place, before, after string, data func() []byte) Mutant {
	return d.s.mutant(at, place, before, after, func(t *transcript.Transcript) { d.put(t, data()) })
}

// parsed returns a copy of the document that may be changed.
func (d *document) parsed() *jsontree.Node { return mustParse(string(d.data)) }

// edit returns the data with a change. change gets the value at a path and its parent, which is nil for the root. It
// returns the new value, or nil to remove it.
func (d *document) edit(path []int, change func(n, parent *jsontree.Node, i int) *jsontree.Node) []byte {
	root := d.parsed()
	if len(path) == 0 {
		return []byte(change(root, nil, 0).String())
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
	return []byte(root.String())
}

// mutant returns the mutant in which the value is changed, see edit.
func (v *value) mutant(after string, change func(n, parent *jsontree.Node, i int) *jsontree.Node) Mutant {
	before, is := excerpts(v.show(), after)
	at := v.doc.site
	at.pointer = v.pointer
	return v.doc.mutant(at, strings.TrimSpace(v.doc.where+" "+v.pointer), before, is, func() []byte { return v.doc.edit(v.path, change) })
}

// set returns the mutant with another value, given as JSON.
func (v *value) set(json string) Mutant {
	return v.mutant(json, func(*jsontree.Node, *jsontree.Node, int) *jsontree.Node { return mustParse(json) })
}

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

// placesOf returns the JSON Pointers of the values that a rule is about. With an invalid path, there are none.
func (d *document) placesOf(rule jsondiff.Volatile) []string {
	path, err := jsonpath.Parse(rule.At)
	if err != nil {
		return nil
	}
	if d.decoded == nil {
		d.decoded = d.root.Value()
	}
	var out []string
	for _, found := range path.SelectLocated(d.decoded) {
		out = append(out, found.Path.Pointer())
	}
	return out
}

// declared returns the places whose values rules call generated, and those whose values they call free text. It skips
// rules about JSON in a text, which do not say whether the text is generated, and rules about lists and numbers.
func (d *document) declared() (generated, freeText map[string]bool) {
	generated, freeText = map[string]bool{}, map[string]bool{}
	for _, rule := range d.rules {
		if rule.Kind == jsondiff.JSON || rule.Kind == jsondiff.List || rule.Kind.ComparesNumbers() {
			continue
		}
		into := generated
		if rule.Kind == jsondiff.Text {
			into = freeText
		}
		for _, pointer := range d.placesOf(rule) {
			into[pointer] = true
		}
	}
	return generated, freeText
}

// hasRule reports whether a rule about exactly this value meets a condition.
func (v *value) hasRule(is func(jsondiff.Volatile) bool) bool {
	return slices.ContainsFunc(v.doc.rules, func(r jsondiff.Volatile) bool { return is(r) && slices.Contains(v.doc.placesOf(r), v.pointer) })
}

// isLoose reports whether a value is a list whose order does not matter.
func (v *value) isLoose() bool {
	return v.node.Kind == jsontree.Array && v.hasRule(func(r jsondiff.Volatile) bool { return r.Kind == jsondiff.List })
}

// hiddenBy names the rule about a place, or about a place inside or around it. It returns "" when there is none.
func (d *document) hiddenBy(pointer string) string {
	for _, rule := range d.rules {
		for _, place := range d.placesOf(rule) {
			if !isWithin(pointer, place) && !isWithin(place, pointer) {
				continue
			}
			if rule.Kind == jsondiff.List {
				if place != pointer {
					continue // it says nothing about the elements
				}
				return fmt.Sprintf("lists %s: the order does not matter", rule.At)
			}
			if rule.Kind.ComparesNumbers() {
				return fmt.Sprintf("numbers %s, as %s", rule.At, rule.Kind)
			}
			return fmt.Sprintf("volatile %s, kind %s", rule.At, rule.Kind)
		}
	}
	return ""
}

// isWithin reports whether the value of a JSON Pointer is inside of another one, or the same.
func isWithin(pointer, other string) bool {
	return pointer == other || strings.HasPrefix(pointer, other+"/")
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

// walk calls a function with a value and with everything in it.
func walk(n *jsontree.Node, visit func(*jsontree.Node)) {
	visit(n)
	for _, item := range n.Items {
		walk(item, visit)
	}
}

// isObjectOrList reports whether the JSON in a text begins like an object or a list.
func isObjectOrList(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && (text[0] == '{' || text[0] == '[')
}

func isJSON(h transcript.Header) bool {
	media, _, err := mime.ParseMediaType(h.ContentType())
	return err == nil && (media == "application/json" || strings.HasSuffix(media, "+json"))
}

// archiveIn returns the content of the archive in a response as JSON, see harness/internal/archive. It returns nil when
// there is no readable archive.
func archiveIn(r *transcript.Response) []byte {
	if !archive.Is(r.Header.ContentType()) || !r.Body.Whole() {
		return nil
	}
	doc, err := archive.Read(r.Body.Bytes)
	if err != nil {
		return nil
	}
	return doc.JSON
}

// repack packs a document as the archive that it stands for. A broken document makes a broken archive.
func repack(data, original []byte) []byte {
	packed, err := archive.Pack(data, original)
	if err != nil {
		return data
	}
	return packed
}

// linesIn returns the list of the lines of a body; nil when it has none.
func linesIn(r *transcript.Response) []byte {
	list, _ := archive.Lines(r.Header.ContentType(), r.Body.Bytes)
	return list
}

// asLines writes the elements of a list as lines. Anything else stays as it is.
func asLines(data, _ []byte) []byte {
	root, _, err := jsontree.Parse(data)
	if err != nil || root.Kind != jsontree.Array {
		return data
	}
	var out []byte
	for _, item := range root.Items {
		out = append(item.AppendTo(out), '\n')
	}
	return out
}
