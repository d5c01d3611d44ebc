package jsondiff

import "time"

// A history is what one comparison remembers from document to document.
type history struct {
	last       map[timeline]*[2]latest      // the last times, for rules that say that times never go back
	stable     [2]map[stableKey]*stableTime // the times that must not change, of each side
	fractions  map[string]*[2]fractions     // RFC 3339 times, by the name of their member
	signatures [2]map[string]string         // the signatures of the JWTs of each side, and what they sign
}

// A timeline identifies the times of one rule that follow each other: those of responses, or of the events in a stream.
// Each parallel branch has its own.
type timeline struct{ rule, line string }

// latest is the last moment of a timeline, and when it was seen.
type latest struct{ moment, seen time.Time }

// A stableKey identifies a time of a thing, by its rule and the thing. A thing is identified by its id, or else by the
// request and its place in the document.
type stableKey struct {
	rule, subject string
}

// A stableTime is the first value of a time that must not change.
type stableTime struct {
	text     string
	at       string // its place, for people
	reported bool   // that it has changed
}

// fractions has the times of one side and one member name, with and without a fraction of a second.
type fractions struct {
	with, without map[string]bool
	digits        int // the length of the longest fraction, without trailing zeros
	reported      bool
}
