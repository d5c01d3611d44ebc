package jsontree

import (
	"math/big"
	"strings"
)

// Equal reports whether two values are equal as JSON. The order of elements matters, that of members does not. number
// decides which numbers are equal.
func Equal(a, b *Node, number func(a, b string) bool) bool {
	if a.Kind != b.Kind {
		return false
	}
	a.Open()
	b.Open()
	switch a.Kind {
	case Number:
		return number(a.Text, b.Text)
	case Array:
		if len(a.Items) != len(b.Items) {
			return false
		}
		for i := range a.Items {
			if !Equal(a.Items[i], b.Items[i], number) {
				return false
			}
		}
		return true
	case Object:
		if len(a.Items) != len(b.Items) {
			return false
		}
		for i, name := range a.Names {
			other := b.Member(name)
			if a.Items[i] != a.Member(name) { // duplicate names must be in the same place
				other = nil
				if b.Names[i] == name {
					other = b.Items[i]
				}
			}
			if other == nil || !Equal(a.Items[i], other, number) {
				return false
			}
		}
		return true
	default:
		return a.Text == b.Text
	}
}

// EqualNumbers reports whether two JSON numbers have the same value: 1, 1.0 and 1e0 do. 9007199254740993 and
// 9007199254740992 do not, although they are the same double. A number whose exponent has more than a thousand digits
// equals only its own text, because computing with it could take minutes.
func EqualNumbers(a, b string) bool {
	if a == b {
		return true
	}
	if exponentLen(a) > maxExponent || exponentLen(b) > maxExponent {
		return false
	}
	da, db := parseDecimal(a), parseDecimal(b)
	return da.negative == db.negative && da.digits == db.digits && da.exponent.Cmp(&db.exponent) == 0
}

const maxExponent = 1000

func exponentLen(s string) int {
	for i := range len(s) {
		if s[i]|0x20 == 'e' {
			return len(s) - i - 1
		}
	}
	return 0
}

// A decimal is a number as 0.digits × 10^exponent. The digits neither begin nor end with a zero. Zero has no digits,
// whatever its sign.
type decimal struct {
	negative bool
	digits   string
	exponent big.Int
}

func parseDecimal(s string) decimal {
	var d decimal
	s, d.negative = strings.CutPrefix(s, "-")
	mantissa, exp := s, "0"
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exp = s[:i], strings.TrimPrefix(s[i+1:], "+")
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	leading := len(whole) + len(fraction) - len(digits)
	d.digits = strings.TrimRight(digits, "0")
	if d.digits == "" {
		return decimal{}
	}
	d.exponent.SetString(exp, 10)
	d.exponent.Add(&d.exponent, big.NewInt(int64(len(whole)-leading)))
	return d
}
