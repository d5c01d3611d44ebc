package contract

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A Silence is the place in a document that lets two answers differ and both be right: the most specific one that has a
// say in what differs. Where a word of the document would decide, it is named.
type Silence struct {
	Schema string `json:"schema"`         // "#/components/schemas/Message/properties/text"
	Line   int    `json:"line,omitempty"` // of that place, or of the nearest one around it
	Admits string `json:"admits"`         // what the document says there: "type: string"
	// Pin is what would decide: "an enum, a pattern or a format". It is empty where OpenAPI has no word for it.
	Pin string `json:"pin,omitempty"`
}

// Silences finds silences, one after the other. What was read for one is kept for the next, which is often about the same
// message. It is for one goroutine.
type Silences struct {
	doc   *Document
	last  [2]reading // of each side
	large [2]look    // of each side, at the last large object
}

// A reading is a content that was read.
type reading struct {
	text []byte
	node *jsontree.Node
}

// Silences returns what finds them.
func (d *Document) Silences() *Silences { return &Silences{doc: d} }

// A Parting is a place where what two targets did is not the same, and neither is wrong.
type Parting struct {
	Transcripts [2]*transcript.Transcript // the reference's first
	Step        string
	Exchange    int
	// Stream names the stream, when it is about events; Events are their indexes in it, -1 where there is none.
	Stream string
	Events [2]int
	At     [2]string // where in the message each side has it, in the words of Violation.Place
	How    How
}

// How two sides part, where their values do not show it.
type How string

// The ways that have to be said.
const (
	OtherValue    How = ""         // what stands there, or whether anything does
	OtherLength   How = "length"   // a list has an element that the other's has not; At is the element
	OtherOrder    How = "order"    // of a list's elements, or of events
	OtherIdentity How = "identity" // an id that was another one before
	OtherForm     How = "form"     // an id that is made in another way
)

// Of finds the place of the document that lets two sides part, which both are inside the contract there. It reports false
// when there is none: what they have to obey is not the same, and another difference tells of that.
func (f *Silences) Of(p *Parting) (Silence, bool) {
	d := f.doc
	if p.Stream != "" {
		return f.eventSilence(p)
	}
	var sides [2]*transcript.Exchange
	for i, t := range p.Transcripts {
		if sides[i] = exchangeOf(t, p.Step, p.Exchange); sides[i] == nil || sides[i].Response == nil {
			return Silence{}, false
		}
	}
	op, _ := d.Operation(sides[0].Request.Method, sides[0].Request.Target)
	if other, _ := d.Operation(sides[1].Request.Method, sides[1].Request.Target); op == nil || op != other {
		return Silence{}, false
	}
	responses := [2]*transcript.Response{sides[0].Response, sides[1].Response}
	declared := op.response(responses[0].Status)
	if other := op.response(responses[1].Status); declared == nil || other == nil {
		return Silence{}, false
	} else if p.At[0] == "status" {
		return d.statusSilence(op, [2]*response{declared, other}, responses), true
	} else if declared != other {
		return Silence{}, false
	}
	if name, ok := strings.CutPrefix(p.At[0], "header "); ok {
		return f.headerSilence(declared, name, responses, p.How)
	}
	return f.bodySilence(p, declared, responses)
}

// exchangeOf finds an exchange. Those of a burst are in no order: which one is meant cannot be said.
func exchangeOf(t *transcript.Transcript, step string, exchange int) *transcript.Exchange {
	for i := range t.Steps {
		s := &t.Steps[i]
		if s.ID == step && !s.Burst && 0 <= exchange && exchange < len(s.Exchanges) {
			return s.Exchanges[exchange]
		}
	}
	return nil
}

// silence is one at a place.
func (d *Document) silence(ref, admits, pin string) Silence {
	return Silence{Schema: ref, Line: d.src.line(ref), Admits: admits, Pin: pin}
}

func (d *Document) statusSilence(op *Operation, declared [2]*response, r [2]*transcript.Response) Silence {
	at := op.ref + "/responses"
	if declared[0] != declared[1] {
		return d.silence(at, fmt.Sprintf("%s declares both %s and %s", op, declared[0].code, declared[1].code), "")
	}
	code := declared[0].code
	return d.silence(at+"/"+code, fmt.Sprintf("%s covers both %d and %d", code, r[0].Status, r[1].Status), "each status that may come, instead of "+code)
}

func (f *Silences) headerSilence(declared *response, name string, r [2]*transcript.Response, how How) (Silence, bool) {
	d := f.doc
	if strings.EqualFold(name, "Content-Type") {
		return d.typeSilence(declared, r)
	}
	for _, h := range declared.headers {
		if !strings.EqualFold(h.name, name) {
			continue
		}
		sent := [2]sent{h.inHeader(r[0].Header), h.inHeader(r[1].Header)}
		switch {
		case sent[0].none() != sent[1].none():
			return d.silence(h.ref, "the header field "+h.name+" is not required", "required: true"), true
		case sent[0].none() || h.schema == nil || h.how == opaque:
			return d.silence(h.ref, "nothing is said of the field's value", "a schema"), true
		}
		var nodes [2]*jsontree.Node
		for i, s := range sent {
			if h.how == plainText {
				nodes[i] = h.value(s)
			} else if nodes[i] = f.json(i, []byte(s.decode(s.values[0]))); nodes[i] == nil {
				return Silence{}, false
			}
		}
		return f.walk(nodes, h.schema, [2][]string{}, how)
	}
	return d.silence(declared.ref, "the header field "+quote(name)+" is not declared", undeclaredPin(how)), true
}

