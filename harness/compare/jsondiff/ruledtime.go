package jsondiff

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// time compares two values that a rule declares as times. They must have the same notation, and be near the moments
// they were seen.
func (t *timeRules) time(rule *Volatile, at *ident.Path, ref, cand string) diff.Reason {
	moments, why := t.ruledMoments(rule, ref, cand)
	if why.None() {
		why = t.fraction(rule, at, ref, cand)
	}
	if why.None() {
		why = t.checkMoments(rule, moments)
	}
	return why
}

// ruledMoments parses two values that a rule declares as times. Without a unit, both must have the same notation.
func (t *timeRules) ruledMoments(rule *Volatile, ref, cand string) (moments [2]time.Time, why diff.Reason) {
	if rule.Unit != "" {
		for side, text := range [2]string{ref, cand} {
			var ok bool
			if moments[side], ok = rule.Unit.Moment(text); !ok {
				return moments, diff.Because(diff.ValueDiffers, diff.NoTimeInUnit, diff.Side(side), rule.Unit)
			}
		}
		return moments, why
	}
	rt, ct := ident.Scan(ref, nil), ident.Scan(cand, nil)
	if len(rt) != 1 || !rt[0].Kind.IsTime() || rt[0].End-rt[0].Start != len(ref) {
		return moments, diff.Because(diff.ValueDiffers, diff.NoTime, diff.Side(0))
	}
	if !ident.SameShape(ref, rt, cand, ct) {
		if len(ct) == 1 {
			why = ident.OtherUnit(rt[0].Kind, ct[0].Kind)
		}
		if why.None() {
			why = diff.Because(diff.ValueDiffers, diff.TimeNotation)
		}
		return moments, why
	}
	moments, far := ident.MomentsOf(rt[0].Kind, ref, cand)
	if far == "" {
		moments = t.in.place.InZone(rt[0].Kind, moments)
		far = t.in.place.TooFar(moments, rule.Near)
	}
	if far != "" {
		why = diff.Because(diff.ValueDiffers, diff.TimeNotNear, far)
	}
	return moments, why
}

// checkMoments checks that the moments of two times are near, not ahead, and do not go back.
func (t *timeRules) checkMoments(rule *Volatile, moments [2]time.Time) diff.Reason {
	far := t.in.place.TooFar(moments, rule.Near)
	if far == "" && rule.Near == 0 {
		far = t.in.ids.Times.Outdated(moments, t.in.place)
	}
	var ahead, back []string
	for side, moment := range moments {
		if by := moment.Sub(t.in.place.Seen[side]); rule.Ahead > 0 && by > rule.Ahead {
			ahead = append(ahead, fmt.Sprintf("%s's by %s", diff.Side(side), by.Round(time.Millisecond)))
		}
		if by := t.wentBack(rule, side, moment); by > 0 {
			back = append(back, fmt.Sprintf("%s's by %s", diff.Side(side), by))
		}
	}
	switch {
	case far != "":
		return diff.Because(diff.ValueDiffers, diff.TimeNotNear, far)
	case len(ahead) > 0:
		return diff.Because(diff.ValueDiffers, diff.TimeAhead, strings.Join(ahead, ", "))
	case len(back) > 0:
		return diff.Because(diff.ValueDiffers, diff.TimeBack, strings.Join(back, ", "))
	}
	return diff.Reason{}
}

// wentBack returns how far a time is before the previous one; 0 when it is not, or when the rule does not mind.
func (t *timeRules) wentBack(rule *Volatile, side int, moment time.Time) time.Duration {
	if !rule.Monotone || t.in.place.Timeline == "" {
		return 0
	}
	line := timeline{rule.At, t.in.place.Timeline}
	last := t.in.history.last[line]
	if last == nil {
		last = &[2]latest{}
		ident.Put(&t.in.history.last, line, last)
	}
	before := last[side]
	if t.in.place.Seen[side].Before(before.seen) {
		return 0 // an event of a stream that is compared after a later one
	}
	if moment.Before(before.moment) {
		return before.moment.Sub(moment)
	}
	last[side] = latest{moment, t.in.place.Seen[side]}
	return 0
}

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
