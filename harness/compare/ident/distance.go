package ident

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A time that a server makes up is known by its distance from the moment it was seen. What has happened, happened lately.
// What is to come, such as the end of a session, may lie as far ahead as the server likes: as far as on the other side.

// maxDistance is how far from the moment it was seen a generated time may lie.
const maxDistance = time.Hour

// leeway is by how much two times ahead of the moments they were seen may differ in their distance. Clocks that are not
// set alike, and answers that a server keeps for some minutes, stay below it.
const leeway = 5 * time.Minute

// times are the two runs that moments are held against, and the pairs that need a second look over the whole run.
type times struct {
	Sides [2]*transcript.Transcript
	// noted are times that were let pass although they lie far from the moment they were seen, and ids without a prefix that
	// only the two texts together show.
	noted []notedPair
}

// MomentsDiff says how two times without a rule differ. Those that are let pass although they are not of
// the moment are noted, see noteTime.
func (t *times) MomentsDiff(kind tokenKind, ref, cand string, p Place) diff.Reason {
	moments, why := MomentsOf(kind, ref, cand)
	if why != "" {
		return diff.Because(diff.ValueDiffers, diff.TimesDiffer, why)
	}
	if why := t.farApart(p.InZone(kind, moments), p); why != "" {
		return diff.Because(diff.ValueDiffers, diff.TimesDiffer, why)
	}
	t.noteTime(moments, ref, cand, p)
	return diff.Reason{}
}

// farApart says how two moments lie too far from when they were seen, or from each other; "" when they do not.
func (t *times) farApart(moments [2]time.Time, p Place) string {
	return cmp.Or(p.TooFar(moments, 0), t.Outdated(moments, p))
}

// Outdated says that the candidate's time is older than the reference's, which is of this scenario: what has just been made
// was not made an hour ago. A time of the candidate's own start may be.
func (t *times) Outdated(moments [2]time.Time, p Place) string {
	older := p.Seen[1].Sub(moments[1]) - p.Seen[0].Sub(moments[0])
	if p.MayBeOld || older <= leeway || t.Sides[0] == nil || moments[0].Sub(p.Seen[0]) > leeway {
		return ""
	}
	if moments[0].Before(t.Sides[0].Started.Truncate(time.Second)) { // in which a time in whole seconds lies
		return ""
	}
	if start := t.Sides[1].Process; !start.IsZero() && moments[1].Sub(start).Abs() <= leeway {
		return ""
	}
	return diff.CandidateOutdated.With(Distance(moments[1].Sub(p.Seen[1])))
}

// MomentsOf reads two times, and reports which side has none.
func MomentsOf(kind tokenKind, ref, cand string) (moments [2]time.Time, why string) {
	var none []string
	for side, text := range [2]string{ref, cand} {
		var ok bool
		if moments[side], ok = Moment(kind, text); !ok {
			none = append(none, diff.Side(side).String()+"'s is none")
		}
	}
	return moments, strings.Join(none, ", ")
}

// TooFar says how far two moments lie from the times they were seen; "" when a rule allows it, which is absolute, or, near
// being 0, when both lie near, or equally far ahead.
func (p Place) TooFar(moments [2]time.Time, near time.Duration) string {
	d := [2]time.Duration{moments[0].Sub(p.Seen[0]), moments[1].Sub(p.Seen[1])}
	between, ahead := (d[0] - d[1]).Abs(), max(d[0], d[1]) > leeway
	switch {
	case near > 0:
		return distances(d, func(side int) bool { return d[side].Abs() > near })
	case ahead && between <= leeway || p.MayBeOld && !ahead && between <= maxDistance:
		return ""
	case max(d[0].Abs(), d[1].Abs()) <= maxDistance && !ahead:
		return ""
	case max(d[0].Abs(), d[1].Abs()) <= maxDistance || Distance(d[0]) == Distance(d[1]):
		return distances(d, func(int) bool { return true }) + fmt.Sprintf(", which are %s apart", between.Round(time.Second))
	}
	return distances(d, func(side int) bool { return d[side].Abs() > maxDistance })
}

// distances says of each side that is meant how far its time lies from the moment it was seen.
func distances(d [2]time.Duration, meant func(side int) bool) string {
	var out []string
	for side := range d {
		if meant(side) {
			out = append(out, fmt.Sprintf("%s's is %s it was seen", diff.Side(side), Distance(d[side])))
		}
	}
	return strings.Join(out, ", ")
}

// Distance says how far a time lies from another: "2h0m0s before", "9000 days after".
func Distance(d time.Duration) string {
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

// InZone puts two times without a zone into the one that the reference's seems to be of, by the moment it was seen. So the
// candidate's must be of that zone, too.
func (p Place) InZone(kind tokenKind, moments [2]time.Time) [2]time.Time {
	const step, farthest = 15 * time.Minute, 14 * time.Hour
	if !kind.zoneless() {
		return moments
	}
	zone := moments[0].Sub(p.Seen[0]).Round(step)
	if zone.Abs() > farthest {
		return moments
	}
	return [2]time.Time{moments[0].Add(-zone), moments[1].Add(-zone)}
}
