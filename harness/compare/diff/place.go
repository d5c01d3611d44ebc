package diff

import "strings"

// At is where two messages differ.
type At struct {
	Message  string    // which of several messages: "event 3 (ping)", "request 2"; "" when there is only one
	Part     string    // the part of the message: "status", "header Allow", "body", "data"
	Pointers [2]string // the JSON Pointers on both sides, if the part is JSON
	Inside   string    // the place inside a document that the text at the pointers contains: "⟨JSON⟩ /id"
	Element  string    // names the element of a list without an order that the place is in; "" when there is none
	Stable   string    // the reference's pointer without the indexes of such elements; "" when there are none
	Contract string    // the name of the part in a contract.Violation; "" when it is Part
}

// String describes the place for people, with the reference's pointer: "event 3 (ping) data /id".
func (a At) String() string {
	out := a.Message
	for _, part := range [...]string{a.Part, a.Pointers[0], a.Inside} {
		switch {
		case part == "":
		case out == "":
			out = part
		default:
			out += " " + part
		}
	}
	return out
}

// InEveryRun is String without the indexes of elements whose order does not matter.
func (a At) InEveryRun() string {
	if a.Stable != "" {
		a.Pointers[0] = a.Stable
	}
	return a.String()
}

// InContract returns the place on one side as a contract.Violation writes it: "body/error/code", "event data/id".
func (a At) InContract(side int) string {
	if a.Contract != "" {
		return a.Contract + a.Pointers[side]
	}
	return a.Part + a.Pointers[side]
}

// numbered are the messages that have a number in places.
var numbered = [...]string{"event", "message", "line", "error line", "sent", "heartbeat", "request"}

// Unnumbered removes the number of an event, a message, a heartbeat or a request to a stub from a place, because the
// number depends on earlier messages. It returns "event (ping) data" for "event 3 (ping) data".
func Unnumbered(place string) string {
	for _, word := range numbered {
		rest, ok := strings.CutPrefix(place, word+" ")
		if !ok || rest == "" || rest[0] < '0' || rest[0] > '9' {
			continue
		}
		return word + strings.TrimLeft(rest, "0123456789")
	}
	return place
}

// PointerIn returns the JSON Pointer in the place of a difference or a violation; "" when there is none.
func PointerIn(place string) string {
	if strings.HasSuffix(place, ")") && Unnumbered(place) != place {
		return "" // a whole event, whose name may contain a slash
	}
	if _, pointer, ok := strings.Cut(place, ") data /"); ok {
		return "/" + pointer
	}
	if i := strings.IndexByte(place, '/'); i >= 0 {
		return place[i:]
	}
	return ""
}

// InDocument returns the JSON Pointer of a place in a body or in the data of an event. upstream says whether the place
// belongs to a request to a stub. ok is false for all other places.
func InDocument(place string, upstream bool) (pointer string, ok bool) {
	if _, pointer, ok = strings.Cut(place, " data /"); ok {
		return "/" + pointer, true
	}
	if strings.HasPrefix(place, "body") || upstream && strings.Contains(place, " body /") {
		if _, pointer, ok = strings.Cut(place, " /"); ok {
			return "/" + pointer, true
		}
	}
	return "", false
}

// IsInside reports whether a place is inside a document that a text contains.
func IsInside(place string) bool { return strings.Contains(place, "⟨") }
