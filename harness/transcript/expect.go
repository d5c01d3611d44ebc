package transcript

import "encoding/json"

// An Expect is what a scenario demands of each target by itself, besides being equal to the other. The target's values are
// filled in.
type Expect struct {
	Status  int                `json:"status,omitempty"`
	Header  map[string]*string `json:"header,omitempty"` // nil: the field must be absent
	Body    *string            `json:"body,omitempty"`   // the exact text
	JSON    *JSONPattern       `json:"json,omitempty"`
	Count   map[int]int        `json:"count,omitempty"` // how many answers of a burst have which status
	EndedBy Ending             `json:"ended_by,omitempty"`
	OneOf   []Expect           `json:"one_of,omitempty"`
}

// A Pattern selects events. Every field that is set must match.
type Pattern struct {
	Event *string      `json:"event,omitempty"` // the event's Name
	Data  *string      `json:"data,omitempty"`  // the exact data
	JSON  *JSONPattern `json:"json,omitempty"`
}

// A JSONPattern is a demand on a JSON document: on all of it, or on the values at some paths.
type JSONPattern struct {
	Whole   json.RawMessage            `json:"whole,omitempty"`   // equal to this document
	At      map[string]json.RawMessage `json:"at,omitempty"`      // by JSONPath: exactly one value, equal to this one
	Matches map[string]string          `json:"matches,omitempty"` // by JSONPath: a string that the expression (RE2) matches
	Absent  []string                   `json:"absent,omitempty"`  // JSONPaths that select nothing
}
