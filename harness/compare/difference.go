package compare

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A Difference is one way in which the candidate is not like the reference.
type Difference struct {
	Kind Kind
	Step string // the step's id
	// Exchange is the index of the exchange in the reference's step; -1 when the difference is not in an exchange. Exchanges
	// are those in the step of each side: in a burst, and where any order will do, they may be others.
	Exchange  int
	Exchanges [2]int
	// Stream names the stream, for differences between events; Events are the indexes of the events in it, the
	// reference's first, -1 where there is none.
	Stream string
	Events [2]int
	Place  string // "status", "header Allow", "body /error/code", "event 3 (ping) data"
	// At is where in its message each side has it, the reference first, in the words of a contract.Violation: "status",
	// "header Allow", "body/error/code", "event name", "event data/id".
	At [2]string
	// Reference and Candidate show the two values, shortened when they are long.
	Reference, Candidate string
	Text                 string // one sentence
	// Fingerprint is equal for differences of one kind at one place whose values are equal but for what was made up.
	Fingerprint string

	more int // for how many that are not reported one by one it stands
}

// Kind names a way to differ. Kinds appear in reports, so renaming one is a change of their format.
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

// absent is how a side without a value is shown.
const absent = "—"

// show returns a text as reports print it.
func show(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// most is how many bytes of a value a difference keeps.
const most = 2000

// cut shortens two values that are shown beside each other, when one is long, to what stands around the first place where
// they differ. Both begin at the same offset then. What is missing is said as "[12 bytes cut] …" and "… [12 bytes cut]".
func cut(a, b string) (string, string) {
	if len(a) <= most && len(b) <= most {
		return a, b
	}
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	from = max(0, from-most/2)
	for from > 0 && !utf8.RuneStart(a[from]) {
		from--
	}
	return window(a, from), window(b, from)
}

func window(s string, from int) string {
	to := min(from+most, len(s))
	for to > from && to < len(s) && !utf8.RuneStart(s[to]) {
		to--
	}
	out := s[from:to]
	if from > 0 {
		out = fmt.Sprintf("[%d bytes cut] …%s", from, out)
	}
	if to < len(s) {
		out = fmt.Sprintf("%s… [%d bytes cut]", out, len(s)-to)
	}
	return out
}

// showText returns a text that may not be there.
func showText(s string) string {
	if s == "" {
		return absent
	}
	return show(s)
}

// showNode returns a value as JSON.
func showNode(n *jsontree.Node) string {
	if n == nil {
		return absent
	}
	return show(n.String())
}
