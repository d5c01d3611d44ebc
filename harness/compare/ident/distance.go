package ident

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A time that a server generates is recognised by its distance from the moment it was seen. A time of something that
// has happened must be recent. A time in the future, such as the end of a session, may be as far ahead as the server
// likes. But it must be about equally far ahead on both sides.

// maxDistance is how far before the moment it was seen a generated time may be.
const maxDistance = time.Hour

// leeway is how much the distances of two future times may differ. Clock skew, and responses that a server caches for
// some minutes, stay below it.
const leeway = 5 * time.Minute

// Times compares times without a rule with the two runs. It notes those that it accepts although they are far from the
// moment they were seen.
type Times struct {
	Sides [2]*transcript.Transcript
	noted *notes
}

// MomentsDiff returns how two times without a rule differ.
func (t *Times) MomentsDiff(kind tokenKind, ref, cand string, p Place) diff.Reason {
	moments, why := MomentsOf(kind, ref, cand)
	if why != "" {
		return diff.Because(diff.ValueDiffers, diff.TimesDiffer, why)
	}
	if why := t.farApart(p.InZone(kind, moments), p); why != "" {
		return diff.Because(diff.ValueDiffers, diff.TimesDiffer, why)
	}
	t.note(moments, ref, cand, p)
	return diff.Reason{}
}

// farApart returns how two moments are too far from when they were seen, or from each other; "" when they are not.
func (t *Times) farApart(moments [2]time.Time, p Place) string {
	return cmp.Or(p.TooFar(moments, 0), t.Outdated(moments, p))
}

// Outdated returns a reason if the candidate's time is older than the reference's, and the reference's is from this
// scenario: a thing that was just created cannot be old. A time near the start of the candidate's process is accepted.
func (t *Times) Outdated(moments [2]time.Time, p Place) string {
	older := p.Seen[1].Sub(moments[1]) - p.Seen[0].Sub(moments[0])
	if p.MayBeOld || older <= leeway || t.Sides[0] == nil || moments[0].Sub(p.Seen[0]) > leeway {
		return ""
	}
	if moments[0].Before(t.Sides[0].Started.Truncate(time.Second)) { // a time in whole seconds may be up to a second before Started
		return ""
	}
	if start := t.Sides[1].Process; !start.IsZero() && moments[1].Sub(start).Abs() <= leeway {
		return ""
	}
	return diff.CandidateOutdated.With(Distance(moments[1].Sub(p.Seen[1])))
}

// MomentsOf parses two times. why says which sides have no valid time; "" when both have one.
func MomentsOf(kind tokenKind, ref, cand string) (moments [2]time.Time, why string) {
	var none []string
	for side, text := range [2]string{ref, cand} {
		var ok bool
		if moments[side], ok = Moment(kind, text); !ok {
			none = append(none, diff.Side(side).String()+"'s is not a valid time")
		}
	}
	return moments, strings.Join(none, ", ")
}

// TooFar returns how far two moments are from the times they were seen; "" when that is acceptable. If a rule sets
// near, both must be within it. Otherwise both must be in the last hour, or about equally far ahead, or, with MayBeOld,
// about equally old.
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

// distances describes, for each side that meant selects, how far its time is from the moment it was seen.
func distances(d [2]time.Duration, meant func(side int) bool) string {
	var out []string
	for side := range d {
		if meant(side) {
			out = append(out, fmt.Sprintf("%s's is %s it was seen", diff.Side(side), Distance(d[side])))
		}
	}
	return strings.Join(out, ", ")
}

// Distance describes how far a time is from another: "2h0m0s before", "9000 days after".
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

// InZone converts two times without a zone to UTC. It derives the zone from the reference's time and the moment when
// that was seen, and uses it for both. So the candidate's time must be in the same zone.
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

// EpochDiff compares two texts or numbers that count micro- or nanoseconds since 1970. ok is false when one of them
// does not.
func (t *Times) EpochDiff(ref, cand string, p Place) (why diff.Reason, ok bool) {
	r, c := EpochUnit(ref), EpochUnit(cand)
	switch {
	case r == "" || c == "":
		return why, false
	case r != c:
		return diff.Because(diff.ValueDiffers, diff.TimeUnits, c, r), true
	}
	var moments [2]time.Time
	moments[0], _ = r.Moment(ref)
	moments[1], _ = c.Moment(cand)
	if far := t.farApart(moments, p); far != "" {
		return diff.Because(diff.ValueDiffers, diff.TimesDiffer, far), true
	}
	return why, true
}
