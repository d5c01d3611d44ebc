package scenario

import (
	"slices"
	"strings"
	"time"
)

// An Action is what a step does: one of the types of this file.
type Action interface{ kind() string }

// HTTP sends a request and reads its answer.
type HTTP struct {
	Request Request
	Within  time.Duration // 0: the run's default
	Burst   int           // send it so many times at once; 0 and 1 mean once
	Expect  *Expect
	Capture []Capture
	Compare Rules
	// AllowStatus is set in a teardown alone: the statuses that are fine beside 2xx. It is never nil there.
	AllowStatus []int
}

// Start sends a request whose answer a Join reads.
type Start struct {
	Name    string
	Request Request
}

// Join reads the answer of a started request.
type Join struct {
	Name    string
	Within  time.Duration
	Expect  *Expect
	Capture []Capture
	Compare Rules
}

// Open opens an event stream, which is recorded from then on.
type Open struct {
	Name    string
	Request Request
	Within  time.Duration
	Ready   *Ready
	Only    []Pattern // record the events that match one of these; all when empty
	Expect  *Expect
	Compare Rules
}

// Ready holds a step back until an event has come.
type Ready struct {
	Event        Template
	Within       time.Duration
	Line, Column int // of the event's name
}

// Await waits for events of a stream, or for its end.
type Await struct {
	Stream  string
	Match   *Pattern
	Times   int  // at least 1
	End     bool // wait for the server to end the stream
	Within  time.Duration
	Capture []Capture
}

// Never forbids events for a time that overlaps the following steps.
type Never struct {
	Stream string
	Match  *Pattern // nil: anything but heartbeats
	Within time.Duration
}

// Poll repeats a request until its answer is as wanted.
type Poll struct {
	Request Request
	// Pause is the time before the second request; it grows to MaxPause.
	Pause, MaxPause time.Duration
	Within          time.Duration
	Until           *Expect
	Compare         PollCompare
	Capture         []Capture
}

// PollCompare says which answers of a poll are compared.
type PollCompare string

// Which answers of a poll are compared.
const (
	PollFinal    PollCompare = "final"
	PollDistinct PollCompare = "all-distinct"
	PollNone     PollCompare = "none"
)

// Hangup ends our side of a stream or of a started request.
type Hangup struct {
	Name string
	How  HangupKind
}

// HangupKind is a way to hang up.
type HangupKind string

// The ways to hang up.
const (
	Close     HangupKind = "close"
	HalfClose HangupKind = "half-close" // shut down the sending side, go on reading
	Drop      HangupKind = "drop"       // reset the connection
)

// Stop asks the target's process to end.
type Stop struct {
	Within time.Duration
	Exit   int // the status it must end with
}

// Kill ends the target's process without asking.
type Kill struct{}

// Restart starts the target again. One that runs is asked to end before.
type Restart struct {
	Within time.Duration
}

// Asked waits until a target has asked an upstream.
type Asked struct {
	Stub, Rule string // the rule of the scenario that answers
	Times      int    // how often since the scenario began; at least 1
	Within     time.Duration
}

// Parallel does several lists of steps at once.
type Parallel struct{ Branches []Branch }

// A Branch is one of the lists of a Parallel.
type Branch struct {
	Name  string
	Steps []Step
}

func (*HTTP) kind() string     { return "http" }
func (*Start) kind() string    { return "start" }
func (*Join) kind() string     { return "join" }
func (*Open) kind() string     { return "open" }
func (*Await) kind() string    { return "await" }
func (*Never) kind() string    { return "never" }
func (*Poll) kind() string     { return "poll" }
func (h *Hangup) kind() string { return string(h.How) }
func (*Stop) kind() string     { return "stop" }
func (*Kill) kind() string     { return "kill" }
func (*Restart) kind() string  { return "restart" }
func (*Asked) kind() string    { return "asked" }
func (*Parallel) kind() string { return "parallel" }

// A Request is what a step sends.
type Request struct {
	Method string
	Path   Template // values are percent-encoded, the rest is sent as written
	Query  []Parameter
	Header []Parameter
	// Without are names of header fields that the target adds to every request, and that this one goes without.
	Without []string
	Body    Body
	// Malformed resolves to whether the request breaks the contract on purpose; unset means it does not.
	Malformed Value
	// Line and Column are where the file has its method and path.
	Line, Column int
}

// Names reports whether the request says itself what header fields of a name it has, so that the target adds none.
func (r *Request) Names(field string) bool {
	return slices.ContainsFunc(r.Without, func(name string) bool { return strings.EqualFold(name, field) }) ||
		slices.ContainsFunc(r.Header, func(h Parameter) bool { return strings.EqualFold(h.Name, field) })
}

// A Parameter is a query parameter or a header field. One that is sent several times is listed several times.
type Parameter struct {
	Name  string
	Value Template
}

// A Body is a request's content: JSON, or raw, or nothing.
type Body struct {
	JSON    Value // unset: no JSON
	Raw     *Template
	Bytes   []byte // of a raw body given in base64
	Type    string // of a raw body; "" sends no content type
	Chunked bool
	// Size resolves to how many bytes the body has; Filler in it stands for what it is filled with. Unset: it is as long
	// as it is.
	Size Value
}

// MaxSize bounds a body that is filled.
const MaxSize = 1 << 30

// Filler is the name that stands for what a body is filled with.
const Filler = "fill"

// A Capture names a value of an answer.
type Capture struct {
	Name   string
	Path   string // a JSONPath into the body or the event's data; or
	Header string // a header field
}

// Expect is what each target must answer by itself.
type Expect struct {
	Status int
	Header []HeaderDemand
	Body   *Template
	JSON   *JSON
	Count  map[int]int
	OneOf  []Expect
}

// A HeaderDemand is a header field's wanted value, or its absence.
type HeaderDemand struct {
	Name  string
	Value *Template // nil: absent
}

// A Pattern tells one event from the others.
type Pattern struct {
	Event *Template
	Data  *Template
	JSON  *JSON
	// Line and Column are where the file has the event's name; 0 without one.
	Line, Column int
}

// JSON is a demand on a JSON document.
type JSON struct {
	Whole   Value // unset: not the whole document
	At      []PathValue
	Matches []PathMatch
	Absent  []string
}

// A PathValue is the value wanted at a JSONPath.
type PathValue struct {
	Path  string
	Value Value
}

// A PathMatch is a regular expression for the string at a JSONPath.
type PathMatch struct {
	Path    string
	Pattern Template // values put into it are quoted
}