// undeclaredPin says what a field has to be declared as. No document lists the ids that servers make up.
func undeclaredPin(how How) string {
	switch how {
	case OtherIdentity:
		return anExpect
	case OtherForm:
		return "declare it, required and with a pattern"
	default:
		return "declare it, required and with an enum"
	}
}

// typeSilence is about two content types that are both declared.
func (d *Document) typeSilence(declared *response, r [2]*transcript.Response) (Silence, bool) {
	var found [2]*media
	for i := range r {
		contentType, _ := r[i].Header.Get("Content-Type")
		found[i] = find(declared.media, contentType)
	}
	switch {
	case found[0] == nil || found[1] == nil:
		return d.silence(declared.ref, "no content is declared, and nothing is said of its type", ""), true
	case found[0] != found[1]:
		return d.silence(declared.ref+"/content", "both "+found[0].name+" and "+found[1].name+" are declared", "one of them"), true
	case strings.Contains(found[0].name, "*"):
		return d.silence(found[0].ref, "the range "+found[0].name, "one content type"), true
	}
	return d.silence(found[0].ref, "what stands after "+found[0].name+" is not looked at", ""), true
}

func (f *Silences) bodySilence(p *Parting, declared *response, r [2]*transcript.Response) (Silence, bool) {
	contentType, _ := r[0].Header.Get("Content-Type")
	other, _ := r[1].Header.Get("Content-Type")
	m := find(declared.media, contentType)
	if m == nil || m != find(declared.media, other) || m.typ.isStream() {
		return Silence{}, false
	}
	how := parseMediaType(contentType).content()
	return f.contentSilence(p, "body", m.ref, m.schema, how, [2][]byte{r[0].Body.Bytes, r[1].Body.Bytes})
}

// contentSilence is about two contents under one schema. part is what the places begin with.
func (f *Silences) contentSilence(p *Parting, part, ref string, s *schema, how content, data [2][]byte) (Silence, bool) {
	d := f.doc
	switch {
	case how == opaque:
		return d.silence(ref, "this content is not looked at", ""), true
	case s == nil:
		return d.silence(ref, "the content has no schema", "a schema"), true
	}
	var nodes [2]*jsontree.Node
	var tokens [2][]string
	for i, text := range data {
		rest, ok := strings.CutPrefix(p.At[i], part)
		if !ok {
			return Silence{}, false
		}
		tokens[i], _ = parsePointer(rest) // none when it is the whole
		if how == plainText {
			nodes[i] = s.read(string(text))
		} else if nodes[i] = f.json(i, text); nodes[i] == nil {
			return Silence{}, false
		}
	}
	return f.walk(nodes, s, tokens, p.How)
}

// json reads a content of a side; nil when it is no JSON.
func (f *Silences) json(side int, text []byte) *jsontree.Node {
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

// eventSilence is about the events of a stream.
func (f *Silences) eventSilence(p *Parting) (Silence, bool) {
	d := f.doc
	var sides [2]*transcript.Stream
	for i, t := range p.Transcripts {
		for _, s := range t.Streams {
			if s.Name == p.Stream {
				sides[i] = s
			}
		}
	}
	if sides[0] == nil || sides[1] == nil {
		return Silence{}, false
	}
	ex, _ := opening(p.Transcripts[0], sides[0])
	if ex == nil || ex.Response == nil {
		return Silence{}, false
	}
	op, _ := d.Operation(ex.Request.Method, ex.Request.Target)
	m := op.stream(ex.Response)
	switch {
	case m == nil:
		return Silence{}, false
	case m.events == nil:
		return d.silence(m.ref, "the events of the stream are not described", "x-events"), true
	}
	var events [2]*transcript.Event
	for i, s := range sides {
		if n := p.Events[i]; 0 <= n && n < len(s.Events) {
			events[i] = &s.Events[n]
		}
	}
	return f.ofEvents(p, m.events, events)
}

func (f *Silences) ofEvents(p *Parting, set *eventSet, events [2]*transcript.Event) (Silence, bool) {
	d := f.doc
	one := events[0]
	if one == nil {
		one = events[1]
	}
	if one == nil {
		return d.silence(set.ref, "nothing is said of who ends the stream, or when", ""), true
	}
	name := set.nameOf(one)
	declared := set.events[name]
	switch {
	case one.Comment:
		return d.silence(set.ref, "comments may come, and need not", ""), true
	case declared == nil:
		return Silence{}, false
	case p.At[0] == "event" && p.How == OtherOrder:
		return d.silence(declared.ref, "nothing is said of the order of events", ""), true
	case p.At[0] == "event" || events[0] == nil || events[1] == nil:
		return d.silence(declared.ref, "the event "+quote(name)+" may come, and need not", ""), true
	}
	other := set.nameOf(events[1])
	switch part, _, _ := strings.Cut(p.At[0], "/"); {
	case name != other:
		return d.silence(set.ref+"/events", "both "+quote(name)+" and "+quote(other)+" are declared", ""), true
	case part != "event data":
		return d.silence(declared.ref, "nothing is said of what stands beside the data: "+strings.TrimPrefix(part, "event "), ""), true
	}
	return f.contentSilence(p, "event data", declared.ref, declared.schema, declared.how, [2][]byte{[]byte(events[0].Data), []byte(events[1].Data)})
}
