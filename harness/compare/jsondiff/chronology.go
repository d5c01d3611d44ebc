package jsondiff

import (
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Times are held against the clock, and against each other: of two that stand in one object the order is the same on both
// sides. A thing that one server says was changed before it was made has two times that are near the clock.

// granularity is how far the clocks and notations of two servers may make one moment two.
const granularity = time.Second

// A told time is a member of an object that is a time on both sides.
type pairedTime struct {
	name      string
	ref, cand *jsontree.Node
	moments   [2]time.Time
}

// timeRules compare the times of two documents, one by one and with each other.
type timeRules struct{ *reporter }

// chronology compares the order of the times of two objects. What is told of one of them already is not told again.
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
		if len(t.volatile[0])+len(t.volatile[1]) > 0 {
			rule = t.rule(at.Member(name, name))
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
				t.differ(why, at.Member(b.name, b.name), b.ref, b.cand)
				return // the others follow from it, as likely as not
			}
		}
	}
}

// mayBeTime is the cheap test. Only a time of HTTP begins with a letter: "Mon, 02 Jan".
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
	case ident.RFC3339Len(n.Text) == len(n.Text):
		return ident.Moment(ident.TokRFC3339, n.Text)
	case ident.HTTPDateLen(n.Text) == len(n.Text):
		return ident.Moment(ident.TokHTTPDate, n.Text)
	}
	kind, length := ident.EpochLen(n.Text)
	if length == 0 || length < len(n.Text) {
		return time.Time{}, false
	}
	return ident.Moment(kind, n.Text)
}

// reversed says that two times are the other way round on one side. Where they are one moment on a side, as far as clocks
// tell, that is certain if their names say which comes first, or if they are further apart on the other side than anything
// that the scenario did. Two times that are equal on a side, such as the beginning of a minute and the time, show no order.
func (t *timeRules) reversed(a, b pairedTime) diff.Reason {
	var apart [2]time.Duration
	for side := range apart {
		apart[side] = b.moments[side].Sub(a.moments[side])
	}
	wrong := apart[0] < 0 && apart[1] > 0 || apart[0] > 0 && apart[1] < 0
	for side, by := range apart {
		if apart[1-side].Abs() > granularity { // the order is seen on the other side
			continue
		}
		byName := by < -granularity && madeBefore(a.name, b.name) || by > granularity && madeBefore(b.name, a.name)
		wrong = byName || wrong && by.Abs() > granularity+t.place.Seen[side].Sub(t.ids.Sides[side].Started)
		if byName {
			break
		}
	}
	if !wrong {
		return diff.Reason{}
	}
	return diff.Because(diff.ValueDiffers, diff.TimesReversed, b.name, ident.Distance(apart[0]), a.name, ident.Distance(apart[1]))
}

// madeBefore reports whether names say that a time is the one at which a thing was made, and another one at which it was
// changed.
func madeBefore(made, changed string) bool {
	changed = strings.ToLower(changed)
	return strings.Contains(strings.ToLower(made), "creat") &&
		(strings.Contains(changed, "updat") || strings.Contains(changed, "modif") || strings.Contains(changed, "chang"))
}
