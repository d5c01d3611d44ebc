package report

import (
	"fmt"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// repeated says what came of scenarios that were run several times; "" when none was.
func repeated(scenarios []verdict.Scenario) string {
	runs, of := 0, 0
	var split []string
	for i := range scenarios {
		if r := scenarios[i].Repeated; r != nil {
			runs, of = max(runs, r.Of), of+1
			if !r.Alike() {
				split = append(split, fmt.Sprintf("%s (%s)", clip(scenarios[i].ID, 120), r))
			}
		}
	}
	switch {
	case of == 0:
		return ""
	case len(split) == 0:
		return fmt.Sprintf("%d runs of %s: each came to the same", runs, count(of, "scenario"))
	}
	return fmt.Sprintf("%d runs of %s; by chance: %s", runs, count(of, "scenario"), list(split, ", "))
}

// byChance says how many runs of a scenario came to what, in front of what the worst of them shows: "2 of 5 differ: ". It is
// "" when all came to the same.
func byChance(s *verdict.Scenario) string {
	if s.Repeated == nil || s.Repeated.Alike() {
		return ""
	}
	return s.Repeated.String() + ": "
}
