// Package transcript is the record of what crossed the wire between the harness and one target: plain data.
//
// Whoever drives a target writes transcripts; whoever judges reads them and nothing else. A transcript is therefore
// complete (what was sent, what came back, when, and how it ended) and holds no opinion about any of it.
package transcript

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"
)

// A Transcript is everything one target did in one scenario.
type Transcript struct {
	Scenario string `json:"scenario"` // the scenario's id, with its row: "client-tools/odd-ids[slash]"
	Target   string `json:"target"`
	Run      int    `json:"run,omitempty"`      // of a scenario that is repeated, from 1; else 0
	Recorded bool   `json:"recorded,omitempty"` // in an earlier run
	Probe    bool   `json:"probe,omitempty"`    // the scenario was run again, to see which values a new process repeats
	Unique   string `json:"unique"`             // what ${{ unique }} stood for on this target
	// Directory is what ${{ directory }} stood for, when the target had one.
	Directory string `json:"directory,omitempty"`
	// Lockstep is what ${{ lockstep }} stood for, when the scenario speaks of it.
	Lockstep string `json:"lockstep,omitempty"`
	// Process is when the process was started that the scenario found; zero for a target that lockstep has not started.
	Process time.Time `json:"process,omitzero"`
	// Started is when the scenario began; every offset below counts from it.
	Started time.Time     `json:"started"`
	Took    time.Duration `json:"took"`
	// Stalled is how long the harness itself was kept waiting at most by the machine it ran on, when that is worth a word.
	Stalled time.Duration `json:"stalled,omitempty"`
	// Starved are the spans in which others kept the target from running for a time that is worth a word, in their order. They
	// are known of targets that the harness started itself, where the system tells.
	Starved []Starvation `json:"starved,omitempty"`
	// Delayed are the spans in which others kept the harness itself from running, in their order, where the system tells.
	Delayed []Starvation `json:"delayed,omitempty"`
	Steps   []Step       `json:"steps"`
	Streams []*Stream    `json:"streams,omitempty"`
	Windows []Window     `json:"windows,omitempty"`
	// Upstream is what the target has asked the stubs that it calls, by the rule that has answered: a step each, whose
	// exchanges were begun by the target. Rules that have answered nothing are among them.
	Upstream []Step `json:"upstream,omitempty"`
	// Exit is set when the target's process ended while the scenario was running, and nobody had asked it to.
	Exit *Exit `json:"exit,omitempty"`
	// Aborted says what cut the scenario short: an interrupt, or its own limit.
	Aborted string `json:"aborted,omitempty"`
	// Unusable says why the target could not be driven at all: it never became ready, or was gone before the start.
	Unusable string `json:"unusable,omitempty"`
	// Log has the last lines of a target that is unusable.
	Log []string `json:"log,omitempty"`
}

// AllSteps ranges over the steps, and then over what was asked of upstreams.
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

// HasEvent reports whether a stream has an event of that index.
func (t *Transcript) HasEvent(stream string, i int) bool {
	return slices.ContainsFunc(t.Streams, func(s *Stream) bool { return s.Name == stream && i >= 0 && i < len(s.Events) })
}

