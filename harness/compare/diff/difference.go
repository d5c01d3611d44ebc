// Package diff says how two messages differ, as data, and has the words for it.
//
// A Difference has a Kind, a Code with its arguments, the place on both sides and an excerpt of both values. Code branches on
// these. Sentences, places and excerpts become text in this package alone, which also reads places and excerpts back from
// reports that were written before.
package diff

import "fmt"

// A Difference is one way in which the candidate is not like the reference.
type Difference struct {
	Reason
	Step string // the step's id
	// Exchange is the index of the exchange in the reference's step; -1 when the difference is not in an exchange. Exchanges
	// are the indexes on both sides: they differ in a burst, and where requests may come in any order.
	Exchange  int
	Exchanges [2]int
	// Stream names the stream, for differences between events. Events are the indexes of the events in it, the reference's
	// first; -1 where there is no event.
	Stream    string
	Events    [2]int
	At        At
	Ref, Cand Excerpt
	// Fingerprint is equal for differences of one kind at one place whose values are equal but for generated values.
	Fingerprint string
	// More is how many differences that are not listed one by one this one stands for.
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
	BodyDiffers    Kind = "body"          // a body that is not JSON on both sides
	BodyNotJSON    Kind = "body-not-json" // JSON on one side only
	FieldMissing   Kind = "field-missing"
	FieldExtra     Kind = "field-extra"
	TypeDiffers    Kind = "type"
	ValueDiffers   Kind = "value"
	ElementMissing Kind = "element-missing"
	ElementExtra   Kind = "element-extra"
	OrderDiffers   Kind = "order"    // of a list's elements
	IdentityBroken Kind = "identity" // a generated value that met another one before
	IDForm         Kind = "id-form"  // an id of another length, alphabet or case
	Constant       Kind = "constant" // a value that the whole run shows to be no id, although it looks like one
	CountDiffers   Kind = "count"    // of exchanges in one step
	EventMissing   Kind = "event-missing"
	EventExtra     Kind = "event-extra"
	EventDoubled   Kind = "event-doubled"
	EventMoved     Kind = "event-order"
	EventName      Kind = "event-name"
	EventFraming   Kind = "event-framing"
	EventGap       Kind = "event-gap" // from the request before it

	HeartbeatDiffers Kind = "heartbeat" // in what it says
	StreamEnd        Kind = "stream-end"
	HangUp           Kind = "hang-up"     // on an upstream that does not answer
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
