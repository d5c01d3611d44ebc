package yamldoc

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// passes reports whether a value satisfies the rule.
func (r *rule) passes(n *Node) bool {
	if r.never || !r.hasKind(n) || !r.hasWord(n) || r.ref != nil && !r.ref.passes(n) || !r.passesOwn(n) {
		return false
	}
	branch := r.branch(n)
	return !slices.ContainsFunc(r.all, func(r *rule) bool { return !r.passes(n) }) && (r.any == nil || r.passesAny(n)) &&
		(branch == nil || branch.passes(n))
}

func (r *rule) passesOwn(n *Node) bool {
	switch n.Kind {
	case Number:
		return r.beyond(n.Text) == nil
	case String:
		return r.longEnough(n.Text) && (r.pattern == nil || r.pattern.MatchString(n.Text))
	case List:
		return len(n.Items) >= r.minItems && (r.items == nil || !slices.ContainsFunc(n.Items, func(item *Node) bool { return !r.items.passes(item) }))
	case Map:
		return r.passesMap(n)
	default:
		return true
	}
}

func (r *rule) passesMap(n *Node) bool {
	if len(n.Items) < r.minEntries || len(r.missing(n)) > 0 {
		return false
	}
	for i, k := range n.Keys {
		if of := r.of(k.Text); r.names != nil && !r.names.passes(k) || of != nil && !of.passes(n.Items[i]) {
			return false
		}
	}
	return true
}

func (r *rule) passesAny(n *Node) bool {
	return slices.ContainsFunc(r.any, func(r *rule) bool { return r.passes(n) })
}

// branch returns the rule that the condition selects for a value, or nil if there is none.
func (r *rule) branch(n *Node) *rule {
	switch {
	case r.when == nil:
		return nil
	case n.Kind == Map && slices.ContainsFunc(r.when, func(key string) bool { return n.Get(key) == nil }):
		return r.orElse
	default:
		return r.then
	}
}

// hasKind reports whether a value has an allowed type.
func (r *rule) hasKind(n *Node) bool {
	return r.kinds == nil || slices.Contains(r.kinds, n.Kind) && (n.Kind != Number || !r.integer || isInteger(n.Text))
}

// hasWord reports whether a value is one of the allowed values.
func (r *rule) hasWord(n *Node) bool {
	return r.words == nil || n.Kind == r.wordKind && slices.ContainsFunc(r.words, func(word string) bool {
		return word == n.Text || n.Kind == Number && jsontree.EqualNumbers(word, n.Text)
	})
}

func (r *rule) longEnough(text string) bool {
	return r.minLength == 0 || utf8.RuneCountInString(text) >= r.minLength
}

// missing returns the required keys that a map lacks.
func (r *rule) missing(n *Node) (keys []string) {
	if n.Kind != Map {
		return nil
	}
	for _, key := range r.required {
		if n.Get(key) == nil {
			keys = append(keys, key)
		}
	}
	return keys
}

// of returns the rule for the value of a key, or nil.
func (r *rule) of(key string) *rule {
	if of := r.properties[key]; of != nil {
		return of
	}
	return r.others
}

// closed reports whether a map may have only the named keys.
func (r *rule) closed() bool { return r.others != nil && r.others.never }

func (r *rule) propertyNames() []string { return slices.Sorted(maps.Keys(r.properties)) }

// isMisspelt reports whether the map has a similar, unknown key in place of a missing one. That one is reported as an
// unknown key, so the missing key is not reported too.
func (r *rule) isMisspelt(n *Node, key string) bool {
	if !r.closed() {
		return false
	}
	known := r.propertyNames()
	return slices.ContainsFunc(n.Keys, func(k *Node) bool {
		near, ok := problem.Nearest(k.Text, known)
		return ok && near == key && !slices.Contains(known, k.Text)
	})
}

// broken returns the innermost rule that a key breaks.
func (r *rule) broken(k *Node) *rule {
	if r.hasKind(k) && r.hasWord(k) && r.ref != nil && !r.ref.passes(k) {
		return r.ref.broken(k)
	}
	return r
}

func (r *rule) fixOr(otherwise string) string { return cmp.Or(r.fix, otherwise) }

// about returns the name of a property with its description.
func (r *rule) about(property string) string {
	p := r.properties[property]
	switch {
	case p == nil:
		return property
	case p.description != "":
		return property + ", " + lowerFirst(strings.TrimSuffix(p.description, "."))
	case p.ref != nil && p.ref.description != "":
		return property + ", " + lowerFirst(strings.TrimSuffix(p.ref.description, "."))
	}
	return property
}

// beyond returns the bound that a number violates, or nil.
func (r *rule) beyond(text string) *big.Rat {
	if r.min == nil && r.max == nil {
		return nil
	}
	n, ok := new(big.Rat).SetString(text)
	switch {
	case r.min != nil && (!ok || n.Cmp(r.min) < 0): // without ok the exponent exceeds all bounds
		return r.min
	case r.max != nil && (!ok || n.Cmp(r.max) > 0):
		return r.max
	}
	return nil
}

// isInteger reports whether a number is an integer in the sense of JSON Schema: 2.0 and 1e2 are.
func isInteger(text string) bool {
	if jsontree.IsInteger(text) {
		return true
	}
	n, ok := new(big.Rat).SetString(text)
	return ok && n.IsInt()
}
