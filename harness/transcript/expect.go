package transcript

import "encoding/json"

// An Expect is what a scenario demands of each target, in addition to being equal to the other target. The target's
// values are filled in.
type Expect struct {
	Status  int                `json:"status,omitempty"`
	Header  map[string]*string `json:"header,omitempty"` // nil means that the field must be absent
	Body    *string            `json:"body,omitempty"`   // the exact text
	JSON    *JSONPattern       `json:"json,omitempty"`
	Count   map[int]int        `json:"count,omitempty"` // how many responses of a burst have each status
	EndedBy Ending             `json:"ended_by,omitempty"`
	OneOf   []Expect           `json:"one_of,omitempty"`
}

// A Pattern selects events. Every field that is set must match.
type Pattern struct {
	Event *string      `json:"event,omitempty"` // the event's Name
	Data  *string      `json:"data,omitempty"`  // the exact data
	JSON  *JSONPattern `json:"json,omitempty"`
}

// A JSONPattern is a demand on a whole JSON document, or on the values at some paths.
type JSONPattern struct {
	Whole   json.RawMessage            `json:"whole,omitempty"`   // the document must be equal to this one
	At      map[string]json.RawMessage `json:"at,omitempty"`      // by JSONPath: exactly one value, equal to this one
	Matches map[string]string          `json:"matches,omitempty"` // by JSONPath: a string that matches the expression (RE2)
	Absent  []string                   `json:"absent,omitempty"`  // JSONPaths that must select nothing
}
