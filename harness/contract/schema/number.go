package schema

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// A decimal is a JSON number as 0.digits × 10^exponent, without zeros at either end of its digits. Zero has no digits.
//
// Numbers are compared digit by digit. As doubles, 9007199254740993 would be equal to its neighbour, and 1e400 to
// infinity. Every operation takes time in proportion to the text, whatever a server sends.
type decimal struct {
	negative bool
	digits   string
	exponent int64 // limited to a range that covers all numbers in practice
}

const maxExponent = 1 << 40

func parseDecimal(s string) decimal {
	var d decimal
	s, d.negative = strings.CutPrefix(s, "-")
	mantissa, exp := s, ""
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exp = s[:i], s[i+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	leading := len(whole) + len(fraction) - len(digits)
	d.digits = strings.TrimRight(digits, "0")
	if d.digits == "" {
		return decimal{}
	}
	if exp != "" {
		// Beyond int64, the result is the nearest end of the range, and the error says nothing else.
		d.exponent, _ = strconv.ParseInt(exp, 10, 64)
		d.exponent = max(-maxExponent, min(d.exponent, maxExponent))
	}
	d.exponent += int64(len(whole) - leading)
	return d
}

// compare returns a negative number, zero or a positive number if d is less than, equal to or greater than e.
func (d decimal) compare(e decimal) int {
	if d.sign() != e.sign() {
		return cmp.Compare(d.sign(), e.sign())
	}
	order := cmp.Compare(d.exponent, e.exponent)
	if order == 0 {
		order = strings.Compare(d.digits, e.digits) // both are fractions: "15" < "2"
	}
	if d.negative {
		return -order
	}
	return order
}

// whole reports whether the number has no fraction other than zeros.
func (d decimal) whole() bool { return d.exponent >= int64(len(d.digits)) }

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// multipleOf reports whether d is a whole multiple of e. e is not zero and has at most 17 digits.
func (d decimal) multipleOf(e decimal) bool {
	if d.digits == "" {
		return true
	}
	// d = a × 10^p and e = b × 10^q, with whole a and b that do not end in 0. The quotient is whole if b divides
	// a × 10^(p-q); for p < q it never is, because a is not divisible by 10.
	shift := (d.exponent - int64(len(d.digits))) - (e.exponent - int64(len(e.digits)))
	if shift < 0 {
		return false
	}
	b, err := strconv.ParseUint(e.digits, 10, 64)
	if err != nil || b == 0 {
		return false
	}
	var rest uint64
	for _, digit := range []byte(d.digits) {
		rest = (rest*10 + uint64(digit-'0')) % b
	}
	// Each appended zero removes one factor 2 and one factor 5 of b, and b has at most 56 of them.
	for range min(shift, 64) {
		rest = rest * 10 % b
	}
	return rest == 0
}

// A bound is a number of the document. The loader reads numbers as doubles. Below 2^53, their shortest decimal form is
// what the author wrote. Beyond that, the last digits are lost, so the comparison uses doubles too.
type bound struct {
	double  float64
	decimal decimal
	exact   bool
}

func newBound(f float64) *bound {
	return &bound{f, parseDecimal(formatNumber(f)), math.Abs(f) < 1<<53}
}

func formatNumber(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

func (b *bound) compare(number string) int {
	if b.exact {
		return parseDecimal(number).compare(b.decimal)
	}
	double, _ := strconv.ParseFloat(number, 64) // a number out of range becomes infinite, as it should
	return cmp.Compare(double, b.double)
}

// isInteger reports whether the text of a JSON number is an integer. "integer […] is defined as a JSON number without a
// fraction or exponent part" (OpenAPI 3.0.3, Data Types): 1.0 and 1e2 are not integers.
func isInteger(number string) bool { return !strings.ContainsAny(number, ".eE") }
