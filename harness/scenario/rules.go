package scenario

import (
	"fmt"
	"strings"
	"time"
)

// Rules say how the targets may differ. The project, a scenario and a step each have rules, and all of them apply
// together.
type Rules struct {
	Headers  []string // response header fields that are compared, in addition to the project's
	HeaderAt []Place  // where each of them is written; empty for the default
	Volatile []Volatile
	IDs      []IDShape             // not for a step
	Streams  map[string]StreamRule // by the stream's name or by its operation ("GET /event")
	Stubs    map[string]StubRules  // by the stub's name; not for a step
	MCP      map[string]Rules      // for MCP servers, by "tools/call", or by server too: "tester tools/call"; not for a step
}

// StubRules apply to the requests that targets send to a stub.
type StubRules struct {
	Rules
	// NoHeaders means that no header fields are compared, because the list of header fields is empty.
	NoHeaders bool
	Place     Place // of the stub's name
}

func (r *Rules) empty() bool {
	return len(r.Headers)+len(r.Volatile)+len(r.IDs)+len(r.Streams)+len(r.Stubs)+len(r.MCP) == 0
}

// StepRules are the rules of a single step.
type StepRules struct {
	Step string // id of the step
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
	At        string // JSONPath; "" in a rule about all numbers
	Kind      VolatileKind
	Unit      string        // of a time or a duration: s, ms, us, ns, or rfc3339 for times; "" means any
	Near      time.Duration // how far a time may be from the moment at which it was seen; 0 means an hour
	Ahead     time.Duration // how far a time may be after the moment at which it was seen; 0 means the same as Near
	Monotone  bool          // a time never goes back
	Stable    bool          // a time never changes for the same object
	Since     string        // of a stable time: the first step at which it is stable; "" means its first occurrence
	Of        string        // of a stable time: a JSONPath from its object to what identifies the object; "" means the member id
	Digits    string        // of an RFC 3339 time, its decimal places: a number, or "any"; "" means the same number on all targets
	Max       time.Duration // limit of a duration; 0 means any
	Tolerance Tolerance     // of a number or a duration
	Key       string        // of a list without an order: a JSONPath from an element to what identifies it; "" means all of it
	Because   string
	File      string
	Line      int
	Column    int
}

// A Tolerance is how far apart the targets' numbers may be. Without an amount, there is no tolerance.
type Tolerance struct {
	Amount  string // a decimal number; for durations, in nanoseconds
	Percent bool   // of the reference's number
}

// VolatileKind is the way in which a value is volatile.
type VolatileKind string

const (
	VolatileID   VolatileKind = "id"   // bound one to one across the whole scenario
	VolatileTime VolatileKind = "time" // close to the moment at which it was seen
	VolatileText VolatileKind = "text" // any text

	VolatileJSON VolatileKind = "json" // a text that contains JSON, and is compared as JSON

	VolatileDuration VolatileKind = "duration" // limited, in a unit
	VolatileNumber   VolatileKind = "number"   // within a tolerance
	VolatileToken    VolatileKind = "token"    // bound like an id, and never shown
)

// The key lists is stored as volatile values too. Such a rule is about a list, and not about its elements.
const VolatileList VolatileKind = "list"

// The key numbers is stored as volatile values too, although nothing about these numbers is volatile.
const (
	Notation VolatileKind = "notation" // an integer never equals a number that is not written as an integer
	Double   VolatileKind = "double"   // by value
	Exact    VolatileKind = "exact"    // by their text
)

// Name returns the rule's name in reports: "volatile $..id", "lists $.items", "numbers $.price", or "numbers".
func (v *Volatile) Name() string {
	switch v.Kind {
	case Notation, Double, Exact:
		return strings.TrimSpace("numbers " + v.At)
	case VolatileList:
		return "lists " + v.At
	}
	return "volatile " + v.At
}

// String says what the rule demands, and why.
func (v *Volatile) String() string {
	text := v.At + " is of the kind " + string(v.Kind)
	switch v.Kind {
	case Notation, Double, Exact:
		text = v.Name() + ": compared as " + string(v.Kind)
	case VolatileList:
		if text = v.Name() + ": the order does not matter"; v.Key != "" {
			text += ", elements are paired by " + v.Key
		}
	}
	if v.Because != "" {
		text += ": " + v.Because
	}
	return text
}

// An IDShape describes ids of a project that lockstep does not recognise by itself.
type IDShape struct {
	Name    string // values of one name are bound only to values of that name
	Pattern string // RE2; the generated part is its group, or else the whole match
	Because string
	Place   Place
}

// A StreamRule says how the events of a stream are compared.
type StreamRule struct {
	Exact bool // the framing is compared byte for byte
	// OrderWithin is a JSONPath. Events with the same value there must have the same order, and others may have any
	// order. "" means one order for all.
	OrderWithin string
	OrderAt     Place
	Anchors     []string // names of events that no other event may overtake, whatever its value
	AnchorsAt   []Place  // where each of them is written
	Heartbeat   *Heartbeat
	Optional    []string // names of events that may be absent on one side
	OptionalAt  []Place  // where each of them is written
	Collapse    []Collapse
	Gap         *Gap
	Stderr      bool // standard error is compared, too
	JSONRPC     bool // the messages are those of JSON-RPC 2.0
	File        string
	Line        int // line of the name
	Column      int
}

// A Collapse says which events are pieces of a text that may be split in any way.
type Collapse struct {
	Event   string   // name of the events
	By      []string // JSONPaths of the values that the pieces of one text share
	Text    string   // the JSONPath of the piece
	Because string
	Place   Place // of the event's name
}

// A Gap limits the time from a request to an event.
type Gap struct {
	Max       time.Duration // on each target; 0 means any
	Tolerance time.Duration // between targets; 0 means any
}

// A Heartbeat keeps a stream alive. It is not part of the sequence of events.
type Heartbeat struct {
	Event     string        // the event's name; "" when comments are heartbeats
	Every     time.Duration // 0 means any interval
	First     time.Duration // when the first one is due
	Tolerance time.Duration
	Same      bool // heartbeat comments must have the same text on all targets
	// Line and Column are where the file has the event's name; 0 without a name.
	Line, Column int
}
