// Package specgap says why a document allows two responses to differ.
//
// When two targets differ and neither breaks the contract, the Finder names the most specific place that allows both.
// It also names the keyword that would decide which one is right.
package specgap

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// A Gap is the place in a document that allows two different responses: the most specific place about what differs. If
// a keyword of the document could decide which one is right, the gap names it.
type Gap struct {
	Schema string `json:"schema"`         // "#/components/schemas/Message/properties/text"
	Line   int    `json:"line,omitempty"` // of that place, or of the nearest enclosing place
	Admits string `json:"admits"`         // what the document says there: "type: string"
	// Pin is what would decide: "an enum, a pattern or a format". It is empty when OpenAPI cannot express it.
	Pin string `json:"pin,omitempty"`
}

// A Finder finds gaps, one after the other. It keeps what it parsed for one gap, because the next one is often about
// the same message. It is not safe for concurrent use.
type Finder struct {
	doc   *spec.Document
	last  [2]reading                      // the latest of each side
	large [2]schema.Look                  // the latest large object of each side
	names map[*transcript.Stream][]string // of the events
}

// A reading is a parsed content.
type reading struct {
	text []byte
	node *jsontree.Node
}

// NewFinder returns a finder of gaps in a document.
func NewFinder(d *spec.Document) *Finder { return &Finder{doc: d} }

// A Divergence is a place where two targets differ and neither breaks the contract.
type Divergence struct {
	Transcripts [2]*transcript.Transcript // the reference first
	Step        string
	Exchange    int
	// Stream names the stream when the difference is about events. Events has their indexes in the stream; -1 means no
	// event.
	Stream string
	Events [2]int
	At     [2]string // the place in the message of each side, in the form of Violation.Place
	How    How
}

// A How says how two sides differ, if their values do not show it.
type How string

const (
	OtherValue    How = ""         // another value, or a value on only one side
	OtherLength   How = "length"   // a list has an element that the other one lacks; At is the element
	OtherOrder    How = "order"    // of a list's elements, or of events
	OtherIdentity How = "identity" // an id that was a different one before
	OtherForm     How = "form"     // an id in another form
)

// Find finds the place of the document that allows both sides of a divergence. It returns false when there is none,
// because the two sides have to obey different parts of the document. Then another difference reports that.
func (f *Finder) Find(p *Divergence) (Gap, bool) {
	if p.Stream != "" {
		return f.event(p)
	}
	var sides [2]*transcript.Exchange
	for i, t := range p.Transcripts {
		if sides[i] = exchangeOf(t, p.Step, p.Exchange); sides[i] == nil || sides[i].Response == nil {
			return Gap{}, false
		}
	}
	op, _ := f.doc.Operation(sides[0].Request.Method, sides[0].Request.Target)
	if other, _ := f.doc.Operation(sides[1].Request.Method, sides[1].Request.Target); op == nil || op != other {
		return Gap{}, false
	}
	responses := [2]*transcript.Response{sides[0].Response, sides[1].Response}
	declared := op.Response(responses[0].Status)
	if other := op.Response(responses[1].Status); declared == nil || other == nil {
		return Gap{}, false
	} else if p.At[0] == "status" {
		return f.status(op, [2]*spec.Response{declared, other}, responses), true
	} else if declared != other {
		return Gap{}, false
	}
	if name, ok := strings.CutPrefix(p.At[0], "header "); ok {
		return f.header(declared, name, responses, p.How)
	}
	return f.body(p, declared, responses)
}

// exchangeOf finds an exchange. It returns nil for a burst, whose exchanges have no order.
func exchangeOf(t *transcript.Transcript, step string, exchange int) *transcript.Exchange {
	for i := range t.Steps {
		s := &t.Steps[i]
		if s.ID == step && !s.Burst && 0 <= exchange && exchange < len(s.Exchanges) {
			return s.Exchanges[exchange]
		}
	}
	return nil
}

// gap returns a gap at a place.
func (f *Finder) gap(ref, admits, pin string) Gap {
	return Gap{Schema: ref, Line: f.doc.Line(ref), Admits: admits, Pin: pin}
}

