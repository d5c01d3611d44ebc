package diff

import "strings"

// At is where two messages differ.
type At struct {
	Message  string    // which of several messages: "event 3 (ping)", "request 2"; "" when there is only one
	Part     string    // of the message: "status", "header Allow", "body", "data"
	Pointers [2]string // JSON Pointers of both sides, in a part that is JSON
	Inside   string    // in a document that a text at the pointers holds: "⟨JSON⟩ /id"
	Contract string    // what a contract.Violation calls the part; "" when it is Part
}

// String writes the place for a person, by the reference's pointer: "event 3 (ping) data /id".
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

// InContract writes the place on a side in the words of a contract.Violation: "body/error/code", "event data/id".
func (a At) InContract(side int) string {
	if a.Contract != "" {
		return a.Contract + a.Pointers[side]
	}
	return a.Part + a.Pointers[side]
}

// numbered are the words for messages that are counted.
var numbered = [...]string{"event", "heartbeat", "request"}

// Unnumbered returns a place without the number of its event, heartbeat or request to a stub, which depends on what came
// before: "event (ping) data" of "event 3 (ping) data".
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

// PointerIn returns the JSON Pointer in a place of a difference or of a violation; "" when there is none.
func PointerIn(place string) string {
	if i := strings.IndexByte(place, '/'); i >= 0 {
		return place[i:]
	}
	return ""
}

// InDocument returns the JSON Pointer of a place in a body or in an event's data. upstream is whether the place is of a
// request to a stub. ok is false for all other places.
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

// IsInside reports whether a place is in a document that a text holds.
func IsInside(place string) bool { return strings.Contains(place, "⟨") }
