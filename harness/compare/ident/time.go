package ident

import (
	"math/big"
	"strconv"
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

// EpochLen recognises seconds since 1970, with or without a fraction, and milliseconds, between 2017 and 2033.
func EpochLen(s string) (tokenKind, int) {
	n := 0
	for n < len(s) && Digit(s[n]) {
		n++
	}
	if n != 10 && n != 13 || s[0] != '1' || s[1] < '5' || !Ends(s, n) {
		return 0, 0
	}
	if n+1 < len(s) && s[n] == '.' && Digit(s[n+1]) {
		return decimalLen(s, n)
	}
	if n == 13 {
		return tokMillis, n
	}
	return tokSeconds, n
}

// decimalLen recognises seconds with a fraction, of which n digits precede the point. Milliseconds have no fraction,
// and a text with another point is not a number.
func decimalLen(s string, n int) (tokenKind, int) {
	seconds := n == 10
	for n++; n < len(s) && Digit(s[n]); n++ {
	}
	if !seconds || !Ends(s, n) || n < len(s) && s[n] == '.' {
		return 0, 0
	}
	return tokDecimal, n
}

func HTTPDateLen(s string) int {
	const shape = "aaa, dd aaa dddd dd:dd:dd GMT"
	if fits(s, shape) {
		return len(shape)
	}
	return 0
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

// notations are those of times: their names in reports, and their layouts for package time. A time without a zone is
// parsed as UTC: see Place.InZone.
var notations = [...]struct {
	name    string
	layouts []string
}{
	tokMillis:   {name: "milliseconds"},
	tokSeconds:  {name: "seconds"},
	TokRFC3339:  {"an RFC 3339 time", []string{time.RFC3339Nano}},
	TokHTTPDate: {"an HTTP date", []string{time.RFC1123}},
	tokLocal:    {"a time without a time zone", []string{"2006-01-02T15:04:05"}},
	tokBareZone: {"a time whose zone has no colon", []string{"2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07"}},
	tokSpaced:   {"a time with a space", []string{"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z0700", "2006-01-02 15:04:05Z07"}},
	tokSQL:      {"a time with a space and without a time zone", []string{time.DateTime}},
	tokDecimal:  {name: "seconds with a decimal point"},
}

// Moment returns the time that a token of a time kind denotes.
func Moment(kind tokenKind, text string) (time.Time, bool) {
	switch kind {
	case tokSeconds:
		n, err := strconv.ParseInt(text, 10, 64)
		return time.Unix(n, 0), err == nil
	case tokMillis:
		n, err := strconv.ParseInt(text, 10, 64)
		return time.UnixMilli(n), err == nil
	case tokDecimal:
		return Seconds.Moment(text)
	}
	for _, layout := range notations[kind].layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// WholeTime returns the kind of a text that is one time, and not a part of a longer text.
func WholeTime(text string) (kind tokenKind, ok bool) {
	switch kind, n := EpochLen(text); {
	case text == "":
		return 0, false
	case n == len(text):
		return kind, true
	case RFC3339Len(text) == len(text):
		return TokRFC3339, true
	default:
		return TokHTTPDate, HTTPDateLen(text) == len(text)
	}
}

// isDateTime reports whether times of the kind are written out, with day and hour.
func (k tokenKind) isDateTime() bool { return k >= TokRFC3339 && k <= tokSQL }

// zoneless reports whether times of the kind do not say their zone.
func (k tokenKind) zoneless() bool { return k == tokLocal || k == tokSQL }

// Unit is the notation of a time or a duration.
type Unit string

const (
	Seconds      Unit = "s"
	Milliseconds Unit = "ms"
	Microseconds Unit = "us"
	Nanoseconds  Unit = "ns"
	RFC3339      Unit = "rfc3339" // for times only
)

// String is the name of the unit in reports.
func (u Unit) String() string {
	switch u {
	case Seconds:
		return "seconds"
	case Milliseconds:
		return "milliseconds"
	case Microseconds:
		return "microseconds"
	case Nanoseconds:
		return "nanoseconds"
	default:
		return "RFC 3339 format"
	}
}

// Nanoseconds converts a number of this unit to nanoseconds.
func (u Unit) Nanoseconds(number *big.Rat) *big.Rat {
	each := map[Unit]time.Duration{Seconds: time.Second, Milliseconds: time.Millisecond, Microseconds: time.Microsecond, Nanoseconds: 1}[u]
	return new(big.Rat).Mul(number, new(big.Rat).SetInt64(int64(each)))
}

// Moment returns the time that a text in this unit denotes.
func (u Unit) Moment(text string) (time.Time, bool) {
	if u == RFC3339 {
		t, ok := Moment(TokRFC3339, text)
		return t, ok && RFC3339Len(text) == len(text)
	}
	number, ok := Decimal(text)
	if !ok {
		return time.Time{}, false
	}
	ns := u.Nanoseconds(number)
	whole := new(big.Int).Quo(ns.Num(), ns.Denom())
	if !whole.IsInt64() { // beyond 2262, so it has another unit
		return time.Time{}, false
	}
	return time.Unix(0, whole.Int64()), true
}

// Decimal parses a decimal number with all its digits. It rejects numbers with thousands of digits, which no server
// sends on purpose.
func Decimal(text string) (*big.Rat, bool) {
	const most = 1000
	if len(text) > most || strings.Trim(text, "0123456789.eE+-") != "" {
		return nil, false
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if exponent, err := strconv.Atoi(text[i+1:]); err != nil || max(exponent, -exponent) > most {
			return nil, false
		}
	}
	return new(big.Rat).SetString(text)
}
