package contract

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A requestBody is a Request Body Object.
type requestBody struct {
	ref      string
	required bool
	media    []*media
}

// A response is a Response Object under its code: "200", "4XX" or "default".
type response struct {
	code    string
	ref     string
	headers []*parameter
	media   []*media
	empty   bool // an answer without any of the media fits too
}

// response finds the declaration for a status: "the explicit code definition takes precedence over the range definition
// for that code", and default covers what is left (OpenAPI 3.0.3 §4.7.16).
func (op *Operation) response(status int) *response {
	code := strconv.Itoa(status)
	var covering *response
	for _, r := range op.responses {
		switch {
		case r.code == code:
			return r
		case isRange(r.code) && len(code) == 3 && r.code[0] == code[0]:
			covering = r
		case r.code == "default" && covering == nil:
			covering = r
		}
	}
	return covering
}

// Events returns the names of the events that the operation's streams may have, in the order of the document. It reports
// false when there is no stream, or one whose events the document does not describe.
func (op *Operation) Events() (names []string, ok bool) {
	for _, r := range op.responses {
		for _, m := range r.media {
			switch {
			case !m.typ.isStream():
			case m.events == nil:
				return nil, false
			default:
				names, ok = append(names, m.events.names...), true
			}
		}
	}
	return names, ok
}

// Streams reports whether some answer of the operation may be an event stream.
func (op *Operation) Streams() bool {
	return slices.ContainsFunc(op.responses, func(r *response) bool { return find(r.media, "text/event-stream") != nil })
}

func isRange(code string) bool { return len(code) == 3 && strings.EqualFold(code[1:], "XX") }

// codes lists what is declared, for a text.
func (op *Operation) codes() string {
	names := make([]string, len(op.responses))
	for i, r := range op.responses {
		names[i] = r.code
	}
	return strings.Join(names, ", ")
}

// byCode orders responses: exact codes, ranges, default.
func byCode(a, b *response) int {
	return cmp.Or(cmp.Compare(rankOf(a.code), rankOf(b.code)), strings.Compare(a.code, b.code))
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
