package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A Diff compares two runs: what is found in only one of them, in both, or in a changed form. Findings are paired as in
// Changes. What nothing accepts comes first, and of that what most scenarios show.
type Diff struct {
	Before    DiffSide   `json:"before"`
	After     DiffSide   `json:"after"`
	New       []DiffItem `json:"new"`
	Changed   []DiffItem `json:"changed"`
	Fixed     []DiffItem `json:"fixed"`
	Unchanged []DiffItem `json:"unchanged"`
	// Lost are scenarios that were judged before and are not judged now. Judged are scenarios that are judged now and
	// were not judged before. The lists above do not contain findings of either.
	Lost   []VerdictChange `json:"lost"`
	Judged []VerdictChange `json:"judged"`
	// OnlyBefore and OnlyAfter are the scenarios that the other run did not select.
	OnlyBefore []VerdictChange `json:"only_before"`
	OnlyAfter  []VerdictChange `json:"only_after"`
}

type DiffSide struct {
	Name      string          `json:"name"` // what it is called, such as the path of its file
	Started   time.Time       `json:"started"`
	Version   string          `json:"version"` // version of lockstep
	Verdict   verdict.Verdict `json:"verdict"`
	Scenarios int             `json:"scenarios"`
}

// A DiffItem is a finding with all places that have the same one. A fixed finding is shown as it was before, any other
// as it is now.
type DiffItem struct {
	Target string `json:"target"`
	Class  string `json:"class"`
	Kind   string `json:"kind"`
	At     string `json:"at"` // in the first of the scenarios
	Text   string `json:"text"`
	// Reference and Candidate are the values of a difference. Want and Got are those of a shortfall.
	Reference string `json:"reference,omitempty"`
	Candidate string `json:"candidate,omitempty"`
	Want      string `json:"want,omitempty"`
	Got       string `json:"got,omitempty"`
	Before    string `json:"before,omitempty"` // the fingerprint in the earlier run
	After     string `json:"after,omitempty"`  // the fingerprint in the later run
	// Accepted names what accepts the finding: the id of a waiver, or baseline. Accepted findings do not decide the
	// verdict.
	Accepted  string   `json:"accepted,omitempty"`
	Scenarios []string `json:"scenarios"` // without repetition, in the order of the run
	Count     int      `json:"count"`     // number of places

	proven bool // a side is wrong
}

// A VerdictChange is a scenario with its two verdicts. A verdict is empty if the run did not have the scenario.
type VerdictChange struct {
	Scenario string          `json:"scenario"`
	Before   verdict.Verdict `json:"before,omitempty"`
	After    verdict.Verdict `json:"after,omitempty"`
	Reason   string          `json:"reason,omitempty"` // why it could not be judged
}

// Compare compares two runs of the same contract, scenarios and targets.
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

// An itemList groups findings that say the same.
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
	of.proven = of.proven || f.Proven()
	if n := len(of.Scenarios); n == 0 || of.Scenarios[n-1] != f.Scenario { // findings come scenario by scenario
		of.Scenarios = append(of.Scenarios, f.Scenario)
	}
}

// sorted returns the items, the worst first.
func (l *itemList) sorted() []DiffItem {
	slices.SortStableFunc(l.items, compareItems)
	return l.items
}

// compareItems orders items: first what nothing accepts, then by weight.
func compareItems(a, b DiffItem) int {
	accepted := func(i *DiffItem) int { return min(len(i.Accepted), 1) }
	weight := func(i *DiffItem) verdict.Weight {
		return verdict.Weight{Scenarios: len(i.Scenarios), Proven: i.proven, Places: i.Count}
	}
	return cmp.Or(cmp.Compare(accepted(&a), accepted(&b)), weight(&a).Compare(weight(&b)))
}

// verdictChanges records the scenarios that were not judged in both runs.
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

func (d *Diff) Common() int { return d.After.Scenarios - len(d.OnlyAfter) }

// Verdict compares the findings and ignores the verdicts of the runs. It is differ when a finding that nothing accepts
// is new or has changed. Otherwise it is unknown when a scenario is not judged any more, and else match.
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
