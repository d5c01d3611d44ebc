package report

import (
	"fmt"

	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A DiffList is one of the lists of a comparison.
type DiffList struct {
	Word     string
	Items    []DiffItem
	MaxShown int
}

// DiffLists returns the lists of a comparison in the order in which they are shown.
func DiffLists(d *Diff) []DiffList {
	return []DiffList{{"NEW", d.New, 25}, {"CHANGED", d.Changed, 25}, {"FIXED", d.Fixed, 10}, {"UNCHANGED", d.Unchanged, 5}}
}

// DiffWord sums up a comparison in one word.
func DiffWord(d *Diff) string {
	switch d.Verdict() {
	case verdict.Differ:
		return "worse"
	case verdict.Unknown:
		return "unknown"
	default:
		return "no worse"
	}
}

// DiffSummary counts the new, changed, fixed and unchanged findings.
func DiffSummary(d *Diff) string {
	text := fmt.Sprintf("%s, %s, %s, %s in %s that both runs have", countFindings(d.New, "new"), countFindings(d.Changed, "changed"), countFindings(d.Fixed, "fixed"), countFindings(d.Unchanged, "unchanged"), textfit.Count(d.Common(), "scenario"))
	if n := len(d.Lost); n > 0 {
		text += fmt.Sprintf("; %s no longer judged", textfit.Count(n, "scenario"))
	}
	return text
}

// countFindings counts findings, and says how many of them are accepted.
func countFindings(items []DiffItem, word string) string {
	n, accepted := 0, 0
	for _, i := range items {
		n += i.Count
		if i.Accepted != "" {
			accepted += i.Count
		}
	}
	if accepted == 0 {
		return fmt.Sprintf("%d %s", n, word)
	}
	return fmt.Sprintf("%d %s (%d accepted)", n, word, accepted)
}

// DiffValues returns the values of both sides, cut to what differs.
func DiffValues(i *DiffItem) [][2]string {
	left, right := i.Want, i.Got
	if i.Class == string(verdict.Difference) {
		left, right = i.Reference, i.Candidate
	}
	out := LabelledValues(i.Class, left, right)
	for k := range out {
		out[k][1] = textfit.Clip(out[k][1], 400)
	}
	return out
}

// Fingerprints shows the fingerprint of an item, or how it has changed.
func Fingerprints(i *DiffItem) string {
	switch {
	case i.Before == "" || i.Before == i.After:
		return textfit.Clip(i.After, 20)
	case i.After == "":
		return textfit.Clip(i.Before, 20)
	default:
		return textfit.Clip(i.Before, 20) + " → " + textfit.Clip(i.After, 20)
	}
}
