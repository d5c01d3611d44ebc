package jsondiff

import (
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Volatile is a rule for values that are different on each target. Both sides must still have a value there, of the
// same type, that meets the rule.
type Volatile struct {
	At        string // a JSONPath (RFC 9535) into a body or an event's data; "": all numbers
	Kind      VolatileKind
	Unit      ident.Unit    // of a Duration; of a Time, its required notation
	Near      time.Duration // of a Time: how far it may be from the moment it was seen; 0: an hour
	Ahead     time.Duration // of a Time: how far it may be ahead of the moment it was seen; 0: as Near says
	Monotone  bool          // of a Time: it never goes back
	Stable    bool          // of a Time: it never changes for the same thing
	Since     string        // of a stable Time: the id of the step from which it must not change; "": always
	Of        string        // of a stable Time: a JSONPath from its object to what identifies the thing; "": the member id
	Digits    string        // of an RFC 3339 Time: the digits in its fraction, "3" or "any"; "": the same on both sides
	Max       time.Duration // of a Duration: the longest allowed; 0: no limit
	Tolerance Tolerance     // of a Number or a Duration: how far the two sides may be apart
	Rule      string        // the name of the rule in Result: "lockstep.yaml:12:7"
}

// VolatileKind is how a value is volatile.
type VolatileKind string

// The kinds of volatile values.
const (
	ID   VolatileKind = "id"   // bound one to one across the whole scenario
	Time VolatileKind = "time" // near the moment it was seen, on each side
	Text VolatileKind = "text" // any string

	JSON VolatileKind = "json" // a text that contains JSON, and is compared as JSON

	Duration VolatileKind = "duration" // no longer than Max, and no further apart than Tolerance
	Number   VolatileKind = "number"   // no further apart than Tolerance
	Token    VolatileKind = "token"    // bound like an id, of the same format, and never shown
)

func Scalar(n *jsontree.Node) bool { return n.Kind == jsontree.String || n.Kind == jsontree.Number }
