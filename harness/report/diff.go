package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A Diff lays two runs side by side: what is found in one of them only, in both, and otherwise. Findings are paired as
// Changes has it. The worst come first: what nothing accepts, then differences before violations before shortfalls.
type Diff struct {
	Before    DiffSide   `json:"before"`
	After     DiffSide   `json:"after"`
	New       []DiffItem `json:"new"`
	Changed   []DiffItem `json:"changed"`
	Fixed     []DiffItem `json:"fixed"`
	Unchanged []DiffItem `json:"unchanged"`
	// Lost are scenarios that were judged before and are not now, Judged those that are now and were not before. Of the
	// findings of both nothing is said above.
	Lost   []VerdictChange `json:"lost"`
	Judged []VerdictChange `json:"judged"`
	// OnlyBefore and OnlyAfter are the scenarios that one of the runs did not select.
	OnlyBefore []VerdictChange `json:"only_before"`
	OnlyAfter  []VerdictChange `json:"only_after"`
}

// A DiffSide is one of the two runs.
type DiffSide struct {
	Name      string          `json:"name"` // what it is called, such as the path of its file
	Started   time.Time       `json:"started"`
	Version   string          `json:"version"` // of lockstep
	Verdict   verdict.Verdict `json:"verdict"`
	Scenarios int             `json:"scenarios"`
}

// A DiffItem is a finding, as it is now, or as it was before when it is fixed, with all places that say the same.
type DiffItem struct {
	Target string `json:"target"`
	Class  string `json:"class"`
	Kind   string `json:"kind"`
	At     string `json:"at"` // in the first of the scenarios
	Text   string `json:"text"`
	// Reference and Candidate are the values of a difference; Want and Got those of a shortfall.
	Reference string `json:"reference,omitempty"`
	Candidate string `json:"candidate,omitempty"`
	Want      string `json:"want,omitempty"`
	Got       string `json:"got,omitempty"`
	Before    string `json:"before,omitempty"` // the fingerprint in the earlier run
	After     string `json:"after,omitempty"`  // the fingerprint in the later one
	// Accepted says by what: the id of a waiver, or baseline. What is accepted decides nothing.
	Accepted  string   `json:"accepted,omitempty"`
	Scenarios []string `json:"scenarios"` // each once, in the order of the run
	Count     int      `json:"count"`     // of places
}

// A VerdictChange is a scenario and its verdicts; the one of a run that did not have it is empty.
type VerdictChange struct {
	Scenario string          `json:"scenario"`
	Before   verdict.Verdict `json:"before,omitempty"`
	After    verdict.Verdict `json:"after,omitempty"`
	Reason   string          `json:"reason,omitempty"` // why it could not be judged
}

// Compare lays two runs side by side, which are of the same contract, scenarios and targets.
func Compare(before *Document, beforeName string, after *Document, afterName string) *Diff {
	d := &Diff{Before: diffSide(before, beforeName), After: diffSide(after, afterName)}
	var fresh, changed, fixed, same itemList
	for _, p := range pairFindings(before, after) {
		listFor(p, &fresh, &fixed, &changed, &same).add(p)
	}
	d.New, d.Changed, d.Fixed, d.Unchanged = fresh.sorted(), changed.sorted(), fixed.sorted(), same.sorted()
	d.verdictChanges(before, after)
	return d
}

func diffSide(d *Document, name string) DiffSide {
	return DiffSide{Name: name, Started: d.Started.UTC().Truncate(time.Millisecond), Version: d.Version, Verdict: d.Verdict, Scenarios: len(d.Scenarios)}
}

// An itemList gathers findings that say the same.
type itemList struct {
	items []DiffItem
	at    map[itemKey]int
}

type itemKey struct{ target, class, kind, text, before, after, accepted string }

func (l *itemList) add(p findingPair) {
	f := cmp.Or(p.after, p.before)
	item := DiffItem{
		Target: f.Target, Class: string(f.Class), Kind: f.Kind, At: cmp.Or(f.At, f.Place), Text: f.Text,
		Reference: f.Reference, Candidate: f.Candidate, Want: f.Want, Got: f.Got, Accepted: f.Waiver,
	}
	item.Before, item.After = p.fingerprints()
	if f.Known {
		item.Accepted = "baseline"
	}
	key := itemKey{item.Target, item.Class, item.Kind, item.Text, item.Before, item.After, item.Accepted}
	i, there := l.at[key]
	if !there {
		if l.at == nil {
			l.at = map[itemKey]int{}
		}
		i = len(l.items)
		l.at[key], l.items = i, append(l.items, item)
	}
	of := &l.items[i]
	of.Count++
	if n := len(of.Scenarios); n == 0 || of.Scenarios[n-1] != f.Scenario { // findings come scenario by scenario
		of.Scenarios = append(of.Scenarios, f.Scenario)
	}
}

// sorted returns the items, the worst first.
func (l *itemList) sorted() []DiffItem {
	slices.SortStableFunc(l.items, compareItems)
	return l.items
}

var classRank = map[string]int{string(verdict.Difference): 0, string(verdict.Violation): 1, string(verdict.Unmet): 2}

// compareItems orders items: what nothing accepts first, then by class, then what shows in more places.
func compareItems(a, b DiffItem) int {
	accepted := func(i *DiffItem) int { return min(len(i.Accepted), 1) }
	return cmp.Or(cmp.Compare(accepted(&a), accepted(&b)), cmp.Compare(classRank[a.Class], classRank[b.Class]), cmp.Compare(b.Count, a.Count))
}

// verdictChanges notes the scenarios that were not judged in both runs.
func (d *Diff) verdictChanges(before, after *Document) {
	was := map[string]*verdict.Scenario{}
	for i := range before.Scenarios {
		was[before.Scenarios[i].ID] = &before.Scenarios[i]
	}
	judgedBefore, judgedAfter := judged(before), judged(after)
	for i := range after.Scenarios {
		now := &after.Scenarios[i]
		old := was[now.ID]
		delete(was, now.ID)
		switch {
		case old == nil:
			d.OnlyAfter = append(d.OnlyAfter, VerdictChange{Scenario: now.ID, After: now.Verdict})
		case judgedBefore[now.ID] && !judgedAfter[now.ID]:
			d.Lost = append(d.Lost, VerdictChange{now.ID, old.Verdict, now.Verdict, firstReason(now)})
		case !judgedBefore[now.ID] && judgedAfter[now.ID]:
			d.Judged = append(d.Judged, VerdictChange{now.ID, old.Verdict, now.Verdict, firstReason(old)})
		}
	}
	for i := range before.Scenarios {
		if old := &before.Scenarios[i]; was[old.ID] != nil {
			d.OnlyBefore = append(d.OnlyBefore, VerdictChange{Scenario: old.ID, Before: old.Verdict})
		}
	}
}

func firstReason(s *verdict.Scenario) string {
	if len(s.Reasons) == 0 {
		return ""
	}
	return s.Reasons[0].String()
}

// Common is the number of scenarios that both runs have.
func (d *Diff) Common() int { return d.After.Scenarios - len(d.OnlyAfter) }

// Verdict is differ when something is new or has changed that nothing accepts, unknown when a scenario is not judged any
// more, and else match, whatever the verdicts of the runs are.
func (d *Diff) Verdict() verdict.Verdict {
	counts := func(i DiffItem) bool { return i.Accepted == "" }
	switch {
	case slices.ContainsFunc(d.New, counts), slices.ContainsFunc(d.Changed, counts):
		return verdict.Differ
	case len(d.Lost) > 0:
		return verdict.Unknown
	default:
		return verdict.Match
	}
}
