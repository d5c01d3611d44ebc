package harness

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report"
)

// Comparable reports why two judged runs cannot be laid side by side: what differs between them would not be the work of
// the targets. The error is a *UsageError.
func Comparable(before *report.Document, beforeName string, after *report.Document, afterName string) error {
	for _, side := range []struct {
		doc  *report.Document
		name string
	}{{before, beforeName}, {after, afterName}} {
		switch {
		case side.doc.Sums == nil:
			return &UsageError{side.name + " does not say which contract and scenarios it is of", "name the run.jsonl of that run instead"}
		case side.doc.Incomplete != "":
			return &UsageError{fmt.Sprintf("%s is of a run that is incomplete: %s", side.name, side.doc.Incomplete), "run it again"}
		}
	}
	const fix = "run both with the same files"
	switch a, b := targetNames(before), targetNames(after); {
	case before.Sums.Contract != after.Sums.Contract:
		return &UsageError{fmt.Sprintf("%s and %s are of two contracts", beforeName, afterName), fix}
	case before.Sums.Scenarios != after.Sums.Scenarios:
		return &UsageError{fmt.Sprintf("%s and %s are of other scenarios", beforeName, afterName), fix}
	case !slices.Equal(a, b) || before.Alone != after.Alone:
		return &UsageError{fmt.Sprintf("%s is of the targets %s, and %s of %s", beforeName, roles(a, before.Alone), afterName, roles(b, after.Alone)), "run both with the same targets, and the same reference"}
	case !overlap(before, after):
		return &UsageError{fmt.Sprintf("%s and %s have no scenario in common", beforeName, afterName), "name runs that select the same"}
	}
	return nil
}

func targetNames(d *report.Document) []string {
	out := make([]string, len(d.Totals.Targets))
	for i, t := range d.Totals.Targets {
		out[i] = t.Name
	}
	return out
}

// roles names targets, and which one is the reference.
func roles(names []string, alone bool) string {
	if alone || len(names) == 0 {
		return strings.Join(names, ", ") + " alone"
	}
	return names[0] + " (reference), " + strings.Join(names[1:], ", ")
}

// overlap reports whether a scenario is in both runs.
func overlap(a, b *report.Document) bool {
	ids := map[string]bool{}
	for i := range a.Scenarios {
		ids[a.Scenarios[i].ID] = true
	}
	for i := range b.Scenarios {
		if ids[b.Scenarios[i].ID] {
			return true
		}
	}
	return false
}
