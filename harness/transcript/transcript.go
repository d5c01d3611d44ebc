// Package transcript is the record of what crossed the wire between lockstep and one target, and the run file that
// stores such records. It is plain data.
//
// Package run writes transcripts, and judging reads nothing else. So a transcript is complete: what was sent, what was
// received, when, and how it ended. It judges nothing.
package transcript

import (
	"bytes"
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"
	"time"
)

// A Transcript is everything that one target did in one scenario.
type Transcript struct {
	Scenario string `json:"scenario"` // the scenario's id, with its row: "client-tools/odd-ids[slash]"
	Target   string `json:"target"`
	Run      int    `json:"run,omitempty"`      // number of the run of a repeated scenario, from 1; else 0
	Recorded bool   `json:"recorded,omitempty"` // it comes from an earlier run
	Probe    bool   `json:"probe,omitempty"`    // the scenario was run again to see which values a new process repeats
	Unique   string `json:"unique"`             // the value of ${{ unique }} on this target
	// Directory is the value of ${{ directory }}, if the target had one.
	Directory string `json:"directory,omitempty"`
	// Lockstep is the value of ${{ lockstep }}, if the scenario uses it.
	Lockstep string `json:"lockstep,omitempty"`
	// Process is when the target's process was started. It is zero for a target that lockstep has not started.
	Process time.Time `json:"process,omitzero"`
	// Started is when the scenario began. Every offset below counts from it.
	Started time.Time     `json:"started"`
	Took    time.Duration `json:"took"`
	// Stalled is the longest time for which the machine kept lockstep waiting, unless it is negligible.
	Stalled time.Duration `json:"stalled,omitempty"`
	// Starved are the time spans in which other processes kept the target from running, without negligible ones. They
	// are known only for targets that lockstep has started, and only if the system reports them.
	Starved []Starvation `json:"starved,omitempty"`
	// Delayed are such time spans of lockstep itself.
	Delayed []Starvation `json:"delayed,omitempty"`
	Steps   []Step       `json:"steps"`
	Streams []*Stream    `json:"streams,omitempty"`
	Windows []Window     `json:"windows,omitempty"`
	// Upstream has a step for each rule of the stubs that the target calls, with the requests that the rule has
	// answered. Rules without requests have steps too.
	Upstream []Step `json:"upstream,omitempty"`
	// Exit is set when the target's process ended by itself while the scenario was running.
	Exit *Exit `json:"exit,omitempty"`
	// Aborted says what stopped the scenario early: an interrupt, or its own limit.
	Aborted string `json:"aborted,omitempty"`
	// Unusable says why the scenario could not run on the target: it never became ready, or had ended before.
	Unusable string `json:"unusable,omitempty"`
	// Log has the last lines of an unusable target.
	Log []string `json:"log,omitempty"`
}

