package report

import (
	"fmt"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// busy says that a machine was too busy for the servers in scenarios that are red, which may be why they are; empty when it
// was not. It changes no verdict: a server that a bound has ended, its own or the scenario's, did what it did.
func busy(d *Document) string {
	red, kept := 0, 0
	var longest verdict.Target
	var in *verdict.Scenario
	for i := range d.Scenarios {
		s := &d.Scenarios[i]
		if s.Verdict != verdict.Differ && s.Verdict != verdict.Unknown {
			continue
		}
		red++
		waited := false
		for _, t := range s.Targets {
			waited = waited || t.Waited > 0
			if t.Waited > longest.Waited {
				longest, in = t, s
			}
		}
		if waited {
			kept++
		}
	}
	if in == nil {
		return ""
	}
	return fmt.Sprintf("it kept servers waiting in %d of %s that differ or are unknown, %s longest: for %s of %s in %s; "+
		"what is a matter of time there may be its doing (fewer --jobs, or less beside the run)",
		kept, count(red, "scenario"), clip(longest.Name, 60), seconds(longest.Waited), seconds(in.Millis), clip(in.ID, 120))
}