// A Step is what one step of the scenario did on this target.
type Step struct {
	ID   string        `json:"id"`   // "3", "4.left.1", "teardown.1"
	Line int           `json:"line"` // in the scenario's file, 1-based
	Kind string        `json:"kind"` // the step's leading key: http, open, start, join, await, …
	Text string        `json:"text"` // how the file says it: "POST /client-tools/register", "await pending"
	At   time.Duration `json:"at"`
	Took time.Duration `json:"took"`
	// Skipped says why the step was not done: an earlier failure left nothing to do.
	Skipped string `json:"skipped,omitempty"`
	// Uncompared is set when the scenario asks not to compare the step's exchanges.
	Uncompared bool `json:"uncompared,omitempty"`
	// Exchanges are the step's requests and answers; a poll and a burst have several.
	Exchanges []*Exchange `json:"exchanges,omitempty"`
	// Burst is set when the exchanges were made at once and are in no order.
	Burst bool `json:"burst,omitempty"`
	// Unordered is set of a rule of a stub when the requests that it answers come in no order.
	Unordered bool `json:"unordered,omitempty"`
	// Stream names the stream that the step opened, read or closed.
	Stream string `json:"stream,omitempty"`
	// Events are the indexes, in that stream, of the events an await found.
	Events []int `json:"events,omitempty"`
	// Process is set when the step ended the target's process.
	Process *ProcessEnd `json:"process,omitempty"`
	// Expect is what the scenario demands of this step, with this target's values filled in.
	Expect *Expect `json:"expect,omitempty"`
	// Unmet is the demand that could not be met while the step ran: an event that did not come, a poll that never
	// held, a capture without a value.
	Unmet *Unmet `json:"unmet,omitempty"`
	// Fault is a mistake of ours or of the scenario that kept the step from running: never the target's.
	Fault string `json:"fault,omitempty"`
}

// Why a step is skipped when the target's process has ended, and when a step could not start it again.
const (
	Exited       = "the target has exited"
	NotRestarted = "the target was not started again"
)

// An Exchange is one request and what came back.
type Exchange struct {
	Request Request `json:"request"`
	// Interim are the responses that came before the final one (RFC 9110 §15.2).
	Interim  []Interim `json:"interim,omitempty"`
	Response *Response `json:"response,omitempty"` // nil when no response head came
	// Failure says how the exchange broke; nil when it ended as HTTP wants it to. It can stand beside a Response:
	// a body that was cut short has both.
	Failure *Failure `json:"failure,omitempty"`
	// Stream names the stream that carries the response's body, when it is an event stream.
	Stream string `json:"stream,omitempty"`
	// Hangs says that the answer, a stub's, does not end by itself. When a Failure stands beside it, the target has let go.
	Hangs bool `json:"hangs,omitempty"`
	// Unanswered says why no rule of a stub has answered the request; "" when one has.
	Unanswered string        `json:"unanswered,omitempty"`
	Sent       time.Duration `json:"sent"` // the request was on its way
	Head       time.Duration `json:"head"` // the response head was read; 0 when none came
	Done       time.Duration `json:"done"` // the body was read, or the exchange had failed
}

// MCP stands for the method of HTTP in what was sent to an MCP server. Its target is the method of JSON-RPC.
const MCP = "MCP"

// ToMCP reports whether a step is what was sent to an MCP server by one method.
func (s *Step) ToMCP() bool { return len(s.Exchanges) > 0 && s.Exchanges[0].Request.Method == MCP }

// A Request is what the harness sent.
type Request struct {
	Method string `json:"method"`
	Target string `json:"target"` // path and query as they were written on the wire
	Header Header `json:"header,omitempty"`
	Body   Body   `json:"body,omitzero"`
	// Malformed says that the scenario breaks the contract on purpose.
	Malformed bool `json:"malformed,omitempty"`
	// Captured are the values in it that break the contract, and that the server itself has made.
	Captured []Captured `json:"captured,omitempty"`
}

// A Captured value was taken out of an answer or an event and sent again.
type Captured struct {
	Place string `json:"place"` // in the request, as the contract calls it: "path id", "body/items/0"
	// Step and Exchange say which answer it is from; Step, Stream and Event, which event.
	Step     string `json:"step"`
	Exchange int    `json:"exchange,omitempty"`
	Stream   string `json:"stream,omitempty"`
	Event    int    `json:"event,omitempty"`
	From     string `json:"from"` // the place in that: "body/id", "header Location", "event data/id"
}

// A Response is what came back. When it carries a stream, Body is empty.
type Response struct {
	Proto  string `json:"proto"` // "HTTP/1.1"
	Status int    `json:"status"`
	Header Header `json:"header"` // in the order and the case of the wire
	Body   Body   `json:"body,omitzero"`
	// Trailer has the fields behind a chunked body (RFC 9110 §6.5). Those of an event stream are not kept.
	Trailer Header `json:"trailer,omitempty"`
}

