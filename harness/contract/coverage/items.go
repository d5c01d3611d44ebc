package coverage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A Measure names a sort of things that a document declares. Project files contain measures, so renaming one changes
// their format.
type Measure string

const (
	OperationsReached Measure = "operations"
	RequestsSent      Measure = "requests" // content types of requests
	StatusesReached   Measure = "statuses"
	MediaReached      Measure = "media"
	CodesReached      Measure = "codes" // of errors
	EventsReached     Measure = "events"
	PropertiesSeen    Measure = "properties"
	EnumsSeen         Measure = "enums"
	AlternativesSeen  Measure = "alternatives"
)

// measures lists the measures, and the word for one thing of each, in the order of reports.
var measures = []struct {
	Measure
	one string
}{
	{OperationsReached, "operation"}, {RequestsSent, "request"}, {StatusesReached, "status"}, {MediaReached, "media-type"}, {CodesReached, "code"},
	{EventsReached, "event"}, {PropertiesSeen, "property"}, {EnumsSeen, "enum-value"}, {AlternativesSeen, "alternative"},
}

func Measures() []Measure {
	out := make([]Measure, len(measures))
	for i, m := range measures {
		out[i] = m.Measure
	}
	return out
}

// Singular is the word for one thing of a measure: "status".
func (m Measure) Singular() string {
	for _, known := range measures {
		if known.Measure == m {
			return known.one
		}
	}
	return string(m)
}

// A Key names one thing that a document declares.
type Key struct {
	Measure Measure
	// Name is its name: "GET /event", "POST /items 413", "GET /event tick", "Message text".
	Name string
}

// An Item is one thing that a document declares, and whether it was reached.
type Item struct {
	Key
	Line    int // in the document; 0 when unknown
	Reached bool

	within []Key  // what it belongs to
	schema string // the schema that declares it; "" outside of schemas
}

// Items lists everything that the document declares, in the order of the measures and of the document.
func (c *Coverage) Items() []Item {
	by := items{}
	for i := range c.Operations {
		by.operation(&c.Operations[i])
	}
	for i := range c.Schemas {
		s := &c.Schemas[i]
		for k, list := range s.lists() {
			for _, p := range *list {
				by.point([]Measure{PropertiesSeen, EnumsSeen, AlternativesSeen}[k], s, p)
			}
		}
	}
	var out []Item
	for _, m := range Measures() {
		out = append(out, by[m]...)
	}
	return out
}

// items has the items of each measure.
type items map[Measure][]Item

// add adds an item. It returns its key, preceded by the keys of what it belongs to.
func (by items) add(m Measure, line int, reached bool, within []Key, name ...string) []Key {
	key := Key{m, strings.Join(name, " ")}
	by[m] = append(by[m], Item{Key: key, Line: line, Reached: reached, within: within})
	return append(slices.Clip(within), key)
}

func (by items) operation(op *Operation) {
	at := op.String()
	of := by.add(OperationsReached, op.Line, op.Reached > 0, nil, at)
	for _, m := range op.Requests {
		by.add(RequestsSent, op.Line, m.Reached > 0, of, at, m.Type)
	}
	for _, s := range op.Statuses {
		of := by.add(StatusesReached, s.Line, s.Reached > 0, of, at, s.Status)
		for _, p := range s.Codes {
			by.add(CodesReached, s.Line, p.Seen, of, at, s.Status, p.Name)
		}
		for _, m := range s.Media {
			of := by.add(MediaReached, s.Line, m.Reached > 0, of, at, s.Status, m.Type)
			by.stream(m.Stream, of, at)
		}
	}
	by.stream(op.Messages, of, at)
}

// stream adds the events of a stream, which may be nil.
func (by items) stream(s *Stream, of []Key, at string) {
	if s == nil {
		return
	}
	for _, e := range s.Events {
		by.add(EventsReached, e.Line, e.Reached > 0, of, at, e.Name)
	}
}

func (by items) point(m Measure, s *Schema, p Point) {
	name := p.Name
	if m == AlternativesSeen {
		name = SchemaName(name)
	}
	by[m] = append(by[m], Item{Key: Key{m, SchemaName(s.Schema) + " " + name}, Line: p.Line, Reached: p.Seen, schema: s.Schema})
}

// SchemaName is the name of a place in the document: "Message", "Message/properties/text" for a schema inside another,
// and "GET /x 200 application/json properties/text" for a schema inside an operation.
func SchemaName(ref string) string {
	if name, ok := strings.CutPrefix(ref, schema.SchemasRef); ok {
		return jsontree.UnescapeName(name)
	}
	tokens := strings.Split(strings.TrimPrefix(ref, "#/"), "/")
	if tokens[0] != "paths" || len(tokens) < 3 {
		return jsontree.UnescapeName(strings.TrimPrefix(ref, "#/"))
	}
	name, gap := strings.ToUpper(tokens[2])+" "+jsontree.UnescapeName(tokens[1]), " "
	for i, token := range tokens[3:] {
		switch token {
		case "responses", "content", "requestBody", "schema":
			gap = " "
		default:
			name += gap + jsontree.UnescapeName(token)
			if gap = "/"; tokens[2+i] == "content" {
				gap = " "
			}
		}
	}
	return name
}

func TallyItems(items []Item, m Measure) (t Tally) {
	for _, it := range items {
		if it.Measure == m {
			t.Declared++
			if it.Reached {
				t.Reached++
			}
		}
	}
	return t
}

// NotCompared lists documented parts of responses that nothing has compared: header fields that no rule names, and
// bodies of steps that the scenarios ask not to compare. named reports whether a rule has compared a header field.
func (c *Coverage) NotCompared(named func(header string) bool) (out []string) {
	for i := range c.Operations {
		op := &c.Operations[i]
		for _, s := range op.Statuses {
			at := fmt.Sprintf("%s %s %s", op.Method, op.Path, s.Status)
			for _, h := range s.Headers {
				if h.Reached > 0 && !named(h.Name) {
					out = append(out, at+": header "+h.Name)
				}
			}
			for _, m := range s.Media {
				if m.Reached > 0 && m.Uncompared == m.Reached {
					out = append(out, at+": body as "+m.Type)
				}
			}
		}
	}
	return out
}
