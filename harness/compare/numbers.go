package compare

import "github.com/lockstep-dev/lockstep/internal/jsontree"

// How a number is compared is said for a place, or for all numbers that no rule speaks of. jsontree.Notation holds
// without any rule.

// The ways to compare numbers, as kinds of Volatile. One whose At is "" is about all numbers.
const (
	Notation VolatileKind = "notation" // an integer never equals what is not written as one
	Double   VolatileKind = "double"   // by value, as doubles
	Exact    VolatileKind = "exact"    // by their text
)

var ways = map[VolatileKind]jsontree.Numbers{Notation: jsontree.Notation, Double: jsontree.Double, Exact: jsontree.Exact}

// ComparesNumbers reports whether a rule only says how numbers are compared: nothing about them is volatile.
func (k VolatileKind) ComparesNumbers() bool {
	_, ok := ways[k]
	return ok
}

// everywhere is where the rule about all numbers stands among those that stand by JSON Pointer. It is no pointer itself.
const everywhere = "*"

// wayOf returns how a number is compared that has this rule, or none.
func wayOf(rule *Volatile, rules map[string]*Volatile) jsontree.Numbers {
	if rule == nil || !rule.Kind.ComparesNumbers() {
		rule = rules[everywhere]
	}
	if rule == nil {
		return jsontree.Notation
	}
	return ways[rule.Kind]
}

// numbers says how two numbers differ; "" when they are equal, or are moments of this run.
func (d *documents) numbers(at *spot, ref, cand string) string {
	if ref == cand {
		return ""
	}
	rules := d.volatile[0]
	if rules == nil {
		rules = d.volatile[1]
	}
	how := wayOf(d.rule(at), rules)
	if how.Equal(ref, cand) {
		return ""
	}
	rk, rn := epochLen(ref)
	ck, cn := epochLen(cand)
	if rn == 0 || cn == 0 || rn < len(ref) || cn < len(cand) {
		if why, ok := d.b.fine(ref, cand, d.place); ok {
			return why
		}
		return unequal(how, ref, cand)
	}
	if why := otherUnit(rk, ck); why != "" {
		return why
	}
	p := d.place
	p.where = d.at(at)
	if why := d.b.moments(rk, ref, cand, p); why != "" {
		return "the times differ: " + why
	}
	return ""
}

// unequal says how two numbers differ that are compared in this way.
func unequal(how jsontree.Numbers, ref, cand string) string {
	if how != jsontree.Double && jsontree.Double.Equal(ref, cand) {
		switch r, c := jsontree.IsInteger(ref), jsontree.IsInteger(cand); {
		case r && !c:
			return "the numbers are written differently: the reference's as an integer, the candidate's with a fraction or an exponent"
		case c && !r:
			return "the numbers are written differently: the candidate's as an integer, the reference's with a fraction or an exponent"
		case how == jsontree.Exact:
			return "the numbers are written differently, and a rule compares them exactly"
		}
	}
	return "the numbers differ"
}
