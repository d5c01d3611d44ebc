package jsondiff

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Volatile is a rule for values that are different on each target. Both sides must still have a value there, of the
// same type, that meets the rule.
type Volatile struct {
	At        string // a JSONPath (RFC 9535) into a body or an event's data; "": all numbers
	Kind      VolatileKind
	Unit      ident.Unit    // of a Duration; of a Time, its required notation
	Near      time.Duration // of a Time: how far it may be from the moment it was seen; 0: an hour
	Ahead     time.Duration // of a Time: how far it may be ahead of the moment it was seen; 0: as Near says
	Monotone  bool          // of a Time: it never goes back
	Stable    bool          // of a Time: it never changes for the same thing
	Since     string        // of a stable Time: the id of the step from which it must not change; "": always
	Of        string        // of a stable Time: a JSONPath from its object to what identifies the thing; "": the member id
	Digits    string        // of an RFC 3339 Time: the digits in its fraction, "3" or "any"; "": the same on both sides
	Max       time.Duration // of a Duration: the longest allowed; 0: no limit
	Key       string        // of a List: a JSONPath from an element to the value that identifies it; "": none
	Tolerance Tolerance     // of a Number or a Duration: how far the two sides may be apart
	Rule      string        // the name of the rule in Result: "lockstep.yaml:12:7"
}

// VolatileKind is how a value is volatile.
type VolatileKind string

// The kinds of volatile values.
const (
	ID   VolatileKind = "id"   // bound one to one across the whole scenario
	Time VolatileKind = "time" // near the moment it was seen, on each side
	Text VolatileKind = "text" // any string

	JSON VolatileKind = "json" // a text that contains JSON, and is compared as JSON

	Duration VolatileKind = "duration" // no longer than Max, and no further apart than Tolerance
	Number   VolatileKind = "number"   // no further apart than Tolerance
	Token    VolatileKind = "token"    // bound like an id, of the same format, and never shown
)

// List is the kind of a rule that says that the order of a list does not matter. It says nothing about the elements.
const List VolatileKind = "list"

// AllowsIDs reports whether one of the rules allows ids of any form.
func AllowsIDs(rules []Volatile) bool {
	return slices.ContainsFunc(rules, func(r Volatile) bool { return r.Kind == ID })
}

func Scalar(n *jsontree.Node) bool { return n.Kind == jsontree.String || n.Kind == jsontree.Number }

// placedRules has the rules for the values of two documents, by the JSON Pointers of each side.
type placedRules [2]map[string]*Volatile

func (r *placedRules) none() bool { return len(r[0])+len(r[1]) == 0 }

// at returns the rule for a place; nil when there is none.
func (r *placedRules) at(at *ident.Path) *Volatile {
	if rule := r.atSide(0, at); rule != nil {
		return rule
	}
	return r.atSide(1, at)
}

func (r *placedRules) atSide(side int, at *ident.Path) *Volatile {
	if len(r[side]) == 0 {
		return nil
	}
	return r[side][at.Pointer(side)]
}

// list returns the rule for the order of two lists; nil when it matters.
func (r *placedRules) list(at *ident.Path) *Volatile {
	for side := range r {
		if rule := listRule(r[side], r.pointer(side, at)); rule != nil {
			return rule
		}
	}
	return nil
}

// listRule returns the rule for the order of the list at a JSON Pointer; nil when it matters.
func listRule(rules map[string]*Volatile, ptr string) *Volatile {
	if len(rules) == 0 {
		return nil
	}
	return rules[listMark+ptr]
}

// listMark comes before the JSON Pointers of rules for lists in a map. Another rule can have the same pointer: it
// selects a single value there in other documents.
const listMark = "["

// pointer returns the JSON Pointer of a place on a side. Without rules it returns "", because then it is not needed.
func (r *placedRules) pointer(side int, at *ident.Path) string {
	if len(r[side]) == 0 {
		return ""
	}
	return at.Pointer(side)
}

// Pointers returns the places in a document that rules select, and marks these rules as applied. The rule about all
// numbers has the key allNumbers.
func Pointers(rules []Volatile, doc []byte, root *jsontree.Node, applied map[string]bool) map[string]*Volatile {
	var out map[string]*Volatile
	var value any
	for i := range rules {
		rule := &rules[i]
		if rule.At == "" {
			applied[rule.Rule] = true
			if out[allNumbers] == nil {
				ident.Put(&out, allNumbers, rule)
			}
			continue
		}
		if name := lastName(rule.At); name != "" && !bytes.Contains(doc, []byte(name)) {
			continue // cheap test: the last name in the path does not occur in the text
		}
		path, err := jsonpath.Parse(rule.At)
		if err != nil {
			continue // this was checked when the rules were read
		}
		if value == nil {
			value = root.Value()
		}
		for _, found := range path.SelectLocated(value) {
			ptr := found.Path.Pointer()
			if rule.Kind == List {
				if _, ok := found.Node.([]any); !ok {
					continue
				}
				ptr = listMark + ptr
			}
			applied[rule.Rule] = true
			if out[ptr] == nil {
				ident.Put(&out, ptr, rule)
			}
		}
	}
	return out
}

// lastName returns the member name at the end of a JSONPath: "requestID" for "$..requestID"; "" when something else is
// there.
func lastName(path string) string {
	i := strings.LastIndexByte(path, '.')
	name := path[i+1:]
	for _, c := range []byte(name) {
		if !ident.Alnum(c) && c != '_' {
			return ""
		}
	}
	return name
}

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
