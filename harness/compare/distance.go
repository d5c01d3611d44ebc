package compare

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// A time that a server makes up is known by its distance from the moment it was seen. What has happened, happened lately.
// What is to come, such as the end of a session, may lie as far ahead as the server likes: as far as on the other side.

// nearness is how far from the moment it was seen a generated time may lie.
const nearness = time.Hour

// leeway is by how much two times ahead of the moments they were seen may differ in their distance. Clocks that are not
// set alike, and answers that a server keeps for some minutes, stay below it.
const leeway = 5 * time.Minute

// moments says how two times without a rule differ; "" when they do not. Those that are let pass although they are not of
// the moment are noted, see noteTime.
func (b *bindings) moments(kind tokenKind, ref, cand string, p place) string {
	moments, why := momentsOf(kind, ref, cand)
	if why != "" {
		return why
	}
	zoned := p.zoned(kind, moments)
	if why := cmp.Or(p.astray(zoned, 0), b.outdated(zoned, p)); why != "" {
		return why
	}
	b.noteTime(moments, ref, cand, p)
	return ""
}

// outdated says that the candidate's time is older than the reference's, which is of this scenario: what has just been made
// was not made an hour ago. A time of the candidate's own start may be.
func (b *bindings) outdated(moments [2]time.Time, p place) string {
	older := p.seen[1].Sub(moments[1]) - p.seen[0].Sub(moments[0])
	if p.alike || older <= leeway || b.sides[0] == nil || moments[0].Sub(p.seen[0]) > leeway {
		return ""
	}
	if moments[0].Before(b.sides[0].Started.Truncate(time.Second)) { // in which a time in whole seconds lies
		return ""
	}
	if start := b.sides[1].Process; !start.IsZero() && moments[1].Sub(start).Abs() <= leeway {
		return ""
	}
	return fmt.Sprintf("the reference's is of this scenario, and the candidate's is %s it was seen", distance(moments[1].Sub(p.seen[1])))
}

// momentsOf reads two times, and reports which side has none.
func momentsOf(kind tokenKind, ref, cand string) (moments [2]time.Time, why string) {
	var none []string
	for side, text := range [2]string{ref, cand} {
		var ok bool
		if moments[side], ok = moment(kind, text); !ok {
			none = append(none, sideNames[side]+"'s is none")
		}
	}
	return moments, strings.Join(none, ", ")
}

// astray says how far two moments lie from the times they were seen; "" when a rule allows it, which is absolute, or, near
// being 0, when both lie near, or equally far ahead.
func (p place) astray(moments [2]time.Time, near time.Duration) string {
	d := [2]time.Duration{moments[0].Sub(p.seen[0]), moments[1].Sub(p.seen[1])}
	between, ahead := (d[0] - d[1]).Abs(), max(d[0], d[1]) > leeway
	switch {
	case near > 0:
		return sentence(d, func(side int) bool { return d[side].Abs() > near })
	case ahead && between <= leeway || p.alike && !ahead && between <= nearness:
		return ""
	case max(d[0].Abs(), d[1].Abs()) <= nearness && !ahead:
		return ""
	case max(d[0].Abs(), d[1].Abs()) <= nearness || distance(d[0]) == distance(d[1]):
		return sentence(d, func(int) bool { return true }) + fmt.Sprintf(", which are %s apart", between.Round(time.Second))
	}
	return sentence(d, func(side int) bool { return d[side].Abs() > nearness })
}

// sentence says of each side that is meant how far its time lies from the moment it was seen.
func sentence(d [2]time.Duration, meant func(side int) bool) string {
	var out []string
	for side := range d {
		if meant(side) {
			out = append(out, fmt.Sprintf("%s's is %s it was seen", sideNames[side], distance(d[side])))
		}
	}
	return strings.Join(out, ", ")
}

var sideNames = [2]string{"the reference", "the candidate"}

// distance says how far a time lies from another: "2h0m0s before", "9000 days after".
func distance(d time.Duration) string {
	const day = 24 * time.Hour
	word := "after"
	if d < 0 {
		word = "before"
	}
	if d = d.Abs(); d >= 2*day {
		return fmt.Sprintf("%d days %s", d.Round(day)/day, word)
	}
	if d >= 2*time.Minute {
		return d.Round(time.Minute).String() + " " + word
	}
	return d.Round(time.Millisecond).String() + " " + word
}
