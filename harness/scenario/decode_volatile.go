package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// optionsOf are the keys that a kind has in addition to at, kind and because.
var optionsOf = map[VolatileKind][]string{
	VolatileTime:     {"unit", "near", "ahead", "monotone", "stable", "of", "digits"},
	VolatileDuration: {"unit", "max", "tolerance"},
	VolatileNumber:   {"tolerance"},
}

// volatile decodes a rule for a place, and rejects options that its kind does not have.
func (d *ruleDecoder) volatile(n *yamldoc.Node) Volatile {
	v := Volatile{
		At: d.path(n.Get("at")), Kind: VolatileKind(n.Get("kind").Text), Because: n.Get("because").Text,
		Unit: n.Get("unit").Str(), Monotone: n.Get("monotone") != nil,
		File: d.file, Line: n.Line, Column: n.Column,
	}
	if v.At == "$" {
		d.problem(n.Get("at"), "at is $, the root of every document", "name a member, such as $.id")
	}
	for k := range n.Entries() {
		if !slices.Contains(optionsOf[v.Kind], k.Text) && !slices.Contains([]string{"at", "kind", "because"}, k.Text) {
			d.problem(k, fmt.Sprintf("a volatile value of kind %s has no option %q", v.Kind, k.Text), unsuitable(v.Kind))
			return v
		}
	}
	d.chronology(n, &v)
	v.Near, v.Ahead, v.Max = d.duration(n.Get("near")), d.duration(n.Get("ahead")), d.duration(n.Get("max"))
	tolerance := n.Get("tolerance")
	switch v.Kind {
	case VolatileDuration:
		if v.Unit == "" {
			d.problem(n, "a volatile duration has no unit", "add unit: ms, or one of: s, us, ns")
		} else if v.Unit == "rfc3339" {
			d.problem(n.Get("unit"), "rfc3339 is not a unit for a duration", "use one of: s, ms, us, ns")
		}
		if v.Max == 0 && n.Get("max") == nil && tolerance == nil {
			d.problem(n, "a volatile duration has no bound", "add max: 5s, or tolerance: 20%")
		}
	case VolatileNumber:
		if tolerance == nil {
			d.problem(n, "a volatile number has no tolerance", "add tolerance: 0.5, or tolerance: 5%")
		}
	}
	if tolerance != nil {
		v.Tolerance = d.tolerance(v.Kind, tolerance)
	}
	return v
}

// listRules decodes the rules for lists without an order.
func listRules(d *valueDecoder, list *yamldoc.Node) (out []Volatile) {
	for _, n := range list.Elements() {
		v := Volatile{At: d.path(n.Get("at")), Kind: VolatileList, Because: n.Get("because").Text, File: d.file, Line: n.Line, Column: n.Column}
		if key := n.Get("key"); key != nil {
			if v.Key = d.path(key); v.Key == "$" {
				d.problem(key, "key is $, the whole element", "name a member, such as $.id, or write order: none")
			}
		}
		if other := slices.IndexFunc(out, func(o Volatile) bool { return o.At == v.At }); other >= 0 {
			d.problem(n.Get("at"), fmt.Sprintf("lists has two rules for %s: the other is in line %d", v.At, out[other].Line), "keep one")
		}
		out = append(out, v)
	}
	return out
}

// numbers decodes how numbers are compared: all of them, or those of some places.
func (d *ruleDecoder) numbers(n *yamldoc.Node) []Volatile {
	if n == nil {
		return nil
	}
	if n.Kind == yamldoc.String {
		return []Volatile{{Kind: VolatileKind(n.Text), File: d.file, Line: n.Line, Column: n.Column}}
	}
	var out []Volatile
	for _, v := range n.Items {
		out = append(out, Volatile{
			At: d.path(v.Get("at")), Kind: VolatileKind(v.Get("as").Text), Because: v.Get("because").Text,
			File: d.file, Line: v.Line, Column: v.Column,
		})
	}
	return out
}

// unsuitable says what to write instead of an option that a kind does not have.
func unsuitable(kind VolatileKind) string {
	if own := optionsOf[kind]; len(own) > 0 {
		return "leave it out, or use one of: " + strings.Join(own, ", ")
	}
	return "leave it out, or use another kind: time, duration and number have options"
}

// tolerance decodes a number, a percentage, or, for a duration, a time.
func (d *ruleDecoder) tolerance(kind VolatileKind, n *yamldoc.Node) Tolerance {
	fix := "write a number above 0 or a percentage, such as 0.5 or 5%"
	if kind == VolatileDuration {
		fix = "write a time with a unit, or a percentage, such as 200ms or 20%"
	}
	amount, percent := strings.CutSuffix(n.Text, "%")
	if kind == VolatileDuration && !percent {
		if v, err := time.ParseDuration(amount); err == nil && v > 0 {
			return Tolerance{Amount: strconv.FormatInt(int64(v), 10)}
		}
	} else if v, err := strconv.ParseFloat(amount, 64); err == nil && v > 0 && v < 1e300 && strings.Trim(amount, "0123456789.eE+-") == "" {
		return Tolerance{Amount: amount, Percent: percent}
	}
	d.problem(n, fmt.Sprintf("%q is not a valid tolerance for a %s", n.Text, kind), fix)
	return Tolerance{}
}
