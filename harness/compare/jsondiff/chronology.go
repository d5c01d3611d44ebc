package jsondiff

import (
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Times are compared with the clock and with each other: two times of one object must have the same order on both
// sides. If a server says that a thing was changed before it was created, both times may still be near the clock.

// granularity is how far apart two servers may report the same moment, because of their clocks and notations.
const granularity = time.Second

// A pairedTime is a member of an object that is a time on both sides.
type pairedTime struct {
	name      string
	ref, cand *jsontree.Node
	moments   [2]time.Time
}

// timeRules compares the times of two documents, one by one and with each other.
type timeRules struct {
	in  *setting
	out *reporter
}

// chronology compares the order of the times of two objects. It skips the members in said, which have reported
// differences.
func (t *timeRules) chronology(at *ident.Path, ref, cand *jsontree.Node, said []string) {
	var times []pairedTime
	for i, name := range ref.Names {
		if !mayBeTime(ref.Items[i]) || ref.MemberAt(name, i) != ref.Items[i] || slices.Contains(said, name) {
			continue
		}
		other := cand.MemberAt(name, i)
		if other == nil || !mayBeTime(other) {
			continue
		}
		p := pairedTime{name: name, ref: ref.Items[i], cand: other}
		var rule *Volatile
		if !t.in.rules.none() {
			rule = t.in.rules.at(at.Member(name, name))
		}
		var ok [2]bool
		p.moments[0], ok[0] = timeOf(rule, p.ref)
		p.moments[1], ok[1] = timeOf(rule, p.cand)
		if ok[0] && ok[1] {
			times = append(times, p)
		}
	}
	slices.SortFunc(times, func(a, b pairedTime) int { return strings.Compare(a.name, b.name) })
	for k, b := range times {
		for _, a := range times[:k] {
			if why := t.reversed(a, b); !why.None() {
				t.out.differ(why, at.Member(b.name, b.name), b.ref, b.cand)
				return // the others probably follow from it
			}
		}
	}
}

// mayBeTime is a cheap first test. Only an HTTP date begins with a letter: "Mon, 02 Jan".
func mayBeTime(n *jsontree.Node) bool {
	return (n.Kind == jsontree.String || n.Kind == jsontree.Number) && len(n.Text) >= 10 && len(n.Text) <= 40 &&
		(n.Text[0] < 'A' || n.Text[3] == ',')
}

// timeOf reads a whole value as a time, by the rule for its place or by its shape.
func timeOf(rule *Volatile, n *jsontree.Node) (time.Time, bool) {
	switch {
	case rule != nil && rule.Kind != Time:
		return time.Time{}, false
	case rule != nil && rule.Unit != "":
		return rule.Unit.Moment(n.Text)
	}
	kind, ok := ident.WholeTime(n.Text)
	if !ok {
		return time.Time{}, false
	}
	return ident.Moment(kind, n.Text)
}

// reversed returns a reason if two times have opposite orders on the two sides. If they are the same moment on one
// side, as far as clocks tell, the other side needs more evidence. Either the names say which time comes first, or the
// times are further apart than the whole scenario took. Two equal times, such as the beginning of a minute and the
// time, show no order.
func (t *timeRules) reversed(a, b pairedTime) diff.Reason {
	var apart [2]time.Duration
	for side := range apart {
		apart[side] = b.moments[side].Sub(a.moments[side])
	}
	wrong := apart[0] < 0 && apart[1] > 0 || apart[0] > 0 && apart[1] < 0
	for side, by := range apart {
		if apart[1-side].Abs() > granularity { // the other side shows an order
			continue
		}
		byName := by < -granularity && madeBefore(a.name, b.name) || by > granularity && madeBefore(b.name, a.name)
		wrong = byName || wrong && by.Abs() > granularity+t.in.place.Seen[side].Sub(t.in.ids.Times.Sides[side].Started)
		if byName {
			break
		}
	}
	if !wrong {
		return diff.Reason{}
	}
	return diff.Because(diff.ValueDiffers, diff.TimesReversed, b.name, ident.Distance(apart[0]), a.name, ident.Distance(apart[1]))
}

// madeBefore reports whether the names say that the first time is when a thing was created, and the second one when it
// was changed.
func madeBefore(made, changed string) bool {
	changed = strings.ToLower(changed)
	return strings.Contains(strings.ToLower(made), "creat") &&
		(strings.Contains(changed, "updat") || strings.Contains(changed, "modif") || strings.Contains(changed, "chang"))
}
