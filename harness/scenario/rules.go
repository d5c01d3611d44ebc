package scenario

import (
	"fmt"
	"strings"
	"time"
)

// Rules say how the targets may differ. The project, a scenario and a step each have some; they add up.
type Rules struct {
	Headers  []string // response header fields that are compared, beside the project's
	HeaderAt []Place  // where each of them is written; none for the default
	Volatile []Volatile
	IDs      []IDShape             // none of a step
	Streams  map[string]StreamRule // by the stream's name or by its operation ("GET /event")
	Stubs    map[string]StubRules  // by the stub's name; none of a step
	MCP      map[string]Rules      // of MCP servers, by the method ("tools/call") or by server and method ("tester tools/call"); none of a step
}

// StubRules are about what targets ask a stub.
type StubRules struct {
	Rules
	// NoHeaders says that no header fields are compared, as a list without any asks for.
	NoHeaders bool
	Place     Place // of the stub's name
}

// empty reports whether there are no rules.
func (r *Rules) empty() bool {
	return len(r.Headers)+len(r.Volatile)+len(r.IDs)+len(r.Streams)+len(r.Stubs)+len(r.MCP) == 0
}

// StepRules are those of a step alone.
type StepRules struct {
	Step string // its id
	Rules
}

// A Place is where a rule is written.
type Place struct {
	File         string
	Line, Column int
}

// String returns "lockstep.yaml:12:7".
func (p Place) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// A Volatile is a place whose values differ from target to target.
type Volatile struct {
	At        string // JSONPath; "" of a rule about all numbers
	Kind      VolatileKind
	Unit      string        // of a time or a duration: s, ms, us, ns, or rfc3339 for times; "" when any will do
	Near      time.Duration // of a time, from the moment it was seen; 0: an hour
	Ahead     time.Duration // of a time, how far it may lie ahead of the moment it was seen; 0: as near says
	Monotone  bool          // of a time: it never goes back
	Stable    bool          // of a time: it never changes for the same thing
	Since     string        // of a stable time: the id of the step from which on it is so; "": from the first time it is seen
	Of        string        // of a stable time: a JSONPath from the object it is in to what tells the thing; "": the member id
	Digits    string        // of a time of RFC 3339, behind the second: a number, or "any"; "": alike on all targets
	Max       time.Duration // of a duration; 0: any
	Tolerance Tolerance     // of a number or a duration
	Because   string
	File      string
	Line      int
	Column    int
}

// A Tolerance is how far the targets' numbers may be apart. Without an amount there is none.
type Tolerance struct {
	Amount  string // a decimal number; of durations, in nanoseconds
	Percent bool   // of the reference's
}

// VolatileKind is the way in which a value is volatile.
type VolatileKind string

// The ways in which a value is volatile.
const (
	VolatileID   VolatileKind = "id"   // bound one to one across the whole scenario
	VolatileTime VolatileKind = "time" // close to the moment it was seen
	VolatileText VolatileKind = "text" // any text

	VolatileJSON VolatileKind = "json" // a text that holds JSON, and is compared as JSON

	VolatileDuration VolatileKind = "duration" // bounded, in a unit
	VolatileNumber   VolatileKind = "number"   // within a tolerance
	VolatileToken    VolatileKind = "token"    // bound like an id, and never shown
)

// What is said of numbers by the key numbers stands among the volatile values, although nothing about them is volatile.
const (
	Notation VolatileKind = "notation" // an integer never equals what is not written as one
	Double   VolatileKind = "double"   // by value
	Exact    VolatileKind = "exact"    // by their text
)

// Name returns what reports call the rule: "volatile $..id", "numbers $.price", or "numbers".
func (v *Volatile) Name() string {
	switch v.Kind {
	case Notation, Double, Exact:
		return strings.TrimSpace("numbers " + v.At)
	}
	return "volatile " + v.At
}

// String says what the rule demands, and why.
func (v *Volatile) String() string {
	text := v.At + " is of the kind " + string(v.Kind)
	switch v.Kind {
	case Notation, Double, Exact:
		text = v.Name() + ": compared as " + string(v.Kind)
	}
	if v.Because != "" {
		text += ": " + v.Because
	}
	return text
}

// An IDShape is how ids of a project look that are not recognised by themselves.
type IDShape struct {
	Name    string // values of one name are bound to values of that name only
	Pattern string // RE2; what is made up is its group, or all of it
	Because string
	Place   Place
}

// A StreamRule says how the events of a stream are compared.
type StreamRule struct {
	Exact bool // the framing is compared byte for byte
	// OrderWithin is a JSONPath: events with the same value there are in order, others are free. "" orders all.
	OrderWithin string
	OrderAt     Place
	Anchors     []string // names of events that none of the others may pass, whatever its value
	AnchorsAt   []Place  // where each of them is written
	Heartbeat   *Heartbeat
	Optional    []string // names of events that may be absent on one side
	OptionalAt  []Place  // where each of them is written
	Collapse    []Collapse
	Gap         *Gap
	File        string
	Line        int // of the name
	Column      int
}

// A Collapse says which events are pieces of a text that may be cut in any way.
type Collapse struct {
	Event   string   // the events' name
	By      []string // JSONPaths of what pieces of one text have in common
	Text    string   // the JSONPath of the piece
	Because string
	Place   Place // of the event's name
}

// A Gap bounds the time from a request to an event.
type Gap struct {
	Max       time.Duration // on each target; 0: any
	Tolerance time.Duration // between targets; 0: any
}

// A Heartbeat keeps a stream alive. It is no part of the sequence.
type Heartbeat struct {
	Event     string        // the event's name; "" when comments beat
	Every     time.Duration // 0: any cadence
	First     time.Duration // when the first one is due
	Tolerance time.Duration
	Same      bool // comments that beat say the same on all targets
	// Line and Column are where the file has the event's name; 0 without one.
	Line, Column int
}
