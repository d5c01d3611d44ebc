package jsonwire

import (
	"math"
	"strconv"
	"strings"
)

// Integer returns the integer that a number is by value: 1e3 and 1000.0 are 1000 (decision S9). A number beyond
// ±(2⁶³−1) counts as that. It is exact: no digit is lost to floating point, and 1e999999999 costs nothing.
func (t Text) Integer() (n int64, ok bool) {
	if t.Kind() != "number" {
		return 0, false
	}
	digits, negative := strings.CutPrefix(string(t), "-")
	digits, exponent, _ := strings.Cut(strings.ToLower(digits), "e")
	whole, fraction, _ := strings.Cut(digits, ".")

	// The value is 0.<digits> × 10^magnitude, with neither leading nor trailing zeros.
	digits = whole + fraction
	magnitude := len(whole)
	trimmed := strings.TrimLeft(digits, "0")
	magnitude -= len(digits) - len(trimmed)
	digits = strings.TrimRight(trimmed, "0")
	if digits == "" {
		return 0, true
	}
	if exponent != "" {
		// Far beyond every length a body can have is as good as infinite, and safe to add to.
		const far = 1 << 40
		e, err := strconv.Atoi(exponent)
		if err != nil { // out of range
			e = far
			if exponent[0] == '-' {
				e = -far
			}
		}
		magnitude += min(max(e, -far), far)
	}

	switch {
	case magnitude < len(digits):
		return 0, false
	case magnitude > 19: // more digits than any int64
		n, ok = math.MaxInt64, true
	default:
		u, err := strconv.ParseUint(digits+strings.Repeat("0", magnitude-len(digits)), 10, 63)
		if err != nil {
			u = math.MaxInt64
		}
		n, ok = int64(u), true
	}
	if negative {
		n = -n
	}
	return n, ok
}
