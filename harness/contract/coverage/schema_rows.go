package coverage

import (
	"fmt"
	"strings"
)

// A Schema is the row of a schema that declares properties, enum values or alternatives. A schema that several
// operations share has one row.
type Schema struct {
	Schema string `json:"schema"`         // "#/components/schemas/Message"
	Line   int    `json:"line,omitempty"` // in the document
	// In says in which messages it is searched for. A schema that responses or events use does not count as seen when
	// only a request has it.
	In           Messages `json:"in"`
	Properties   []Point  `json:"properties,omitempty"`   // by name
	Enum         []Point  `json:"enum,omitempty"`         // in the order of the document
	Alternatives []Point  `json:"alternatives,omitempty"` // of oneOf and anyOf, by reference
}

// Messages says which messages count for a schema.
type Messages string

const (
	Responses Messages = "answers"  // including events and received messages
	Requests  Messages = "requests" // including sent messages
)

// A Point says whether one declared thing was seen.
type Point struct {
	Name string `json:"name"`           // the name of a property; an enum value as JSON; the reference of an alternative
	Line int    `json:"line,omitempty"` // where it is declared, or the nearest enclosing place
	Seen bool   `json:"seen"`
}

// A Header counts the responses with a declared header field.
type Header struct {
	Name    string `json:"name"`
	Reached int    `json:"reached"`
}

// lists returns the three lists of a row.
func (s *Schema) lists() [3]*[]Point {
	return [3]*[]Point{&s.Properties, &s.Enum, &s.Alternatives}
}

// A SchemaTally counts what schemas declare, and how much of it was seen.
type SchemaTally struct{ Properties, Enum, Alternatives Tally }

// String returns the tallies as one line: "212/240 properties · 31/33 enum values"; "" when nothing is declared.
func (t SchemaTally) String() string {
	var parts []string
	for _, x := range []struct {
		Tally
		noun string
	}{{t.Properties, "properties"}, {t.Enum, "enum values"}, {t.Alternatives, "alternatives"}} {
		if x.Declared > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", x.Tally, x.noun))
		}
	}
	return strings.Join(parts, " · ")
}

func (c *Coverage) SchemaTotals() SchemaTally {
	items := c.Items()
	return SchemaTally{TallyItems(items, PropertiesSeen), TallyItems(items, EnumsSeen), TallyItems(items, AlternativesSeen)}
}
