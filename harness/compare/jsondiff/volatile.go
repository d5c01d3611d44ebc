package jsondiff

import (
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Volatile is a place whose values differ from target to target. That there is one, of which type it is, and how large,
// is compared all the same.
type Volatile struct {
	At        string // a JSONPath (RFC 9535) into a body or an event's data; "" of a rule about all numbers
	Kind      VolatileKind
	Unit      ident.Unit    // of a Duration; of a Time that must be written so
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

func Scalar(n *jsontree.Node) bool { return n.Kind == jsontree.String || n.Kind == jsontree.Number }
