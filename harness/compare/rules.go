package compare

import "time"

// Rules say how two targets may differ. The zero Rules compare everything but headers.
type Rules struct {
	Headers  []string // response header fields that are compared, whatever their case
	Volatile []Volatile
	IDs      []IDShape // shapes of ids, beside those that are known
	// Streams has rules by the stream's name or its operation ("GET /event"); the name wins.
	Streams map[string]Stream
	// Steps adds rules for single steps, by the step's id. A stream belongs to the step that opened it.
	Steps map[string]Step
	// Stubs has rules for what is asked of upstreams, by the stub's name. Header fields that are named there take the place
	// of the usual ones.
	Stubs map[string]Step
	// MCP has rules for what is sent to MCP servers: by the method ("tools/call"), or by the server's name and the method
	// ("tester tools/call").
	MCP map[string][]Volatile
}

// Step has the rules of one step.
type Step struct {
	Headers  []string
	Volatile []Volatile
}

// Volatile is a place whose values differ from target to target. That there is one, of which type it is, and how large,
// is compared all the same.
type Volatile struct {
	At        string // a JSONPath (RFC 9535) into a body or an event's data; "" of a rule about all numbers
	Kind      VolatileKind
	Unit      Unit          // of a Duration; of a Time that must be written so
	Near      time.Duration // of a Time, from the moment it was seen: an hour when it is 0
	Ahead     time.Duration // of a Time, how far it may lie ahead of the moment it was seen; 0: as Near says
	Monotone  bool          // of a Time: it never goes back
	Stable    bool          // of a Time: it never changes for the same thing
	Since     string        // of a stable Time: the id of the step from which on it is so; "": from the first time it is seen
	Of        string        // of a stable Time: a JSONPath from the object it is in to what tells the thing; "": the member id
	Digits    string        // of a Time of RFC 3339, behind the second: "3", "any"; "": alike on both sides
	Max       time.Duration // of a Duration; 0: any
	Tolerance Tolerance     // of a Number or a Duration, between the two sides
	Rule      string        // what the rule is called in Result: "lockstep.yaml:12:7"
}

// VolatileKind is the way in which a value is volatile.
type VolatileKind string

// The ways in which a value is volatile.
const (
	ID   VolatileKind = "id"   // bound one to one across the whole scenario
	Time VolatileKind = "time" // near the moment it was seen, on each side
	Text VolatileKind = "text" // any string

	JSON VolatileKind = "json" // a text that holds JSON, and is compared as JSON

	Duration VolatileKind = "duration" // no longer than Max, and no further apart than Tolerance
	Number   VolatileKind = "number"   // no further apart than Tolerance
	Token    VolatileKind = "token"    // bound like an id, made alike, and never shown
)

// Stream says how the events of a stream are compared.
type Stream struct {
	// Exact compares the framing of each event byte for byte, not only what a client makes of it.
	Exact bool
	// OrderWithin is a JSONPath: events with the same value there are compared in order, and events with different
	// values in any. "" keeps all in order.
	OrderWithin string
	// Anchors are the names of events that what comes in any order must not pass.
	Anchors   []string
	Heartbeat *Heartbeat
	// Optional are the names of events that one side may send and the other not.
	Optional []string
	// Collapse says which events are pieces of texts.
	Collapse []Collapse
	Gap      *Gap // from a request to an event; nil: any
}

// stream returns the rules for a stream.
func (r *Rules) stream(name, operation string) Stream { return r.Streams[r.streamKey(name, operation)] }

// streamKey is what the rules for a stream stand under.
func (r *Rules) streamKey(name, operation string) string {
	if _, ok := r.Streams[name]; ok {
		return name
	}
	return operation
}

// volatile returns the rules for the places of a step, the step's own first.
func (r *Rules) volatile(step string) []Volatile {
	own := r.Steps[step].Volatile
	if len(own) == 0 {
		return r.Volatile
	}
	return append(own[:len(own):len(own)], r.Volatile...)
}
