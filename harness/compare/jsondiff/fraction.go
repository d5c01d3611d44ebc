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

// Whether a time of RFC 3339 has a part of a second, and in how many digits, is seen by clients that read it by hand. Of one
// time it says little: one in a thousand of a clock of milliseconds has none, when zeros are left out at the end. So what
// has been seen at one name is put together, and told when it can hardly be chance any more.

// fractionOf returns the digits of a part of a second; "" when there is none.
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

// fraction says how two times of RFC 3339 at one name are written differently, as far as the part of a second goes, unless
// that may be chance.
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
		// Times of one second are one text without a part, and as many as the other side's; which may have had one more.
		seen := max(len(lacks.without), len(has.with)-1)
		chance := math.Pow10(-has.digits * seen) // that all of these had none left
		if len(lacks.with) > 0 || len(has.without) > 0 || len(has.with) < minTimes || lacks.reported || chance > ident.MaxChance {
			continue
		}
		lacks.reported = true
		return diff.Because(diff.ValueDiffers, diff.TimeFractions, diff.Side(side), diff.Side(1-side))
	}
	return diff.Reason{}
}

// minTimes is how many times there must be before anything is said of all of them.
const minTimes = 2

// fraction says what breaks a rule about the digits of the part of a second.
func (v *Volatile) fraction(texts [2]string) diff.Reason {
	want, err := strconv.Atoi(v.Digits)
	if err != nil {
		return diff.Reason{} // any
	}
	for side, text := range texts {
		if n := len(fractionOf(text)); n != want {
			return diff.Because(diff.ValueDiffers, diff.FractionDigits, n, diff.Side(side), want)
		}
	}
	return diff.Reason{}
}

// fraction says how two times of RFC 3339 that stand for each other are written differently.
func (t *timeRules) fraction(rule *Volatile, at *ident.Path, ref, cand string) diff.Reason {
	if ident.RFC3339Len(ref) != len(ref) || ident.RFC3339Len(cand) != len(cand) || ref == "" {
		return diff.Reason{}
	}
	name := ""
	for s := at; s != nil && name == ""; s = s.Up {
		name = s.Names[0]
	}
	return t.history.fraction(rule, name, [2]string{ref, cand})
}

// ReadTime reads a text that is a time by its shape, and the digits behind its second; -1 where it is not of RFC 3339.
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
