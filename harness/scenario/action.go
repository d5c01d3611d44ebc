package scenario

import (
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// An Action is what a step does. Its types are in this file.
type Action interface{ kind() string }

// HTTP sends a request and reads its response. It also tells a driver to do something, see Request.
type HTTP struct {
	Request Request
	Within  time.Duration // 0 means the run's default
	Burst   int           // send it this many times at the same time; 0 and 1 mean once
	Expect  *Expect
	Capture []Capture
	Compare Rules
	// AllowStatus is set only in a teardown: the statuses that are accepted in addition to 2xx. There, it is never nil.
	AllowStatus []int
}

// Start sends a request whose response a Join reads.
type Start struct {
	Name    string
	Request Request
}

// Join reads the response of a started request.
type Join struct {
	Name    string
	Within  time.Duration
	Expect  *Expect
	Capture []Capture
	Compare Rules
}

// Open opens an event stream, a socket or a program, which is recorded from then on.
type Open struct {
	Name    string
	Wire    transcript.Wire
	Request Request // the request of an event stream, or the handshake of a socket
	Socket  Socket
	Program Program
	Within  time.Duration
	Ready   *Ready
	Only    []Pattern // record the events that match one of these; all when empty
	Expect  *Expect
	Compare Rules
}

// A Socket says how a socket is opened.
type Socket struct {
	Protocols      []Template // subprotocols to offer
	NoPong, NoEcho bool       // pings, and a close frame, are not answered by themselves
}

// A Program is what a program is started with, in addition to what its target says.
type Program struct {
	Args      []Template
	Env       []Parameter
	Directory *Template
}

// Send sends a message on a socket, or a line to a program.
type Send struct {
	Stream    string
	Message   Message
	Malformed Value // see Request.Malformed
	Within    time.Duration
}

// A Message is what a Send sends.
type Message struct {
	Item      transcript.Item // text, binary, ping or pong; line for a text when it goes to a program; bytes
	JSON      Value           // of a text; unset for others
	Text      *Template       // of a text, ping or pong
	Bytes     []byte          // of a binary message, or what is sent as it is
	Fragments int             // in how many frames it is sent; 0 and 1 mean one
	Frames    []Frame         // are sent instead of all others
}

// Noun says in a word what a message is.
func (m *Message) Noun() string {
	switch {
	case m.Frames != nil:
		return "the frames"
	case m.Item == transcript.ItemBytes:
		return "the bytes"
	case m.Item == transcript.ItemPing, m.Item == transcript.ItemPong:
		return "the " + string(m.Item)
	}
	return "the message"
}

// A Frame is sent as it is (RFC 6455 §5.2).
type Frame struct {
	Opcode, RSV int
	Fin, Masked bool
	Length      int // that it announces; -1 means that of the payload
	Text        *Template
	Bytes       []byte // the payload without a Text
}

// Signal sends a signal to a program.
type Signal struct{ Stream, Name string }

// Exit ends the program that a stub plays. Only scripts of stubs have it.
type Exit struct {
	Status int
	Signal string // that ends it instead; "" for none
}

// Ready makes a step wait until an event has come.
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

// Never forbids events for a time, which overlaps the following steps.
type Never struct {
	Stream string
	Match  *Pattern // nil means any event but heartbeats
	Within time.Duration
}

// Poll repeats a request until its response is the wanted one.
type Poll struct {
	Request Request
	// Pause is the time before the second request. It grows up to MaxPause.
	Pause, MaxPause time.Duration
	Within          time.Duration
	Until           *Expect
	Compare         PollCompare
	Capture         []Capture
}

// PollCompare says which responses of a poll are compared.
type PollCompare string

const (
	PollFinal    PollCompare = "final"
	PollDistinct PollCompare = "all-distinct"
	PollNone     PollCompare = "none"
)

// Hangup closes the client's side of a stream or of a started request.
type Hangup struct {
	Name string
	How  HangupKind
	// Code and Reason are those of a socket's close frame, and Within is how long the server may take to answer it.
	Code   int
	Reason *Template
	Within time.Duration
}

type HangupKind string

const (
	Close     HangupKind = "close"
	HalfClose HangupKind = "half-close" // shut down the sending side, and continue to read
	Drop      HangupKind = "drop"       // reset the connection
)

// Stop asks the target's process to exit.
type Stop struct {
	Within time.Duration
	Exit   int // the status with which it must exit
}

// Kill kills the target's process.
type Kill struct{}

// Restart restarts the target. A running process is asked to exit first.
type Restart struct {
	Within time.Duration
}

// Asked waits until a target has sent requests to an upstream.
type Asked struct {
	Stub, Rule string // the rule of the scenario that answers
	Times      int    // number of requests since the scenario began; at least 1
	Within     time.Duration
}

// Parallel runs several lists of steps at the same time.
type Parallel struct{ Branches []Branch }

type Branch struct {
	Name  string
	Steps []Step
}

func (h *HTTP) kind() string {
	if h.Request.Method == transcript.Do {
		return "do"
	}
	return "http"
}
func (*Send) kind() string     { return "send" }
func (*Signal) kind() string   { return "signal" }
func (*Exit) kind() string     { return "exit" }
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

// A Request is what an HTTP client sends. When its method is transcript.Do, it is what a driver is told to do: Path is
// the name of that, and Body has what goes with it.
type Request struct {
	Method string
	Path   Template // values are percent-encoded, and the rest is sent as written
	Query  []Parameter
	Header []Parameter
	// Without names header fields that the target adds to every request, but that this request must not have.
	Without []string
	Body    Body
	// Malformed resolves to whether the request breaks the contract on purpose. Unset means that it does not.
	Malformed Value
	// Line and Column are where the file has its method and path.
	Line, Column int
}

// Names reports whether the request itself sets or removes the header fields of a name, so that the target adds none.
func (r *Request) Names(field string) bool {
	return slices.ContainsFunc(r.Without, func(name string) bool { return strings.EqualFold(name, field) }) ||
		slices.ContainsFunc(r.Header, func(h Parameter) bool { return strings.EqualFold(h.Name, field) })
}

// A Parameter is a query parameter or a header field. One that is sent several times is listed several times.
type Parameter struct {
	Name  string
	Value Template
}

// A Body is the content of a request: JSON, raw, or nothing.
type Body struct {
	JSON    Value // unset means no JSON
	Raw     *Template
	Bytes   []byte // a raw body that is given in base64
	Type    string // content type of a raw body; "" sends none
	Chunked bool
	// Size resolves to the number of bytes of the body. Filler marks the place in the body that is extended to that
	// size. If unset, the body is not extended.
	Size Value
}

// MaxSize limits the size of a filled body.
const MaxSize = 1 << 30

// Filler is the name of the value that fills a body.
const Filler = "fill"

// A Capture gives a name to a value of a response or an event.
type Capture struct {
	Name   string
	Path   string // a JSONPath into the body or the event's data; or
	Header string // a header field
}

// Expect is what each target must respond, whatever the other does.
type Expect struct {
	Status int
	Header []HeaderDemand
	Body   *Template
	JSON   *JSON
	Count  map[int]int
	OneOf  []Expect
}

// A HeaderDemand is the wanted value of a header field, or its absence.
type HeaderDemand struct {
	Name  string
	Value *Template // nil means that the field must be absent
}

// A Pattern selects events.
type Pattern struct {
	Event *Template
	Data  *Template
	JSON  *JSON
	// Line and Column are where the file has the event's name; 0 without a name.
	Line, Column int
}

// JSON is a demand on a JSON document.
type JSON struct {
	Whole   Value // unset means no demand on the whole document
	At      []PathValue
	Matches []PathMatch
	Absent  []string
}

// A PathValue is the wanted value at a JSONPath.
type PathValue struct {
	Path  string
	Value Value
}

// A PathMatch is a regular expression for the string at a JSONPath.
type PathMatch struct {
	Path    string
	Pattern Template // inserted values are quoted
}
