package jsondiff

import "time"

// A history is what one comparison remembers of values from document to document.
type history struct {
	last       map[timeline]*[2]latest      // moments of rules that say they never go back
	stable     [2]map[stableKey]*stableTime // times that do not change, of each side
	fractions  map[string]*[2]fractions     // times of RFC 3339, by the name of their member
	signatures [2]map[string]string         // of JWTs of each side, and what they sign
}

// A timeline is the times of one rule that come one after the other: those of answers, or of the events of a stream.
// Branches that run side by side have one each.
type timeline struct{ rule, line string }

// latest is the last moment of a timeline, and when it was seen.
type latest struct{ moment, seen time.Time }

// A stableKey is a time of a thing, by the rule that speaks of it. A thing is told by its id, or else by what it was asked
// for with and where it stands.
type stableKey struct {
	rule, subject string
}

// A stableTime is what was said of a thing first.
type stableTime struct {
	text     string
	at       string // for a person
	reported bool   // that it changes
}

// fractions are the times that one side has told at a name, with a part of a second and without.
type fractions struct {
	with, without map[string]bool
	digits        int // of the finest part that was seen, without zeros at its end
	reported      bool
}
