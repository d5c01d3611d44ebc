package scenario

import (
	"encoding/json"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// Written returns the steps in the scenario's file, and those of its teardown, as they are written. The steps of
// fragments replace the steps that use them. They have the order of the script's Steps and Teardown.
func (s *Scenario) Written() (steps, teardown []*yamldoc.Node) {
	root := s.source.root()
	return root.Get("steps").Elements(), root.Get("teardown").Elements()
}

// WrittenStubs returns what the scenario's file says about its upstreams, or nil.
func (s *Scenario) WrittenStubs() *yamldoc.Node {
	root, _ := yamldoc.Parse(s.File, s.Text) // the file has been parsed before without a problem
	return root.Get("stubs")
}

// Expand returns the value of a part of a scenario's file for these values of names. Names without a value stay
// expressions.
func Expand(n *yamldoc.Node, env Env) json.RawMessage {
	v := parseValue(n, func(*yamldoc.Node, error) {})
	raw, err := v.Resolve(Partly{env})
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

// Partly gives a name without a value its own expression as its value. So what contains the name can be shown.
type Partly struct{ Known Env }

func (p Partly) Lookup(name string) (json.RawMessage, bool) {
	if raw, ok := p.Known.Lookup(name); ok {
		return raw, true
	}
	raw, err := json.Marshal("${{ " + name + " }}")
	return raw, err == nil
}
