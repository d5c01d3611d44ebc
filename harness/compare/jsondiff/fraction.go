package jsondiff

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Clients that parse RFC 3339 by hand depend on whether a time has a fraction of a second, and on its number of digits.
// One time proves little: a clock of milliseconds has no fraction once in a thousand times, if trailing zeros are left
// out. So the times of each member name are collected, and a difference is reported once it is too unlikely to be
// chance.

// fractionOf returns the digits of a fraction of a second; "" when there is none.
func fractionOf(text string) string {
	_, behind, ok := strings.Cut(text, ".")
	if !ok {
		return ""
	}
	n := 0
	for n < len(behind) && ident.Digit(behind[n]) {
		n++
	}
	return behind[:n]
}

// fraction returns how the fractions of two RFC 3339 times differ in notation, unless that may be chance. name is the
// member name of both.
func (h *history) fraction(rule *Volatile, name string, texts [2]string) diff.Reason {
	if rule != nil && rule.Digits != "" {
		return rule.fraction(texts)
	}
	seen := h.fractions[name]
	if seen == nil {
		seen = &[2]fractions{}
		ident.Put(&h.fractions, name, seen)
	}
	for side, text := range texts {
		f := &seen[side]
		if f.with == nil {
			f.with, f.without = map[string]bool{}, map[string]bool{}
		}
		if part := fractionOf(text); part != "" {
			f.with[text] = true
			f.digits = max(f.digits, len(strings.TrimRight(part, "0")))
		} else {
			f.without[text] = true
		}
	}
	for side := range seen {
		lacks, has := &seen[side], &seen[1-side]
		// Without fractions, all times of one second are the same text. So the other side's texts count, too, less one
		// that this side may lack.
		seen := max(len(lacks.without), len(has.with)-1)
		chance := math.Pow10(-has.digits * seen) // that all of these fractions were zero
		if len(lacks.with) > 0 || len(has.without) > 0 || len(has.with) < minTimes || lacks.reported || chance > ident.MaxChance {
			continue
		}
		lacks.reported = true
		return diff.Because(diff.ValueDiffers, diff.TimeFractions, diff.Side(side), diff.Side(1-side))
	}
	return diff.Reason{}
}

// minTimes is how many times with a fraction the other side needs before anything is reported.
const minTimes = 2

// fraction returns which time breaks the rule about the number of digits in a fraction.
func (v *Volatile) fraction(texts [2]string) diff.Reason {
	want, err := strconv.Atoi(v.Digits)
	if err != nil {
		return diff.Reason{} // "any"
	}
	for side, text := range texts {
		if n := len(fractionOf(text)); n != want {
			return diff.Because(diff.ValueDiffers, diff.FractionDigits, n, diff.Side(side), want)
		}
	}
	return diff.Reason{}
}

// fraction returns how the fractions of two corresponding RFC 3339 times differ in notation.
func (t *timeRules) fraction(rule *Volatile, at *ident.Path, ref, cand string) diff.Reason {
	if ident.RFC3339Len(ref) != len(ref) || ident.RFC3339Len(cand) != len(cand) || ref == "" {
		return diff.Reason{}
	}
	name := ""
	for s := at; s != nil && name == ""; s = s.Up {
		name = s.Names[0]
	}
	return t.in.history.fraction(rule, name, [2]string{ref, cand})
}

// ReadTime parses a text with the shape of a time. digits is the length of its fraction; -1 when it is not RFC 3339.
func ReadTime(text string) (moment time.Time, digits int, ok bool) {
	n := &jsontree.Node{Kind: jsontree.String, Text: text}
	if !mayBeTime(n) {
		return moment, 0, false
	}
	moment, ok = timeOf(nil, n)
	if ident.RFC3339Len(text) != len(text) {
		return moment, -1, ok
	}
	return moment, len(fractionOf(text)), ok
}
