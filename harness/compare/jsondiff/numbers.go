package jsondiff

import "github.com/lockstep-dev/lockstep/internal/jsontree"

// A rule says how to compare a number at one place, or all numbers without a rule of their own. The default is
// jsontree.Notation.

// The ways to compare numbers, as kinds of Volatile. A rule with an empty At applies to all numbers.
const (
	Notation VolatileKind = "notation" // an integer never equals a number with a fraction or an exponent
	Double   VolatileKind = "double"   // by value, as doubles
	Exact    VolatileKind = "exact"    // by their text
)

var numberModes = map[VolatileKind]jsontree.Numbers{Notation: jsontree.Notation, Double: jsontree.Double, Exact: jsontree.Exact}

// ComparesNumbers reports whether rules of this kind only say how to compare numbers, and make nothing volatile.
func (k VolatileKind) ComparesNumbers() bool {
	_, ok := numberModes[k]
	return ok
}

// allNumbers is the key of the rule about all numbers in a map by JSON Pointer. It is not a JSON Pointer.
const allNumbers = "*"

// numberMode returns how to compare a number. rule is the one for its place, or nil.
func numberMode(rule *Volatile, rules map[string]*Volatile) jsontree.Numbers {
	if rule == nil || !rule.Kind.ComparesNumbers() {
		rule = rules[allNumbers]
	}
	if rule == nil {
		return jsontree.Notation
	}
	return numberModes[rule.Kind]
}
