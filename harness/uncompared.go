package harness

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare"
)

// uncompared lists what the contract declares, answers had, and nobody has compared. Of one target alone nothing is.
func (e *execution) uncompared() []string {
	if e.result.Alone {
		return nil
	}
	return e.coverage.NotCompared(func(header string) bool {
		key := compare.HeaderApplied(header, "")
		for i := range e.result.Scenarios {
			if slices.Contains(e.result.Scenarios[i].Applied, key) {
				return true
			}
		}
		return false
	})
}