// AllSteps ranges over Steps, and then over Upstream.
func (t *Transcript) AllSteps() iter.Seq[*Step] {
	return func(yield func(*Step) bool) {
		for _, list := range [...][]Step{t.Steps, t.Upstream} {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}

// HasEvent reports whether a stream has an event with that index.
func (t *Transcript) HasEvent(stream string, i int) bool {
	return slices.ContainsFunc(t.Streams, func(s *Stream) bool { return s.Name == stream && i >= 0 && i < len(s.Events) })
}

// A Step is what one step of the scenario did on this target.
type Step struct {
	ID   string        `json:"id"`   // "3", "4.left.1", "teardown.1"
	Line int           `json:"line"` // line in the scenario's file, 1-based
	Kind string        `json:"kind"` // the step's first key: http, open, start, join, await, …
	Text string        `json:"text"` // as in the file: "POST /client-tools/register", "await pending"
	At   time.Duration `json:"at"`
	Took time.Duration `json:"took"`
	// Skipped says why the step was not done.
	Skipped string `json:"skipped,omitempty"`
	// Uncompared is set when the scenario asks not to compare the step's exchanges.
	Uncompared bool `json:"uncompared,omitempty"`
	// Exchanges are the step's requests and responses. A poll and a burst have several.
	Exchanges []*Exchange `json:"exchanges,omitempty"`
	// Burst is set when the exchanges ran at the same time and have no order.
	Burst bool `json:"burst,omitempty"`
	// Unordered is set for a rule of a stub when the requests that it answers have no order.
	Unordered bool `json:"unordered,omitempty"`
	// Cadence says when requests to a rule of a stub are due, if the scenario demands that.
	Cadence *Cadence `json:"cadence,omitempty"`
	// Stream names the stream that the step opened, read or closed.
	Stream string `json:"stream,omitempty"`
	// Events are the indexes, in that stream, of the events that an await found.
	Events []int `json:"events,omitempty"`
	// Process is set when the step ended the target's process.
	Process *ProcessEnd `json:"process,omitempty"`
	// Expect is what the scenario demands of this step, with the target's values filled in.
	Expect *Expect `json:"expect,omitempty"`
	// Unmet is a demand that was not met while the step ran: an event that did not come, a poll that never succeeded, a
	// capture without a value.
	Unmet *Unmet `json:"unmet,omitempty"`
	// Fault says why the step could not be done because of a mistake in the scenario or in lockstep. It is never the
	// target's fault.
	Fault string `json:"fault,omitempty"`
}

// Reasons for skipping a step: the target's process has ended, or a step could not restart it.
const (
	Exited       = "the target has exited"
	NotRestarted = "the target was not started again"
)

// An Exchange is one request and its response.
type Exchange struct {
	Request Request `json:"request"`
	// Interim are the responses that came before the final one (RFC 9110 §15.2).
	Interim  []Interim `json:"interim,omitempty"`
	Response *Response `json:"response,omitempty"` // nil when no response head came
	// Failure says how the exchange broke. It is nil when the exchange ended by the rules of HTTP. An exchange can have
	// both a Failure and a Response, whose body was cut short.
	Failure *Failure `json:"failure,omitempty"`
	// Stream names the stream with the response's body, when that is an event stream.
	Stream string `json:"stream,omitempty"`
	// Hangs means that the response of a stub does not end by itself. With a Failure, the target has closed the
	// connection.
	Hangs bool `json:"hangs,omitempty"`
	// Unanswered says why no rule of a stub answered the request; else "".
	Unanswered string        `json:"unanswered,omitempty"`
	Sent       time.Duration `json:"sent"` // when the request was sent
	Head       time.Duration `json:"head"` // when the response head was read; 0 without one
	Done       time.Duration `json:"done"` // when the body was read, or the exchange failed
}

// MCP is the method of requests to an MCP server. Their target is the JSON-RPC method.
const MCP = "MCP"

// Exported is the method of what a target has exported to a collector of OpenTelemetry: a tree of spans, a point of a
// metric, a log record or a resource. The target says which.
const Exported = "OTLP"

// Do is the method of what a driver is told to do. The target of such a request is the name of that, and its body is
// what goes with it. The response has the status 200, and the driver's outcome as JSON: {"ok": …} or {"error": …}.
const Do = "DO"

// Outcomes of what a driver was told to do.
const (
	OutcomeOK    = "ok"
	OutcomeError = "error"
)

// Outcome returns the outcome in a driver's response; "" if there is none, or the exchange is not with a driver.
func (x *Exchange) Outcome() string {
	if x.Request.Method != Do || x.Response == nil {
		return ""
	}
	if bytes.HasPrefix(x.Response.Body.Bytes, []byte(`{"`+OutcomeError+`"`)) {
		return OutcomeError
	}
	return OutcomeOK
}

// Start is the method of the start of a program that a stub plays. Its target is the name of the stub, and its body has
// the arguments, the chosen variables, and the working directory.
const Start = "START"

// ToMCP reports whether a step has the messages of one method to an MCP server.
func (s *Step) ToMCP() bool { return len(s.Exchanges) > 0 && s.Exchanges[0].Request.Method == MCP }

// A Request is a request as it was sent.
type Request struct {
	Method string `json:"method"`
	Target string `json:"target"` // path and query as they were sent
	Header Header `json:"header,omitempty"`
	Body   Body   `json:"body,omitzero"`
	// Malformed means that the request breaks the contract on purpose.
	Malformed bool `json:"malformed,omitempty"`
	// Captured are the values in the request that break the contract, but that the server itself has sent before.
	Captured []Captured `json:"captured,omitempty"`
}

// A Captured value was taken from a response or an event, and sent again.
type Captured struct {
	Place string `json:"place"` // place in the request, as the contract calls it: "path id", "body/items/0"
	// Step and Exchange identify the response with the value, or Step, Stream and Event the event.
	Step     string `json:"step"`
	Exchange int    `json:"exchange,omitempty"`
	Stream   string `json:"stream,omitempty"`
	Event    int    `json:"event,omitempty"`
	From     string `json:"from"` // place in that response or event: "body/id", "header Location", "event data/id"
}

// A Response is a response as it was received. When it carries a stream, Body is empty.
type Response struct {
	Proto  string `json:"proto"` // "HTTP/1.1"
	Status int    `json:"status"`
	Header Header `json:"header"` // in the order and the case of the wire
	Body   Body   `json:"body,omitzero"`
	// Trailer has the fields after a chunked body (RFC 9110 §6.5). Those of an event stream are not kept.
	Trailer Header `json:"trailer,omitempty"`
}

// An Interim response (1xx) comes before the final one, such as 103 (Early Hints).
type Interim struct {
	Status int    `json:"status"`
	Header Header `json:"header,omitempty"`
}

// A Body is the content of a message, without its transfer coding.
type Body struct {
	Bytes []byte `json:"-"`
	// Size is the number of bytes. It is more than len(Bytes) when lockstep did not keep all bytes, or when there is a
	// filler, which is not in Bytes.
	Size int64 `json:"-"`
	// Fill is the filler of a request's body.
	Fill *Fill `json:"-"`
	// Sent is the number of bytes on the wire when Bytes were decoded from a content coding; else 0.
	Sent int64 `json:"-"`
	// Withheld is set when Bytes are not the content, but its length and its checksum.
	Withheld *Withheld `json:"-"`

	ref string // the id of the content, while a run file is read
}

// IsZero reports whether there was no body.
func (b Body) IsZero() bool { return b.Length() == 0 }

// Length returns the number of bytes on the wire, as in a Content-Length.
func (b Body) Length() int64 { return cmp.Or(b.Sent, b.Size) }

// A Fill is a part of a body that repeats one character, so that it need not be stored.
type Fill struct {
	At    int   `json:"at"`    // the index in Bytes before which it is inserted
	Times int64 `json:"times"` // how often FillByte is repeated
}

// FillByte is the character of a Fill.
const FillByte = 'x'

// Whole reports whether all bytes of the body were kept.
func (b Body) Whole() bool {
	known := int64(len(b.Bytes))
	if b.Fill != nil {
		known += b.Fill.Times
	}
	return b.Size == known
}

// A Header is a list of header fields in the order of the wire.
type Header []Field

// A Field is one header field. Its name keeps its case.
type Field struct {
	Name  string
	Value string `text:"own"` // MarshalJSON writes it even if it is not UTF-8
}

// Is reports whether the field has a name, ignoring case. Names are ASCII (RFC 9110 §5.1, §5.6.2), so comparing the
// lengths first is correct, and fast.
func (f Field) Is(name string) bool {
	return len(f.Name) == len(name) && strings.EqualFold(f.Name, name)
}

// ContentType returns the value of the first Content-Type, or "".
func (h Header) ContentType() string {
	value, _ := h.Get("Content-Type")
	return value
}

// Get returns the first value of the name, ignoring case (RFC 9110 §5.1).
func (h Header) Get(name string) (string, bool) {
	for _, f := range h {
		if f.Is(name) {
			return f.Value, true
		}
	}
	return "", false
}

// Has reports whether there is a field of the name, ignoring case.
func (h Header) Has(name string) bool {
	_, ok := h.Get(name)
	return ok
}

// Values returns all values of the name, in order.
func (h Header) Values(name string) []string {
	var out []string
	for _, f := range h {
		if f.Is(name) {
			out = append(out, f.Value)
		}
	}
	return out
}

// Elements returns the elements of a field that is a comma-separated list. It reads all lines of the field, and leaves
// out empty elements (RFC 9110 §5.6.1).
func (h Header) Elements(name string) []string {
	var out []string
	for _, f := range h {
		if !f.Is(name) {
			continue
		}
		for e := range strings.SplitSeq(f.Value, ",") {
			// A line fold counts as a space (RFC 9112 §5.2).
			if e = strings.Trim(e, " \t\r\n"); e != "" {
				out = append(out, e)
			}
		}
	}
	return out
}

// HasElement reports whether a list field has an element, ignoring case.
func (h Header) HasElement(name, element string) bool {
	return ContainsName(h.Elements(name), element)
}

// ContainsName reports whether names include a field's name, ignoring case.
func ContainsName(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// AddNames adds names of fields to others, each once. It does not change its arguments.
func AddNames(names []string, more ...string) []string {
	names = slices.Clip(names)
	for _, name := range more {
		if !ContainsName(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// A Failure says how an exchange or a stream broke.
type Failure struct {
	Kind  FailureKind `json:"kind"`
	Phase Phase       `json:"phase"`
	Text  string      `json:"text"` // text for people
}

// A FailureKind names what went wrong on the wire.
type FailureKind string

const (
	FailConnect   FailureKind = "connect"   // no connection could be opened
	FailTimeout   FailureKind = "timeout"   // nothing came within the time limit
	FailReset     FailureKind = "reset"     // the connection was reset
	FailClosed    FailureKind = "closed"    // the connection was closed before the end of the message
	FailMalformed FailureKind = "malformed" // the response is not valid HTTP
	FailLimit     FailureKind = "limit"     // the response exceeds a limit of lockstep
	FailCanceled  FailureKind = "canceled"  // the scenario, or the run, closed the connection
)

// A Phase is the part of an exchange that was running.
type Phase string

// The phases of an exchange, in order.
const (
	PhaseConnect Phase = "connect"
	PhaseSend    Phase = "send"
	PhaseHead    Phase = "head"
	PhaseBody    Phase = "body"
)

// A Stream is an event stream, a socket, or the input and output of a program, from its opening to its end.
type Stream struct {
	Name string `json:"name"`           // the scenario's name for it
	Step string `json:"step"`           // the id of the step that opened it
	Wire Wire   `json:"wire,omitempty"` // "" is an event stream
	// Stub is set when lockstep is the server: the target is the client of a stub. Sent events are what the stub has
	// sent. Exchange.Stream names it.
	Stub bool `json:"stub,omitempty"`
	// Operation is the method and path template that the contract has for it, "GET /event"; empty when it has none.
	Operation string  `json:"operation,omitempty"`
	Events    []Event `json:"events"`
	// Only is set when the scenario selects events with `only`. Left counts the events that it does not select, because
	// they belong to other scenarios.
	Only bool `json:"only,omitempty"`
	Left int  `json:"left,omitempty"`
	// Decoded means that the stream came in content codings, which were decoded.
	Decoded bool          `json:"decoded,omitempty"`
	Ended   Ending        `json:"ended"`
	At      time.Duration `json:"at"`    // when the response head was read
	Until   time.Duration `json:"until"` // when the end was seen
	// Failure says how the stream broke, when it did not end between two events.
	Failure *Failure `json:"failure,omitempty"`
}

// A Wire is what a stream runs on.
type Wire string

const (
	WireSocket  Wire = "socket"  // a WebSocket (RFC 6455)
	WireProgram Wire = "program" // standard input, output and error of a program
)

// An Item is what an event of a socket or a program is.
type Item string

const (
	ItemText   Item = "text"   // a text message of a socket; Data has its bytes, even if they are not UTF-8
	ItemBinary Item = "binary" // a binary message
	ItemPing   Item = "ping"   // control frames (RFC 6455 §5.5); Data has their payload
	ItemPong   Item = "pong"
	// ItemClose is a close frame. Data is {"code": 1000, "reason": "bye"}, without a code {}.
	ItemClose Item = "close"
	ItemBytes Item = "bytes" // sent bytes that are not a whole message: frames of a socket, a part of a line
	ItemLine  Item = "line"  // a line of standard input or output, without its line end
	// ItemStderr is a line of standard error. It is kept, and compared only where a rule asks for it.
	ItemStderr Item = "stderr"
	ItemSignal Item = "signal" // a sent signal; Data is its name: SIGTERM
	ItemEOF    Item = "eof"    // the end of standard input
	// ItemExit is the end of a program. Data is {"status": 1} or {"signal": "SIGSEGV"}.
	ItemExit Item = "exit"
)

// An Ending says which side ended a stream. On a stub, the sides have changed places.
type Ending string

const (
	EndedByClient Ending = "client" // the scenario closed it, or was over
	EndedByServer Ending = "server" // the server ended it between two events
	EndedBroken   Ending = "broken" // it broke, and Failure says how
)

// Ender says in a word which side ended the stream.
func (s *Stream) Ender() string {
	switch {
	case s.Stub && s.Ended == EndedByClient:
		return "stub"
	case s.Stub && s.Ended == EndedByServer:
		return "target"
	}
	return string(s.Ended)
}

// A Cadence says how long a target waits before it asks a stub again: after a failure, or to connect again.
type Cadence struct {
	// Every is the first pause, from the end of one response to the next request. Each further one is Growing times as
	// long, up to Most. A Growing of 0 means 1, and a Most of 0 no limit.
	Every     time.Duration `json:"every"`
	Most      time.Duration `json:"most,omitempty"`
	Growing   float64       `json:"growing,omitempty"`
	Tolerance time.Duration `json:"tolerance"`
	// Since is the id of the step with the request before the first one. Without it, the first one is not due.
	Since string `json:"since,omitempty"`
}

// Due returns the n-th pause; n begins at 1.
func (c *Cadence) Due(n int) time.Duration {
	due := float64(c.Every) * math.Pow(cmp.Or(c.Growing, 1), float64(n-1))
	if most := cmp.Or(c.Most, math.MaxInt64/4); due > float64(most) {
		return most
	}
	return time.Duration(due)
}

// An Event is one event of a stream, or one comment. On other wires it is a message, a line, or the end.
type Event struct {
	// Name is the event's name in the contract, or else on the wire.
	Name string `json:"name,omitempty"`
	// Item is set on wires other than event streams.
	Item Item `json:"item,omitempty"`
	// Sent is set for what lockstep has sent.
	Sent bool `json:"sent,omitempty"`
	// Malformed means that what was sent breaks the contract on purpose.
	Malformed bool   `json:"malformed,omitempty"`
	Type      string `json:"type,omitempty"`            // the `event` field as it was sent; empty without one
	Data      string `json:"data,omitempty" text:"own"` // the lines of data, joined by LF
	ID        string `json:"id,omitempty"`              // the `id` field as it was sent with this event
	// Retry is the `retry` field as it was sent with this event, digits only.
	Retry string `json:"retry,omitempty"`
	// Comment is set for a comment without fields. Data has its text.
	Comment bool `json:"comment,omitempty"`
	// Undispatched is set when a browser would ignore the block because it has no data: "id: 7\n\n", or a single blank
	// line.
	Undispatched bool `json:"undispatched,omitempty"`
	// Framing is the event as it was written, with each value replaced by "•": "event: •\ndata: •\n\n". Two events with
	// equal values and equal framing are equal byte for byte.
	//
	// A message of a socket has its frames in their order, each with the size of its payload: "text 5" is one frame, and
	// "text 3, continuation 0, end 2" are three. The first has the name of the Item, the last of several is the end, and
	// those between are continuations. A frame that is sent as ItemBytes has its bits: "opcode 3, fin, rsv 4, unmasked, 5
	// of 10". rsv has the three reserved bits as a number, and 10 is the announced length if that is not the real one.
	// What is not set is left out: "opcode 1, 5". Bytes without a frame have no framing.
	//
	// A line has its line end: "•\r\n".
	Framing string        `json:"framing" text:"own"`
	At      time.Duration `json:"at"` // when the last byte was read
}

// Label returns the name of an event in reports.
func (ev *Event) Label() string {
	switch {
	case ev.Comment:
		return "a comment"
	case ev.Undispatched && ev.Type == "":
		return "a block without data"
	case ev.Undispatched:
		return ev.Type
	default:
		return ev.Name
	}
}

// A Window is a time span in which an event must not come.
type Window struct {
	Step   string        `json:"step"`
	Line   int           `json:"line"`
	Stream string        `json:"stream"`
	Match  *Pattern      `json:"match,omitempty"` // nil means that no event may come
	First  int           `json:"first"`           // index of the first event of the stream that counts
	From   time.Duration `json:"from"`
	To     time.Duration `json:"to"`
}

// An Unmet is a demand that a target did not meet while the scenario ran.
type Unmet struct {
	Kind string `json:"kind"` // event, end, poll, capture, ready, exit, restart; stream and close after a refused open
	What string `json:"what"` // what was wanted: `event "tool-request"`
	Why  string `json:"why"`  // what happened instead: "not within 2s; 3 events came"
}

// A ProcessEnd says how a target's process ended when a step ended it.
type ProcessEnd struct {
	Signal string        `json:"signal"`           // SIGTERM or SIGKILL
	Status string        `json:"status,omitempty"` // "exit status 0", "signal: killed"; empty when it did not end in time
	Took   time.Duration `json:"took"`
}

// An Exit says how a target's process ended by itself.
type Exit struct {
	Status string        `json:"status"` // "exit status 1", "signal: killed"
	At     time.Duration `json:"at"`
	Log    []string      `json:"log,omitempty"` // its last lines
	// UnderWay are the steps that were running in all scenarios that shared the process: "pay step 3 POST /orders".
	UnderWay []string `json:"under_way,omitempty"`
}

// How says how the process ended, and which steps were running: "exit status 1, while pay step 3 POST /orders was under
// way".
func (e *Exit) How() string {
	if len(e.UnderWay) == 0 {
		return e.Status
	}
	return e.Status + ", while " + UnderWay(e.UnderWay)
}
