package ident

import (
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// One comparison cannot tell an id from a constant that looks like one: it binds two fixed UUIDs in the same place just
// like two random ones. Other scenarios can tell, because a constant occurs again and a random value does not. So a
// comparison returns the values that it assumed to be generated, and package verdict checks those of a whole run.

// An Assumed is two values that the comparison took for generated ones, and the first place where both appeared.
type Assumed struct {
	Reference, Candidate string
	Class                ValueClass
	Step, Stream, Place  string // as in a Difference
	// Sent is set when the client sent both values before a target did.
	Sent bool
	// Seen is when the reference's value was seen. Unit is the finest unit that the two values need. Both are for times
	// only.
	Seen time.Time
	Unit time.Duration
}

// ValueClass is what kind of generated value the comparison assumed.
type ValueClass byte

const (
	IDClass ValueClass = iota
	PortClass
	TimeClass
)

// maxAssumed bounds how many assumed values of one comparison a run keeps.
const maxAssumed = 1000

// Assumed returns the values that were bound because of their shape, and the noted pairs.
func (b *Bindings) Assumed() []Assumed {
	var out []Assumed
	add := func(p Assumed, where Location) {
		p.Step, p.Stream, p.Place = where.step, where.stream, where.Place().String()
		if len(out) == maxAssumed || max(len(p.Reference), len(p.Candidate)) > diff.MaxShown {
			return
		}
		p.Sent = strings.HasPrefix(p.Place, "sent ") || p.Place == sentPlace && isStep(b.Times.Sides[0].Steps, p.Step)
		// The texts are slices of bodies. A copy lets the bodies be freed.
		both := p.Reference + p.Candidate
		p.Reference, p.Candidate = both[:len(p.Reference)], both[len(p.Reference):]
		out = append(out, p)
	}
	for _, key := range b.partners.order {
		if key.kind < tokUUID || key.kind >= tokMillis {
			continue // a rule declares it, or lockstep or the client chose it
		}
		partner := b.partners.of[0][key]
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

// notes has the pairs for Assumed that are not in partners.order: times that were accepted although they are far from
// the moment they were seen, and ids without a prefix that only the two texts together reveal.
type notes []notedPair

type notedPair struct {
	Assumed
	where Location
}

func (n *notes) add(a Assumed, where Location) {
	if len(*n) < maxAssumed {
		*n = append(*n, notedPair{a, where})
	}
}

// sentPlace is the place of all values that a client sends in a request.
const sentPlace = "request"

func isStep(steps []transcript.Step, id string) bool {
	return slices.ContainsFunc(steps, func(s transcript.Step) bool { return s.ID == id })
}

// note records two times that are accepted although they are far from the moment they were seen: an expiry, a date that
// a client sent, or digits that only look like a time.
func (t *Times) note(moments [2]time.Time, ref, cand string, p Place) {
	if moments[0].Sub(p.Seen[0]).Abs() > leeway {
		unit := min(unitOf(moments[0]), unitOf(moments[1]))
		t.noted.add(Assumed{Reference: ref, Candidate: cand, Class: TimeClass, Seen: p.Seen[0], Unit: unit}, p.Where)
	}
}

// unitOf returns the coarsest unit of which a moment is a whole number. Fractions of a second count as seconds, because
// servers write the same moment with different fractions.
func unitOf(t time.Time) time.Duration {
	for _, unit := range [...]time.Duration{24 * time.Hour, time.Hour, time.Minute} {
		if t.Equal(t.Truncate(unit)) {
			return unit
		}
	}
	return time.Second
}
