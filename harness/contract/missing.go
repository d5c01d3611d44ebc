package contract

import (
	"fmt"
	"strings"
)

// Measure names a sort of things that a document declares. Measures stand in project files: renaming one is a change of
// their format.
type Measure string

// The measures.
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

// Measures lists every measure, in the order of reports.
func Measures() []Measure {
	return []Measure{
		OperationsReached, RequestsSent, StatusesReached, MediaReached, CodesReached, EventsReached, PropertiesSeen, EnumsSeen,
		AlternativesSeen,
	}
}

// An Item is one thing that a document declares, and whether it was reached.
type Item struct {
	Measure Measure
	// Name is what it is called: "GET /event", "POST /items 413", "GET /event tick", "Message text".
	Name    string
	Line    int // in the document; 0 when it is not known
	Reached bool
}

// Items lists all that the document declares, in the order of the measures and of the document.
func (c *Coverage) Items() []Item {
	by := map[Measure][]Item{}
	add := func(m Measure, line int, reached bool, name ...string) {
		by[m] = append(by[m], Item{m, strings.Join(name, " "), line, reached})
	}
	for i := range c.Operations {
		op := &c.Operations[i]
		at := op.Method + " " + op.Path
		add(OperationsReached, op.Line, op.Reached > 0, at)
		for _, m := range op.Requests {
			add(RequestsSent, op.Line, m.Reached > 0, at, m.Type)
		}
		for _, s := range op.Statuses {
			add(StatusesReached, s.Line, s.Reached > 0, at, s.Status)
			for _, p := range s.Codes {
				add(CodesReached, s.Line, p.Seen, at, s.Status, p.Name)
			}
			for _, m := range s.Media {
				add(MediaReached, s.Line, m.Reached > 0, at, s.Status, m.Type)
				if m.Stream == nil {
					continue
				}
				for _, e := range m.Stream.Events {
					add(EventsReached, e.Line, e.Reached > 0, at, e.Name)
				}
			}
		}
	}
	for i := range c.Schemas {
		s := &c.Schemas[i]
		for k, list := range s.lists() {
			for _, p := range *list {
				name := p.Name
				if k == 2 {
					name = SchemaName(name)
				}
				add([]Measure{PropertiesSeen, EnumsSeen, AlternativesSeen}[k], p.Line, p.Seen, SchemaName(s.Schema), name)
			}
		}
	}
	var out []Item
	for _, m := range Measures() {
		out = append(out, by[m]...)
	}
	return out
}

// SchemaName is how a place of the document is called: "Message", "Message/properties/text" for a schema inside another,
// and "GET /x 200 application/json properties/text" for what stands in an operation.
func SchemaName(ref string) string {
	if name, ok := strings.CutPrefix(ref, schemasRef); ok {
		return unescapePointer(name)
	}
	tokens := strings.Split(strings.TrimPrefix(ref, "#/"), "/")
	if tokens[0] != "paths" || len(tokens) < 3 {
		return unescapePointer(strings.TrimPrefix(ref, "#/"))
	}
	name, gap := strings.ToUpper(tokens[2])+" "+unescapePointer(tokens[1]), " "
	for i, token := range tokens[3:] {
		switch token {
		case "responses", "content", "requestBody", "schema":
			gap = " "
		default:
			name += gap + unescapePointer(token)
			gap = pick(tokens[2+i] == "content", " ", "/")
		}
	}
	return name
}

// TallyOf counts the items of a measure.
func TallyOf(items []Item, m Measure) (t Tally) {
	for _, it := range items {
		if it.Measure == m {
			t.seen(it.Reached)
		}
	}
	return t
}

// NotCompared lists what answers had, as the document declares it, and nobody has compared: header fields that no rule
// names, and bodies of steps that the scenarios ask not to compare. named tells of a header field whether a rule has
// compared it.
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
