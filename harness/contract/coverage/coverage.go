// Package coverage counts how much of an OpenAPI document a run has reached.
//
// New makes a table of what the document declares, and Add marks what a transcript has reached: operations, statuses,
// content types, events, error codes, and the properties, enum values and alternatives of schemas. Demand.Judge says
// whether that is enough.
package coverage

import (
	"fmt"

	"github.com/lockstep-dev/lockstep/harness/contract/spec"
)

// Coverage counts how much of a document was reached. It is plain data, for reports and for merging. Only a coverage
// from New can count.
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
	Reached  int      `json:"reached"`            // exchanges that got a response
	Requests []Media  `json:"requests,omitempty"` // the content types of its body, by name
	Statuses []Status `json:"statuses"`           // exact codes, ranges, default
}

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

// A Stream counts the events of a stream.
type Stream struct {
	Described bool    `json:"described"`        // by x-events
	Events    []Event `json:"events,omitempty"` // in the order of the document
}

// An Event counts one declared event.
type Event struct {
	Name    string `json:"name"`
	Line    int    `json:"line,omitempty"`
	Reached int    `json:"reached"`
}

// A Tally counts what was reached, and what is declared.
type Tally struct {
	Reached  int `json:"reached"`
	Declared int `json:"declared"`
}

func (t Tally) String() string { return fmt.Sprintf("%d/%d", t.Reached, t.Declared) }

func (t *Tally) count(reached int) {
	t.Declared++
	if reached > 0 {
		t.Reached++
	}
}

// Totals sum up a coverage.
type Totals struct {
	Operations Tally `json:"operations"`
	Statuses   Tally `json:"statuses"`
	MediaTypes Tally `json:"media_types"` // of responses
	Requests   Tally `json:"requests"`    // content types of requests
	Codes      Tally `json:"codes"`       // of errors, for each status of each operation
	Events     Tally `json:"events"`
	// NotDescribed counts the event streams without x-events.
	NotDescribed int `json:"not_described"`
	Undocumented int `json:"undocumented"`
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
	t := Totals{Undocumented: len(c.Undocumented)}
	for _, op := range c.Operations {
		t.Operations.count(op.Reached)
		for _, m := range op.Requests {
			t.Requests.count(m.Reached)
		}
		for _, s := range op.Statuses {
			t.Statuses.count(s.Reached)
			for _, p := range s.Codes {
				t.Codes.seen(p.Seen)
			}
			for _, m := range s.Media {
				t.MediaTypes.count(m.Reached)
				if m.Stream == nil {
					continue
				}
				if !m.Stream.Described {
					t.NotDescribed++
				}
				for _, e := range m.Stream.Events {
					t.Events.count(e.Reached)
				}
			}
		}
	}
	return t
}

// Merge adds the counts of another coverage of the same document, for example one that was read from a report. It
// appends rows that c does not have.
func (c *Coverage) Merge(other *Coverage) {
	for _, o := range other.Operations {
		op := row(&c.Operations, func(r *Operation) bool { return r.Method == o.Method && r.Path == o.Path })
		op.ID, op.Method, op.Path, op.Line, op.Reached = o.ID, o.Method, o.Path, o.Line, op.Reached+o.Reached
		for _, m := range o.Requests {
			into := row(&op.Requests, func(r *Media) bool { return r.Type == m.Type })
			into.Type, into.Reached = m.Type, into.Reached+m.Reached
		}
		for _, s := range o.Statuses {
			op.status(s.Status).merge(s)
		}
	}
	for _, s := range other.Schemas {
		c.mergeSchema(s)
	}
	for _, u := range other.Undocumented {
		c.addUndocumented(u)
	}
}

func (s *Status) merge(o Status) {
	s.Line, s.Reached = o.Line, s.Reached+o.Reached
	for _, h := range o.Headers {
		into := row(&s.Headers, func(r *Header) bool { return r.Name == h.Name })
		into.Name, into.Reached = h.Name, into.Reached+h.Reached
	}
	for _, p := range o.Codes {
		mergePoint(&s.Codes, p)
	}
	for _, m := range o.Media {
		into := s.media(m.Type)
		into.Reached, into.Uncompared = into.Reached+m.Reached, into.Uncompared+m.Uncompared
		if m.Stream == nil {
			continue
		}
		if into.Stream == nil {
			into.Stream = new(Stream)
		}
		into.Stream.Described = m.Stream.Described
		for _, e := range m.Stream.Events {
			event := into.Stream.event(e.Name)
			event.Line, event.Reached = e.Line, event.Reached+e.Reached
		}
	}
}

// row returns the row that matches, and appends an empty one if there is none.
func row[R any](rows *[]R, is func(*R) bool) *R {
	for i := range *rows {
		if r := &(*rows)[i]; is(r) {
			return r
		}
	}
	var empty R
	*rows = append(*rows, empty)
	return &(*rows)[len(*rows)-1]
}

func (op *Operation) status(code string) *Status {
	s := row(&op.Statuses, func(s *Status) bool { return s.Status == code })
	s.Status = code
	return s
}

func (s *Status) media(name string) *Media {
	m := row(&s.Media, func(m *Media) bool { return m.Type == name })
	m.Type = name
	return m
}

func (s *Stream) event(name string) *Event {
	e := row(&s.Events, func(e *Event) bool { return e.Name == name })
	e.Name = name
	return e
}
