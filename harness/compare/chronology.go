package compare

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Times are held against the clock, and against each other: of two that stand in one object the order is the same on both
// sides. A thing that one server says was changed before it was made has two times that are near the clock.

// granularity is how far the clocks and notations of two servers may make one moment two.
const granularity = time.Second

// A told time is a member of an object that is a time on both sides.
type toldTime struct {
	name      string
	ref, cand *jsontree.Node
	moments   [2]time.Time
}

// chronology compares the order of the times of two objects. What is told of one of them already is not told again.
func (d *documents) chronology(at *spot, ref, cand *jsontree.Node, said []string) {
	var times []toldTime
	for i, name := range ref.Names {
		if !mayBeTime(ref.Items[i]) || ref.MemberAt(name, i) != ref.Items[i] || slices.Contains(said, name) {
			continue
		}
		other := cand.MemberAt(name, i)
		if other == nil || !mayBeTime(other) {
			continue
		}
		t := toldTime{name: name, ref: ref.Items[i], cand: other}
		var rule *Volatile
		if len(d.volatile[0])+len(d.volatile[1]) > 0 {
			rule = d.rule(at.member(name, name))
		}
		var ok [2]bool
		t.moments[0], ok[0] = momentOf(rule, t.ref)
		t.moments[1], ok[1] = momentOf(rule, t.cand)
		if ok[0] && ok[1] {
			times = append(times, t)
		}
	}
	slices.SortFunc(times, func(a, b toldTime) int { return strings.Compare(a.name, b.name) })
	for k, b := range times {
		for _, a := range times[:k] {
			if why := d.reversed(a, b); why != "" {
				d.differ(ValueDiffers, at.member(b.name, b.name), b.ref, b.cand, why)
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

// momentOf reads a whole value as a time, by the rule for its place or by its shape.
func momentOf(rule *Volatile, n *jsontree.Node) (time.Time, bool) {
	switch {
	case rule != nil && rule.Kind != Time:
		return time.Time{}, false
	case rule != nil && rule.Unit != "":
		return rule.Unit.moment(n.Text)
	case rfc3339Len(n.Text) == len(n.Text):
		return moment(tokRFC3339, n.Text)
	case httpDateLen(n.Text) == len(n.Text):
		return moment(tokHTTPDate, n.Text)
	}
	kind, length := epochLen(n.Text)
	if length == 0 || length < len(n.Text) {
		return time.Time{}, false
	}
	return moment(kind, n.Text)
}

// reversed says that two times are the other way round on one side. Where they are one moment on a side, as far as clocks
// tell, that is certain if their names say which comes first, or if they are further apart on the other side than anything
// that the scenario did. Two times that are equal on a side, such as the beginning of a minute and the time, show no order.
func (d *documents) reversed(a, b toldTime) string {
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
		wrong = byName || wrong && by.Abs() > granularity+d.place.seen[side].Sub(d.b.sides[side].Started)
		if byName {
			break
		}
	}
	if !wrong {
		return ""
	}
	return fmt.Sprintf("the times of one thing are in another order: %s is %s %s in the reference's, and %s in the candidate's", b.name, distance(apart[0]), a.name, distance(apart[1]))
}

// madeBefore reports whether names say that a time is the one at which a thing was made, and another one at which it was
// changed.
func madeBefore(made, changed string) bool {
	changed = strings.ToLower(changed)
	return strings.Contains(strings.ToLower(made), "creat") &&
		(strings.Contains(changed, "updat") || strings.Contains(changed, "modif") || strings.Contains(changed, "chang"))
}
