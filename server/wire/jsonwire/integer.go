package jsonwire

import (
	"math"
	"strconv"
)

// Integer returns the integer value of a number: 1e3 and 1000.0 are 1000 (decision S9). Numbers are doubles: digits
// beyond their precision are ignored, and ok is false for a number beyond their range. A number beyond ±(2⁶³−1)
// counts as that limit.
func (t Text) Integer() (n int64, ok bool) {
	if t.Kind() != "number" {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(t), 64)
	switch {
	case err != nil || f != math.Trunc(f):
		return 0, false
	case f >= math.MaxInt64:
		return math.MaxInt64, true
	case f <= -math.MaxInt64:
		return -math.MaxInt64, true
	}
	return int64(f), true
}