func (f *Finder) status(op *spec.Operation, declared [2]*spec.Response, r [2]*transcript.Response) Gap {
	at := op.Ref + "/responses"
	if declared[0] != declared[1] {
		return f.gap(at, fmt.Sprintf("%s declares both %s and %s", op, declared[0].Code, declared[1].Code), "")
	}
	code := declared[0].Code
	return f.gap(at+"/"+code, fmt.Sprintf("%s covers both %d and %d", code, r[0].Status, r[1].Status), "each possible status, instead of "+code)
}

func (f *Finder) header(declared *spec.Response, name string, r [2]*transcript.Response, how How) (Gap, bool) {
	if strings.EqualFold(name, "Content-Type") {
		return f.contentType(declared, r)
	}
	for _, h := range declared.Headers {
		if !strings.EqualFold(h.Name, name) {
			continue
		}
		sent := [2]spec.Sent{h.InHeader(r[0].Header), h.InHeader(r[1].Header)}
		switch {
		case sent[0].None() != sent[1].None():
			return f.gap(h.Ref, "the header field "+h.Name+" is not required", "required: true"), true
		case sent[0].None() || h.Schema == nil || h.Encoding == spec.Opaque:
			return f.gap(h.Ref, "the field's value is not described", "a schema"), true
		}
		var nodes [2]*jsontree.Node
		for i, s := range sent {
			if h.Encoding == spec.PlainText {
				nodes[i] = h.Value(s)
			} else if nodes[i] = f.json(i, []byte(s.Decode(s.Values[0]))); nodes[i] == nil {
				return Gap{}, false
			}
		}
		return f.walk(nodes, h.Schema, [2][]string{}, how)
	}
	return f.gap(declared.Ref, "the header field "+problem.Quote(name)+" is not declared", undeclaredPin(name, how)), true
}

// undeclaredPin says how a field would have to be declared. A document cannot list generated ids. It cannot fix the
// length of a message either, because that follows from the content.
func undeclaredPin(name string, how How) string {
	switch {
	case strings.EqualFold(name, "Content-Length"):
		return ""
	case how == OtherIdentity:
		return expectation
	case how == OtherForm:
		return "declare it, required and with a pattern"
	default:
		return "declare it, required and with an enum"
	}
}

// contentType finds the gap between two content types that are both declared.
func (f *Finder) contentType(declared *spec.Response, r [2]*transcript.Response) (Gap, bool) {
	var found [2]*spec.Media
	for i := range r {
		contentType, _ := r[i].Header.Get("Content-Type")
		found[i] = spec.FindMedia(declared.Media, contentType)
	}
	switch {
	case found[0] == nil || found[1] == nil:
		return f.gap(declared.Ref, "no content is declared, and so no content type", ""), true
	case found[0] != found[1]:
		return f.gap(declared.Ref+"/content", "both "+found[0].Name+" and "+found[1].Name+" are declared", "one of them"), true
	case strings.Contains(found[0].Name, "*"):
		return f.gap(found[0].Ref, "the range "+found[0].Name, "one content type"), true
	}
	return f.gap(found[0].Ref, "the parameters after "+found[0].Name+" are not checked", ""), true
}

func (f *Finder) body(p *Divergence, declared *spec.Response, r [2]*transcript.Response) (Gap, bool) {
	contentType, _ := r[0].Header.Get("Content-Type")
	other, _ := r[1].Header.Get("Content-Type")
	m := spec.FindMedia(declared.Media, contentType)
	if m == nil || m != spec.FindMedia(declared.Media, other) || m.Type.IsStream() {
		return Gap{}, false
	}
	how := spec.ParseMediaType(contentType).Encoding()
	return f.content(p, "body", m.Ref, m.Schema, how, [2][]byte{r[0].Body.Bytes, r[1].Body.Bytes})
}

// content finds the gap between two contents under one schema. part is the prefix of the places.
func (f *Finder) content(p *Divergence, part, ref string, s *schema.Schema, how spec.Encoding, data [2][]byte) (Gap, bool) {
	switch {
	case how == spec.Opaque:
		return f.gap(ref, "this content is not checked", ""), true
	case s == nil:
		return f.gap(ref, "the content has no schema", "a schema"), true
	}
	var nodes [2]*jsontree.Node
	var tokens [2][]string
	for i, text := range data {
		rest, ok := strings.CutPrefix(p.At[i], part)
		if !ok {
			return Gap{}, false
		}
		tokens[i], _ = spec.ParsePointer(rest) // no tokens when the place is the whole content
		if how == spec.PlainText {
			nodes[i] = s.Read(string(text))
		} else if nodes[i] = f.json(i, text); nodes[i] == nil {
			return Gap{}, false
		}
	}
	return f.walk(nodes, s, tokens, p.How)
}

