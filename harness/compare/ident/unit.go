package ident

import (
	"math/big"
	"strconv"
	"strings"
	"time"
)

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
