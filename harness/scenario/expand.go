package scenario

import (
	"encoding/json"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// Written returns the steps of the scenario's file, and those of its teardown, as they are written, with those of fragments in
// their places. They are in the order of the script's Steps and Teardown.
func (s *Scenario) Written() (steps, teardown []*yamldoc.Node) {
	root := s.source.root()
	return root.Get("steps").Elements(), root.Get("teardown").Elements()
}

// WrittenStubs returns what the scenario's file says of its upstreams, as it is written; nil when it says nothing.
func (s *Scenario) WrittenStubs() *yamldoc.Node {
	root, _ := yamldoc.Parse(s.File, s.Text) // which has been read without a problem
	return root.Get("stubs")
}

// Expand returns what a part of a scenario's file comes to when names have these values. Names without one stay
// expressions.
func Expand(n *yamldoc.Node, env Env) json.RawMessage {
	v := parseValue(n, func(*yamldoc.Node, error) {})
	raw, err := v.Resolve(Partly{env})
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

// Partly gives names without a value an expression as their value, so that what they are part of can be shown.
type Partly struct{ Known Env }

// Lookup gives a name its value, or the expression for it.
func (p Partly) Lookup(name string) (json.RawMessage, bool) {
	if raw, ok := p.Known.Lookup(name); ok {
		return raw, true
	}
	raw, err := json.Marshal("${{ " + name + " }}")
	return raw, err == nil
}
