package compare

import (
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// One comparison cannot tell an id from a constant that looks like one: two fixed UUIDs in one place are bound to each
// other like two drawn ones. Other scenarios can: a constant repeats, and what is drawn does not. So a comparison says
// which values it has let stand beside each other, and package verdict looks at those of a whole run.

// A Beside is two values that count as made up, where they first stood in the same place.
type Beside struct {
	Reference, Candidate string
	Class                MadeUp
	Step, Stream, Place  string // as in a Difference
	// Sent is set when the client said both before a target did.
	Sent bool
	// Seen is when the reference's was seen, and Unit the finest step that the two are written in. Both are for times only.
	Seen time.Time
	Unit time.Duration
}

// MadeUp is what a value counts as.
type MadeUp byte

// What values count as.
const (
	AnID MadeUp = iota
	APort
	ATime
)

// mostBeside bounds how many values of one comparison a run keeps.
const mostBeside = 1000

// beside returns what has been bound by its shape, and the times that lie far from the moment they were seen.
func (b *bindings) beside() []Beside {
	var out []Beside
	add := func(p Beside, where location) {
		if p.Step, p.Stream, p.Place = b.parts(where); p.Step == "" || len(out) == mostBeside || max(len(p.Reference), len(p.Candidate)) > most {
			return
		}
		p.Sent = p.Place == sentPlace && isStep(b.sides[0].Steps, p.Step)
		// The texts are slices of bodies. A copy lets the bodies be freed.
		both := p.Reference + p.Candidate
		p.Reference, p.Candidate = both[:len(p.Reference)], both[len(p.Reference):]
		out = append(out, p)
	}
	for _, key := range b.order {
		if key.kind < tokUUID || key.kind >= tokMillis {
			continue // a rule declares it, or lockstep has given it
		}
		partner := b.forward[key]
		p := Beside{Reference: key.value, Candidate: partner.value, Class: AnID}
		if key.kind == tokPort {
			p.Class = APort
		}
		add(p, partner.where)
	}
	for _, n := range b.noted {
		add(n.Beside, n.where)
	}
	return out
}

// A notedPair is two values that are not told from others by how they are bound.
type notedPair struct {
	Beside
	where location
}

// sentPlace is where a request has what the client says.
const sentPlace = "request"

// parts takes a location apart: the step, the stream, and the place in its message.
func (b *bindings) parts(l location) (step, stream, place string) {
	text := l.String()
	if rest, ok := strings.CutPrefix(text, "step "); ok {
		for s := range b.sides[0].AllSteps() {
			if place, ok := strings.CutPrefix(rest, s.ID); ok && strings.HasPrefix(place, " ") {
				return s.ID, "", place[1:]
			}
		}
	}
	if rest, ok := strings.CutPrefix(text, "stream "); ok {
		for _, s := range b.sides[0].Streams {
			if place, ok := strings.CutPrefix(rest, s.Name+" "); ok {
				return s.Step, s.Name, place
			}
		}
	}
	return "", "", ""
}

func isStep(steps []transcript.Step, id string) bool { return counterpart(steps, 0, id) != nil }

// noteTime keeps two times that are let pass although they are not of the moment in which they were seen: an expiry, a
// date that a client has sent, or digits that only look like a time.
func (b *bindings) noteTime(moments [2]time.Time, ref, cand string, p place) {
	if len(b.noted) == mostBeside || moments[0].Sub(p.seen[0]).Abs() <= leeway {
		return
	}
	b.noted = append(b.noted, notedPair{
		Beside{Reference: ref, Candidate: cand, Class: ATime, Seen: p.seen[0], Unit: min(unitOf(moments[0]), unitOf(moments[1]))}, p.where,
	})
}

// unitOf returns the coarsest unit in which a moment is a whole number. What is finer than a second is a second: servers
// write one moment with different fractions.
func unitOf(t time.Time) time.Duration {
	for _, unit := range [...]time.Duration{24 * time.Hour, time.Hour, time.Minute} {
		if t.Equal(t.Truncate(unit)) {
			return unit
		}
	}
	return time.Second
}
