package verdict

import (
	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A message identifies a message that violations are about.
type message struct {
	of              *transcript.Transcript
	step, stream    string
	exchange, event int
}

// declaredPlaces finds out which values are covered by a rule. It keeps the places of one message, because the
// violations of a message follow one another.
type declaredPlaces struct {
	rules *compare.Rules
	of    message
	in    func(place string) bool
}

// has reports whether a rule covers the value that breaks the contract.
func (d *declaredPlaces) has(t *transcript.Transcript, v *contract.Violation) bool {
	if m := (message{t, v.Step, v.Stream, v.Exchange, v.Event}); d.in == nil || m != d.of {
		d.of, d.in = m, d.placesIn(t, v)
	}
	return d.in(v.Place)
}

// placesIn returns a function that reports whether a rule covers a place of the message that breaks the contract.
func (d *declaredPlaces) placesIn(t *transcript.Transcript, v *contract.Violation) func(place string) bool {
	for _, s := range t.Streams {
		if v.Stream != "" && s.Name == v.Stream && v.Event < len(s.Events) {
			return d.rules.DeclaredInEvent(s.Step, &s.Events[v.Event])
		}
	}
	for i := range t.Steps {
		if s := &t.Steps[i]; s.ID == v.Step && v.Stream == "" && v.Exchange < len(s.Exchanges) && s.Exchanges[v.Exchange].Response != nil {
			return d.rules.Declared(s.ID, s.Exchanges[v.Exchange].Response)
		}
	}
	return func(string) bool { return false }
}
