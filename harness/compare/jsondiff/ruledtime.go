package jsondiff

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
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
