package ident

import (
	"strings"
	"time"
)

// Servers write times in more ways than that of RFC 3339. When a server is ported, another notation is the most
// frequent mistake. Each notation is a token kind of its own, so that a report says exactly what differs, and the same
// in every run.

// isoLen recognises a date with a time of day. It returns their kind and their length.
func isoLen(s string) (tokenKind, int) {
	const day, shape = "dddd-dd-dd", "dddd-dd-ddTdd:dd:dd"
	if len(s) < len(shape) || !fits(s, day) || !fits(s[len(day)+1:], "dd:dd:dd") {
		return 0, 0
	}
	sep := s[len(day)]
	if sep != 'T' && sep != ' ' {
		return 0, 0
	}
	n := len(shape)
	if n < len(s) && s[n] == '.' {
		n++
		for n < len(s) && Digit(s[n]) {
			n++
		}
	}
	zone, colon := zoneLen(s[n:])
	n += zone
	switch {
	case zone > 0 && sep == ' ':
		return tokSpaced, n
	case zone > 0 && colon:
		return TokRFC3339, n
	case zone > 0:
		return tokBareZone, n
	case !Ends(s, n):
		return 0, 0
	case sep == ' ':
		return tokSQL, n
	}
	return tokLocal, n
}

// zoneLen returns the length of the zone at the start of a text, and whether RFC 3339 allows its notation.
func zoneLen(s string) (n int, colon bool) {
	switch {
	case strings.HasPrefix(s, "Z"):
		return 1, true
	case fits(s, "+dd:dd"), fits(s, "-dd:dd"):
		return len("+dd:dd"), true
	case (fits(s, "+dddd") || fits(s, "-dddd")) && Ends(s, len("+dddd")):
		return len("+dddd"), false
	case (fits(s, "+dd") || fits(s, "-dd")) && Ends(s, len("+dd")):
		return len("+dd"), false
	}
	return 0, false
}

func RFC3339Len(s string) int {
	if kind, n := isoLen(s); kind == TokRFC3339 {
		return n
	}
	return 0
}

// isoMoment parses a written-out time. A time without a zone counts as UTC: see Place.InZone.
func isoMoment(text string) (time.Time, bool) {
	text = strings.Replace(text, " ", "T", 1)
	for _, layout := range [...]string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// isDateTime reports whether times of the kind are written out, with day and hour.
func (k tokenKind) isDateTime() bool { return k >= TokRFC3339 && k <= tokSQL }

// zoneless reports whether times of the kind do not say their zone.
func (k tokenKind) zoneless() bool { return k == tokLocal || k == tokSQL }
