package ident

import (
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// One comparison cannot tell an id from a constant that looks like one: two fixed UUIDs in one place are bound to each
// other like two drawn ones. Other scenarios can: a constant repeats, and what is drawn does not. So a comparison says
// which values it has let stand beside each other, and package verdict looks at those of a whole run.

// A Assumed is two values that count as made up, where they first stood in the same place.
type Assumed struct {
	Reference, Candidate string
	Class                ValueClass
	Step, Stream, Place  string // as in a Difference
	// Sent is set when the client said both before a target did.
	Sent bool
	// Seen is when the reference's was seen, and Unit the finest step that the two are written in. Both are for times only.
	Seen time.Time
	Unit time.Duration
}

// ValueClass is what a value counts as.
type ValueClass byte

// What values count as.
const (
	IDClass ValueClass = iota
	PortClass
	TimeClass
)

// maxAssumed bounds how many values of one comparison a run keeps.
const maxAssumed = 1000

// Assumed returns what has been bound by its shape, and the times that lie far from the moment they were seen.
func (b *Bindings) Assumed() []Assumed {
	var out []Assumed
	add := func(p Assumed, where Location) {
		p.Step, p.Stream, p.Place = where.step, where.stream, where.Place().String()
		if len(out) == maxAssumed || max(len(p.Reference), len(p.Candidate)) > diff.MaxShown {
			return
		}
		p.Sent = p.Place == sentPlace && isStep(b.Sides[0].Steps, p.Step)
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
		p := Assumed{Reference: key.value, Candidate: partner.value, Class: IDClass}
		if key.kind == tokPort {
			p.Class = PortClass
		}
		add(p, partner.where)
	}
	for _, n := range b.noted {
		add(n.Assumed, n.where)
	}
	return out
}

// A notedPair is two values that are not told from others by how they are bound.
type notedPair struct {
	Assumed
	where Location
}

// sentPlace is where a request has what the client says.
const sentPlace = "request"

func isStep(steps []transcript.Step, id string) bool {
	return slices.ContainsFunc(steps, func(s transcript.Step) bool { return s.ID == id })
}

// noteTime keeps two times that are let pass although they are not of the moment in which they were seen: an expiry, a
// date that a client has sent, or digits that only look like a time.
func (t *times) noteTime(moments [2]time.Time, ref, cand string, p Place) {
	if len(t.noted) == maxAssumed || moments[0].Sub(p.Seen[0]).Abs() <= leeway {
		return
	}
	t.noted = append(t.noted, notedPair{
		Assumed{Reference: ref, Candidate: cand, Class: TimeClass, Seen: p.Seen[0], Unit: min(unitOf(moments[0]), unitOf(moments[1]))}, p.Where,
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