// An Interim response (1xx) tells something before the answer: 103 (Early Hints), for one.
type Interim struct {
	Status int    `json:"status"`
	Header Header `json:"header,omitempty"`
}

// A Body is the content of a message, without its transfer coding.
type Body struct {
	Bytes []byte `json:"-"`
	// Size is the number of bytes that came, more than len(Bytes) when the harness stopped keeping them, and when there
	// is a filler, which is not among them.
	Size int64 `json:"-"`
	// Fill is what a request's body is filled with up to its size.
	Fill *Fill `json:"-"`
	// Sent is the number of bytes that were sent, when the body came in a content coding and Bytes are what is in it; else 0.
	Sent int64 `json:"-"`
	// Withheld is set when Bytes are no content, but say how long it was, and its sum.
	Withheld *Withheld `json:"-"`

	ref string // while a run file is read: the id of the content
}

// IsZero reports whether there was no body.
func (b Body) IsZero() bool { return b.Length() == 0 }

// Length returns the number of bytes that were sent, which is what a Content-Length counts.
func (b Body) Length() int64 { return cmp.Or(b.Sent, b.Size) }

// A Fill is a part of a body that is one character over and over again, of which nobody needs every one.
type Fill struct {
	At    int   `json:"at"`    // it stands before this byte of the others
	Times int64 `json:"times"` // how often FillByte comes
}

// FillByte is what bodies are filled with.
const FillByte = 'x'

// Whole reports whether all of the body is known.
func (b Body) Whole() bool {
	known := int64(len(b.Bytes))
	if b.Fill != nil {
		known += b.Fill.Times
	}
	return b.Size == known
}

// Header is a list of header fields in the order of the wire.
type Header []Field

// A Field is one header field, its name in the case it came in.
type Field struct {
	Name  string
	Value string `text:"own"` // it writes this itself, see MarshalJSON
}

// Is reports whether the field has a name, whatever its case. All names are ASCII (RFC 9110 §5.1, §5.6.2), so most have another
// length.
func (f Field) Is(name string) bool {
	return len(f.Name) == len(name) && strings.EqualFold(f.Name, name)
}

// ContentType returns the value of the first Content-Type; "" where there is none.
func (h Header) ContentType() string {
	value, _ := h.Get("Content-Type")
	return value
}

// Get returns the first value under the name, whatever its case (RFC 9110 §5.1).
func (h Header) Get(name string) (string, bool) {
	for _, f := range h {
		if f.Is(name) {
			return f.Value, true
		}
	}
	return "", false
}

// Has reports whether there is a field of the name, whatever its case.
func (h Header) Has(name string) bool {
	_, ok := h.Get(name)
	return ok
}

// Values returns every value under the name, in order.
func (h Header) Values(name string) []string {
	var out []string
	for _, f := range h {
		if f.Is(name) {
			out = append(out, f.Value)
		}
	}
	return out
}

// A Failure is how an exchange or a stream broke.
type Failure struct {
	Kind  FailureKind `json:"kind"`
	Phase Phase       `json:"phase"`
	Text  string      `json:"text"` // for a person
}

// FailureKind names what went wrong on the wire.
type FailureKind string

// What can go wrong on the wire.
const (
	FailConnect   FailureKind = "connect"   // no connection could be made
	FailTimeout   FailureKind = "timeout"   // nothing came within the bound
	FailReset     FailureKind = "reset"     // the connection was reset
	FailClosed    FailureKind = "closed"    // the connection ended before the message did
	FailMalformed FailureKind = "malformed" // what came is not HTTP, or its framing contradicts itself
	FailLimit     FailureKind = "limit"     // more came than the harness keeps
	FailCanceled  FailureKind = "canceled"  // the scenario, or the run, hung up
)

// Phase is the part of an exchange that was under way.
type Phase string

// The phases of an exchange, in order.
const (
	PhaseConnect Phase = "connect"
	PhaseSend    Phase = "send"
	PhaseHead    Phase = "head"
	PhaseBody    Phase = "body"
)

