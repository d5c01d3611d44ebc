// Package coverage counts how much of an OpenAPI document a run has reached.
//
// New makes a table of what the document declares, and Add marks what a transcript has reached: operations, statuses,
// content types, events, error codes, and the properties, enum values and alternatives of schemas. Demand.Judge says
// whether that is enough.
package coverage

import (
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract/spec"
)

// Coverage counts how much of a document was reached. It is plain data, for reports. Only a coverage from New can count.
type Coverage struct {
	Operations []Operation `json:"operations"` // in the order of the document
	// Schemas have what the schemas of messages declare, in the order of the document.
	Schemas []Schema `json:"schemas,omitempty"`
	// Undocumented lists what occurred but is not in the document, by kind and name. It has at most a thousand rows.
	Undocumented []Undocumented `json:"undocumented,omitempty"`
	// Uncompared lists documented parts of responses that nothing has compared: see NotCompared.
	Uncompared []string `json:"not_compared,omitempty"`

	doc    *spec.Document
	marker *marker
	codes  map[*spec.Response][][]string // where a response has its error code
}

// An Operation is the row of one operation.
type Operation struct {
	ID       string   `json:"id,omitempty"`
	Method   string   `json:"method"`
	Path     string   `json:"path"`
	Line     int      `json:"line,omitempty"`     // in the document, as in all rows below
	Reached  int      `json:"reached"`            // exchanges that got a response, or streams of a program
	Requests []Media  `json:"requests,omitempty"` // the content types of its body, by name
	Statuses []Status `json:"statuses"`           // exact codes, ranges, default
	// Messages is set for a socket, and for a program, whose Path is "program" without a Method.
	Messages *Stream `json:"messages,omitempty"`
}

// String returns the method and the path template: "GET /event"; or "program".
func (op *Operation) String() string { return strings.TrimPrefix(op.Method+" "+op.Path, " ") }

// A Status counts the responses of one declared status.
type Status struct {
	Status  string  `json:"status"` // as it is declared: "200", "4XX", "default"
	Line    int     `json:"line,omitempty"`
	Reached int     `json:"reached"`
	Media   []Media `json:"media,omitempty"` // by name
	// Headers are the declared header fields, by name.
	Headers []Header `json:"headers,omitempty"`
	// Codes are the error codes that the body may have.
	Codes []Point `json:"codes,omitempty"`
}

// A Media counts the responses of one declared content type.
type Media struct {
	Type    string `json:"type"`
	Reached int    `json:"reached"`
	// Uncompared counts those of Reached that a scenario asks not to compare.
	Uncompared int `json:"uncompared,omitempty"`
	// Stream is set for text/event-stream.
	Stream *Stream `json:"stream,omitempty"`
}

// A Stream counts the events of a stream, or the messages of a socket or a program.
type Stream struct {
	Described bool    `json:"described"`        // by x-events or x-messages
	Events    []Event `json:"events,omitempty"` // in the order of the document
}

// An Event counts one declared event or message.
type Event struct {
	// Name is its name, after "received" or "sent" if both sides may send a message of that name.
	Name    string `json:"name"`
	Line    int    `json:"line,omitempty"`
	Reached int    `json:"reached"`
}

// A Tally counts what was reached, and what is declared.
type Tally struct{ Reached, Declared int }

func (t Tally) String() string { return fmt.Sprintf("%d/%d", t.Reached, t.Declared) }

// Totals sum up a coverage.
type Totals struct {
	Operations, Statuses, Events Tally
	NotDescribed                 int // event streams without x-events, and sockets without x-messages
	Undocumented                 int
}

// String returns the totals as one line: "operations 10/10 · statuses 22/26 · events 16/16".
func (t Totals) String() string {
	s := fmt.Sprintf("operations %s · statuses %s · events %s", t.Operations, t.Statuses, t.Events)
	if t.NotDescribed > 0 {
		s += fmt.Sprintf(" · streams not described %d", t.NotDescribed)
	}
	if t.Undocumented > 0 {
		s += fmt.Sprintf(" · undocumented %d", t.Undocumented)
	}
	return s
}

func (c *Coverage) Totals() Totals {
	items := c.Items()
	t := Totals{
		TallyItems(items, OperationsReached), TallyItems(items, StatusesReached), TallyItems(items, EventsReached), 0, len(c.Undocumented),
	}
	for _, op := range c.Operations {
		if op.Messages != nil && !op.Messages.Described {
			t.NotDescribed++
		}
		for _, s := range op.Statuses {
			for _, m := range s.Media {
				if m.Stream != nil && !m.Stream.Described {
					t.NotDescribed++
				}
			}
		}
	}
	return t
}

// row returns the row that matches. New has made a row for everything that the document declares.
func row[R any](rows []R, is func(*R) bool) *R {
	for i := range rows {
		if is(&rows[i]) {
			return &rows[i]
		}
	}
	panic("coverage: a declaration has no row")
}

func (op *Operation) status(code string) *Status {
	return row(op.Statuses, func(s *Status) bool { return s.Status == code })
}

func (s *Status) media(name string) *Media {
	return row(s.Media, func(m *Media) bool { return m.Type == name })
}

func (s *Stream) event(name string) *Event {
	return row(s.Events, func(e *Event) bool { return e.Name == name })
}