// json parses a content of a side. It returns nil for a content that is not JSON.
func (f *Finder) json(side int, text []byte) *jsontree.Node {
	last := &f.last[side]
	if !bytes.Equal(last.text, text) || last.node == nil {
		node, _, err := jsontree.Parse(text)
		if err != nil {
			return nil
		}
		*last = reading{text, node}
	}
	return last.node
}

// event finds the gap between events of a stream.
func (f *Finder) event(p *Divergence) (Gap, bool) {
	var sides [2]*transcript.Stream
	for i, t := range p.Transcripts {
		for _, s := range t.Streams {
			if s.Name == p.Stream {
				sides[i] = s
			}
		}
	}
	if sides[0] == nil || sides[1] == nil {
		return Gap{}, false
	}
	in, ok := f.doc.Stream(p.Transcripts[0], sides[0])
	switch {
	case !ok && sides[0].Wire == transcript.WireProgram:
		return f.gap("#", "the messages of the program are not described", "x-messages"), true
	case !ok:
		return Gap{}, false
	case in.Events == nil && in.Media == nil:
		return f.gap(in.Op.Ref, "the messages of the socket are not described", "x-messages"), true
	case in.Events == nil:
		return f.gap(in.Media.Ref, "the events of the stream are not described", "x-events"), true
	}
	var events [2]*transcript.Event
	for i, s := range sides {
		if n := p.Events[i]; 0 <= n && n < len(s.Events) {
			events[i] = &s.Events[n]
		}
	}
	return f.events(p, in.Events, sides, events)
}

func (f *Finder) events(p *Divergence, set *spec.EventStream, sides [2]*transcript.Stream, events [2]*transcript.Event) (Gap, bool) {
	side := 0
	if events[0] == nil {
		side = 1
	}
	one := events[side]
	if one == nil {
		return f.gap(set.Ref, "the contract does not say who ends the stream, or when", ""), true
	}
	name := f.nameOf(set, sides[side], p.Events[side])
	declared, allowed := set.Find(one, name)
	switch {
	case one.Comment:
		return f.gap(set.Ref, "comments are optional", ""), true
	case declared == nil && allowed:
		return f.gap(set.Ref, "the contract does not describe "+problem.Quote(name), describedPin(one)), true
	case declared == nil:
		return Gap{}, false
	case p.At[0] == "event" && p.How == OtherOrder:
		return f.gap(declared.Ref, "the contract does not say in which order "+set.Noun+"s come", ""), true
	case p.At[0] == "event" || events[0] == nil || events[1] == nil:
		return f.gap(declared.Ref, "the "+set.Noun+" "+problem.Quote(name)+" is optional", ""), true
	}
	other := f.nameOf(set, sides[1], p.Events[1])
	switch part, _, _ := strings.Cut(p.At[0], "/"); {
	case name != other:
		return f.gap(set.Side(one).Ref, "both "+problem.Quote(name)+" and "+problem.Quote(other)+" are declared", ""), true
	case part != "event data":
		return f.gap(declared.Ref, "the contract does not describe fields other than the data: "+strings.TrimPrefix(part, "event "), ""), true
	}
	return f.content(p, "event data", declared.Ref, declared.Schema, declared.Encoding, [2][]byte{[]byte(events[0].Data), []byte(events[1].Data)})
}

// describedPin says how to describe what is not a message.
func describedPin(ev *transcript.Event) string {
	if !ev.Sent && (ev.Item == transcript.ItemClose || ev.Item == transcript.ItemExit) {
		return "an entry " + string(ev.Item) + " under received"
	}
	return ""
}

// nameOf returns the name of an event. It names all events of a stream at once, because a name can depend on earlier
// events.
func (f *Finder) nameOf(set *spec.EventStream, s *transcript.Stream, i int) string {
	if f.names[s] == nil {
		name := set.Namer()
		names := make([]string, len(s.Events))
		for k := range s.Events {
			names[k] = name(&s.Events[k])
		}
		if f.names == nil {
			f.names = map[*transcript.Stream][]string{}
		}
		f.names[s] = names
	}
	return f.names[s][i]
}
