package jsontree

import (
	"math"
	"strconv"
	"strings"
)

// Numbers is a way to compare JSON numbers.
type Numbers byte

// The ways to compare numbers.
const (
	// Notation compares integers digit by digit, however long they are, and all others as doubles. A number with a
	// fraction or an exponent never equals one without, because many clients read 4096 and 4096.0 into different
	// types. The sign of -0 does not matter: no client keeps it, and the doubles are equal.
	Notation Numbers = iota
	Double           // by value, as doubles (RFC 8259 §6): 4096 equals 4096.0
	Exact            // by their text
)

// Equal reports whether two numbers are equal.
func (how Numbers) Equal(a, b string) bool {
	if a == b || how == Exact {
		return a == b
	}
	var room [2][32]byte
	return string(how.appendPlain(room[0][:0], a)) == string(how.appendPlain(room[1][:0], b))
}

// Plain returns a spelling that is the same for all equal numbers, and different for others.
func (how Numbers) Plain(s string) string {
	if how == Exact || how == Notation && whole(s) {
		return s
	}
	var room [32]byte
	return string(how.appendPlain(room[:0], s))
}

func (how Numbers) appendPlain(b []byte, s string) []byte {
	switch {
	case how == Double || !IsInteger(s):
		return appendDouble(b, s)
	case s == "-0":
		return append(b, '0')
	default:
		return append(b, s...)
	}
}

// IsInteger reports whether a number is written without fraction and exponent.
func IsInteger(s string) bool { return !hasExponent(s) && strings.IndexByte(s, '.') < 0 }

func hasExponent(s string) bool {
	for i := range len(s) {
		if s[i]|0x20 == 'e' {
			return true
		}
	}
	return false
}

// whole reports whether a number is an integer without sign.
func whole(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// sureDigits is how many digits every double preserves: two different decimals with so few digits are two different
// doubles.
const sureDigits = 15

// appendDouble appends a number as 0.digits×10^exponent, with the fewest digits that identify its double. A number
// that is too large or too small for a double is appended as written.
func appendDouble(b []byte, s string) []byte {
	unsigned := strings.TrimPrefix(s, "-")
	if len(unsigned) <= sureDigits && !hasExponent(unsigned) {
		before, behind, _ := strings.Cut(unsigned, ".")
		return appendDecimal(b, len(unsigned) < len(s), before, behind, 0)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) || f == 0 && !isZero(unsigned) {
		return append(b, s...)
	}
	var room [32]byte
	mantissa, exponent, _ := strings.Cut(string(strconv.AppendFloat(room[:0], math.Abs(f), 'e', -1, 64)), "e")
	before, behind, _ := strings.Cut(mantissa, ".")
	e, _ := strconv.Atoi(exponent)
	return appendDecimal(b, f < 0, before, behind, e)
}

func isZero(unsigned string) bool {
	mantissa, _, _ := strings.Cut(strings.ToLower(unsigned), "e")
	return strings.Trim(mantissa, "0.") == ""
}

// appendDecimal appends a number with the given digits before and after its point, times a power of ten.
func appendDecimal(b []byte, negative bool, before, behind string, exponent int) []byte {
	behind = strings.TrimRight(behind, "0")
	exponent += len(before)
	if before == "0" {
		digits := strings.TrimLeft(behind, "0")
		before, exponent, behind = "", exponent-1+len(digits)-len(behind), digits
	}
	if behind == "" {
		before = strings.TrimRight(before, "0")
	}
	if before == "" && behind == "" {
		return append(b, "0.0"...)
	}
	if negative {
		b = append(b, '-')
	}
	b = append(append(append(b, "0."...), before...), behind...)
	return strconv.AppendInt(append(b, 'e'), int64(exponent), 10)
}
