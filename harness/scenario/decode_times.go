package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// chronology decodes the parts of a rule about times that compare a time with other times.
func (d *ruleDecoder) chronology(n *yamldoc.Node, v *Volatile) {
	if stable := n.Get("stable"); stable != nil {
		v.Stable = stable.Text != "false"
		if v.Stable && stable.Text != "true" {
			v.Since = stable.Text
			d.since = append(d.since, stable)
		} else if !v.Stable {
			d.problem(stable, "stable: false is the default", "leave it out, or write true or the id of a step")
		}
	}
	if of := n.Get("of"); of != nil {
		v.Of = d.path(of)
		if !v.Stable {
			d.problem(of, "of has no effect, because the time is not stable", "add stable: true, or leave it out")
		}
	}
	if digits := n.Get("digits"); digits != nil {
		v.Digits = digits.Text
		if v.Digits != "any" && (len(v.Digits) != 1 || v.Digits < "0" || v.Digits > "9") {
			d.problem(digits, fmt.Sprintf("%q is not a number of fractional digits", v.Digits), "write a number from 0 to 9, or any")
		}
		if v.Unit != "" && v.Unit != "rfc3339" {
			d.problem(digits, "digits only apply to RFC 3339 times, but the unit is "+v.Unit, "leave it out")
		}
	}
}

// sinceSteps checks that the steps exist that rules name as the beginning of stable times.
func (d *ruleDecoder) sinceSteps(s *Script) {
	ids := map[string]bool{}
	s.walk(func(step *Step) { ids[step.ID] = true })
	for _, n := range d.since {
		if !ids[n.Text] {
			d.problem(n, fmt.Sprintf("stable since step %s, but the scenario has no such step", n.Text), strings.TrimSpace("write true, or the id of a step; "+problem.OneOf(n.Text, slices.Collect(maps.Keys(ids)))))
		}
	}
}
