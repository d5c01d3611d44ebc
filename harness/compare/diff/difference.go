// Package diff describes how two messages differ, as data, and turns that data into the words of a report.
//
// A Difference has a Kind, a Code with its arguments, the place on both sides and an excerpt of both values. Other
// packages branch on these fields, never on text. Only this package makes sentences, places and excerpts from them. It
// also parses the places and excerpts in saved reports.
package diff

import "fmt"

// A Difference is one way in which the candidate differs from the reference.
type Difference struct {
	Reason
	Step string // the step's id
	// Exchange is the index of the exchange in the reference's step; -1 when the difference is not in an exchange.
	// Exchanges has the indexes on both sides. They can be different in a burst, and where requests may come in any
	// order.
	Exchange  int
	Exchanges [2]int
	// Stream names the stream, for differences between events. Events has the indexes of the events in that stream, the
	// reference's first; -1 where there is no event.
	Stream    string
	Events    [2]int
	At        At
	Ref, Cand Excerpt
	// Fingerprint is the same for differences of one kind at one place whose values are equal apart from generated
	// values.
	Fingerprint string
	// More is the number of further differences that this one represents, because they are not listed one by one.
	More int
}

// Kind names a way to differ. Kinds appear in reports, so renaming one changes their format.
type Kind string

// The ways to differ.
const (
	StatusDiffers  Kind = "status"
	HeaderMissing  Kind = "header-missing"
	HeaderExtra    Kind = "header-extra"
	HeaderValue    Kind = "header-value"
	BodyDiffers    Kind = "body"          // a body that is not compared as JSON
	BodyNotJSON    Kind = "body-not-json" // JSON on one side only
	FieldMissing   Kind = "field-missing"
	FieldExtra     Kind = "field-extra"
	TypeDiffers    Kind = "type"
	ValueDiffers   Kind = "value"
	ElementMissing Kind = "element-missing"
	ElementExtra   Kind = "element-extra"
	OrderDiffers   Kind = "order"    // of a list's elements
	IdentityBroken Kind = "identity" // a generated value that was bound to another partner before
	IDForm         Kind = "id-form"  // an id of a different length, alphabet or case
	Constant       Kind = "constant" // a value that looks like an id, but that the whole run shows to be a constant
	CountDiffers   Kind = "count"    // of exchanges in one step
	EventMissing   Kind = "event-missing"
	EventExtra     Kind = "event-extra"
	EventDoubled   Kind = "event-doubled"
	EventMoved     Kind = "event-order"
	EventName      Kind = "event-name"
	EventFraming   Kind = "event-framing"
	EventGap       Kind = "event-gap" // the time since the request before it

	HeartbeatDiffers Kind = "heartbeat" // in its content
	StreamEnd        Kind = "stream-end"
	HangUp           Kind = "hang-up"     // on an upstream that does not respond
	ExitDiffers      Kind = "exit-status" // of a process that a step ended
	MoreDiffer       Kind = "more"        // there are more differences than are listed
)

// Kinds returns every way to differ.
func Kinds() []Kind {
	return []Kind{
		StatusDiffers, HeaderMissing, HeaderExtra, HeaderValue, BodyDiffers, BodyNotJSON, FieldMissing, FieldExtra, TypeDiffers,
		ValueDiffers, ElementMissing, ElementExtra, OrderDiffers, IdentityBroken, IDForm, Constant, CountDiffers, EventMissing, EventExtra,
		EventDoubled, EventMoved, EventName, EventFraming, EventGap, HeartbeatDiffers, StreamEnd, HangUp, ExitDiffers, MoreDiffer,
	}
}

// String describes a difference in one line.
func (d Difference) String() string {
	return fmt.Sprintf("%s at %s: %s: %s, %s", d.Kind, d.At, d.Text(), d.Ref, d.Cand)
}
