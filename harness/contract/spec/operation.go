package spec

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

type Operation struct {
	ID     string `json:"id"`     // operationId; may be empty
	Method string `json:"method"` // "" for a program
	Path   string `json:"path"`   // the template: "/client-tools/tools/{clientID}"; or Program

	Ref         string
	servers     []string // base paths
	Params      []*Parameter
	PathParams  int          // number of parameters in the template
	Body        *requestBody // nil when no body is declared
	Responses   []*Response  // sorted: exact codes, ranges, default
	eventStream *EventStream // of the first stream with x-events
	Messages    *EventStream // of a socket or a program, when x-messages describes them
}

// String returns the method and the path template: "GET /event"; or [Program].
func (op *Operation) String() string {
	if op.Method == "" {
		return op.Path
	}
	return op.Method + " " + op.Path
}

// IsSocket reports whether the operation is declared to open a socket (RFC 6455 §4.1).
func (op *Operation) IsSocket() bool {
	return op.Method == "GET" && slices.ContainsFunc(op.Responses, func(r *Response) bool { return r.Code == "101" })
}

type requestBody struct {
	Ref      string
	Required bool
	Media    []*Media
}

// A Response is a Response Object with its code: "200", "4XX" or "default".
type Response struct {
	Code    string
	Ref     string
	Headers []*Parameter
	Media   []*Media
	Empty   bool // a response without a body is also allowed
}

// Response finds the declaration for a status: "the explicit code definition takes precedence over the range definition
// for that code", and default covers the rest (OpenAPI 3.0.3 §4.7.16).
func (op *Operation) Response(status int) *Response {
	code := strconv.Itoa(status)
	var covering *Response
	for _, r := range op.Responses {
		switch {
		case r.Code == code:
			return r
		case isRange(r.Code) && len(code) == 3 && r.Code[0] == code[0]:
			covering = r
		case r.Code == "default" && covering == nil:
			covering = r
		}
	}
	return covering
}

// Events returns the names of the events that the operation's streams may have, in the order of the document. It
// returns false when the operation has no stream, or one whose events the document does not describe. Messages of both
// sides count as events, and so does what is always allowed beside them.
func (op *Operation) Events() (names []string, ok bool) {
	for _, r := range op.Responses {
		for _, m := range r.Media {
			switch {
			case !m.Type.IsStream():
			case m.Events == nil:
				return nil, false
			default:
				names, ok = append(names, m.Events.Received.Names...), true
			}
		}
	}
	if op.Messages == nil {
		return names, ok
	}
	names = slices.Concat(names, op.Messages.Received.Names, op.Messages.Sent.Names)
	for _, item := range controlItems {
		names = append(names, string(item))
	}
	return names, true
}

// Streams reports whether a response of the operation may be an event stream.
func (op *Operation) Streams() bool {
	return slices.ContainsFunc(op.Responses, func(r *Response) bool { return FindMedia(r.Media, "text/event-stream") != nil })
}

func isRange(code string) bool { return len(code) == 3 && strings.EqualFold(code[1:], "XX") }

// Codes lists the declared codes as a text.
func (op *Operation) Codes() string {
	names := make([]string, len(op.Responses))
	for i, r := range op.Responses {
		names[i] = r.Code
	}
	return strings.Join(names, ", ")
}

// byCode orders responses: exact codes, ranges, default.
func byCode(a, b *Response) int {
	return cmp.Or(cmp.Compare(rankOf(a.Code), rankOf(b.Code)), strings.Compare(a.Code, b.Code))
}

func rankOf(code string) int {
	switch {
	case code == "default":
		return 2
	case isRange(code):
		return 1
	}
	return 0
}