// A Stream is an event stream from its opening to its end.
type Stream struct {
	Name string `json:"name"` // the scenario's name for it
	Step string `json:"step"` // the id of the step that opened it
	// Operation is the method and path template the contract has for it, "GET /event"; empty when it has none.
	Operation string  `json:"operation,omitempty"`
	Events    []Event `json:"events"`
	// Only tells that the scenario selects events with `only`, and Left counts those that it does not select: they belong to
	// other scenarios.
	Only bool `json:"only,omitempty"`
	Left int  `json:"left,omitempty"`
	// Decoded says that the stream came in content codings, and that the events are what is in them.
	Decoded bool          `json:"decoded,omitempty"`
	Ended   Ending        `json:"ended"`
	At      time.Duration `json:"at"`    // the response head was read
	Until   time.Duration `json:"until"` // the end was seen
	// Failure says how the stream broke, when it did not end at an event's end.
	Failure *Failure `json:"failure,omitempty"`
}

// Ending says who ended a stream.
type Ending string

// Who ended a stream.
const (
	EndedByClient Ending = "client" // the scenario closed it, or was over
	EndedByServer Ending = "server" // the server ended it between two events
	EndedBroken   Ending = "broken" // it broke; Failure says how
)

// An Event is one event of a stream, or one comment.
type Event struct {
	// Name is what the contract, or else the wire, calls the event.
	Name string `json:"name,omitempty"`
	Type string `json:"type,omitempty"`            // the `event` field as it was sent; empty when there was none
	Data string `json:"data,omitempty" text:"own"` // the lines of data, joined by LF
	ID   string `json:"id,omitempty"`              // the `id` field as it was sent with this event
	// Retry is the `retry` field as it was sent with this event, digits only.
	Retry string `json:"retry,omitempty"`
	// Comment is set when this is a comment and nothing else; Data then holds its text.
	Comment bool `json:"comment,omitempty"`
	// Undispatched is set when a browser would have passed over the block, because it has no data: "id: 7\n\n", or a
	// blank line by itself.
	Undispatched bool `json:"undispatched,omitempty"`
	// Framing is the event as it was written, each value replaced by "•": "event: •\ndata: •\n\n". Two events with
	// equal values and equal framing are equal byte for byte.
	Framing string        `json:"framing" text:"own"`
	At      time.Duration `json:"at"` // the last byte was read
}

// A Window is a span of time in which something must not come.
type Window struct {
	Step   string        `json:"step"`
	Line   int           `json:"line"`
	Stream string        `json:"stream"`
	Match  *Pattern      `json:"match,omitempty"` // nil: nothing at all may come
	First  int           `json:"first"`           // the first event of the stream that counts
	From   time.Duration `json:"from"`
	To     time.Duration `json:"to"`
}

// An Unmet demand is something the scenario waited for in vain.
type Unmet struct {
	Kind string `json:"kind"` // event, end, poll, capture, ready, exit, restart; stream and close, of a stream that is none
	What string `json:"what"` // what was wanted: `event "tool-request"`
	Why  string `json:"why"`  // what happened instead: "not within 2s; 3 events came"
}

// A ProcessEnd is how a target's process ended when a step wanted it to.
type ProcessEnd struct {
	Signal string `json:"signal"`           // what it was sent: SIGTERM, SIGKILL
	Status string `json:"status,omitempty"` // "exit status 0", "signal: killed"; empty when it did not end in time
	// Took is how long it took.
	Took time.Duration `json:"took"`
}

// An Exit is the end of a target's process.
type Exit struct {
	Status string        `json:"status"` // "exit status 1", "signal: killed"
	At     time.Duration `json:"at"`
	Log    []string      `json:"log,omitempty"` // its last lines
	// UnderWay is what the process was doing when it ended, for all scenarios that shared it: "pay step 3 POST /orders".
	UnderWay []string `json:"under_way,omitempty"`
}

// How says how the process ended, and what was under way: "exit status 1, while pay step 3 POST /orders was under way".
func (e *Exit) How() string {
	if len(e.UnderWay) == 0 {
		return e.Status
	}
	return e.Status + ", while " + UnderWay(e.UnderWay)
}
