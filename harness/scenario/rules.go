package scenario

import "time"

// Rules say how the targets may differ. The project, a scenario and a step each have some; they add up.
type Rules struct {
	Headers  []string // response header fields that are compared, beside the project's
	Volatile []Volatile
	Streams  map[string]StreamRule // by the stream's name or by its operation ("GET /event")
}

// A Volatile is a place whose values differ from target to target.
type Volatile struct {
	At      string // JSONPath
	Kind    VolatileKind
	Because string
	File    string
	Line    int
}

// VolatileKind is the way in which a value is volatile.
type VolatileKind string

// The ways in which a value is volatile.
const (
	VolatileID   VolatileKind = "id"   // bound one to one across the whole scenario
	VolatileTime VolatileKind = "time" // close to the moment it was seen
	VolatileText VolatileKind = "text" // any text
)

// A StreamRule says how the events of a stream are compared.
type StreamRule struct {
	Exact bool // the framing is compared byte for byte
	// OrderWithin is a JSONPath: events with the same value there are in order, others are free. "" orders all.
	OrderWithin string
	Heartbeat   *Heartbeat
	File        string
	Line        int // of the name
	Column      int
}

// A Heartbeat keeps a stream alive. It is no part of the sequence.
type Heartbeat struct {
	Event     string        // the event's name; "" when comments beat
	Every     time.Duration // 0: any cadence
	Tolerance time.Duration
	// Line and Column are where the file has the event's name; 0 without one.
	Line, Column int
}
