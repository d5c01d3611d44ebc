package jsondiff

import "github.com/lockstep-dev/lockstep/internal/jsontree"

// How a number is compared is said for a place, or for all numbers that no rule speaks of. jsontree.Notation holds
// without any rule.

// The ways to compare numbers, as kinds of Volatile. One whose At is "" is about all numbers.
const (
	Notation VolatileKind = "notation" // an integer never equals what is not written as one
	Double   VolatileKind = "double"   // by value, as doubles
	Exact    VolatileKind = "exact"    // by their text
)

var numberModes = map[VolatileKind]jsontree.Numbers{Notation: jsontree.Notation, Double: jsontree.Double, Exact: jsontree.Exact}

// ComparesNumbers reports whether a rule only says how numbers are compared: nothing about them is volatile.
func (k VolatileKind) ComparesNumbers() bool {
	_, ok := numberModes[k]
	return ok
}

// allNumbers is where the rule about all numbers stands among those that stand by JSON Pointer. It is no pointer itself.
const allNumbers = "*"

// numberMode returns how a number is compared that has this rule, or none.
func numberMode(rule *Volatile, rules map[string]*Volatile) jsontree.Numbers {
	if rule == nil || !rule.Kind.ComparesNumbers() {
		rule = rules[allNumbers]
	}
	if rule == nil {
		return jsontree.Notation
	}
	return numberModes[rule.Kind]
}
