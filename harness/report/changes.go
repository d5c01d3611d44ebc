package report

import (
	"cmp"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Changes say what has become of the findings since an earlier run. A finding is the same one when it is at the same
// place of the same scenario, is about the same target, and has the same fingerprint.
type Changes struct {
	Against   string   `json:"against"` // what the earlier run is called
	New       []Change `json:"new,omitempty"`
	Fixed     []Change `json:"fixed,omitempty"`
	Changed   []Change `json:"changed,omitempty"` // another finding of the kind at the same place
	Unchanged int      `json:"unchanged"`
	Unjudged  int      `json:"apart,omitempty"` // findings of scenarios that the earlier run has not judged
}

// A Change is a finding that is there in one of two runs.
type Change struct {
	Scenario string `json:"scenario"`
	Target   string `json:"target"`
	Class    string `json:"class"`
	Kind     string `json:"kind"`
	At       string `json:"at"`
	Text     string `json:"text"`
	Before   string `json:"before,omitempty"` // the fingerprint in the earlier run
	After    string `json:"after,omitempty"`  // the fingerprint in the later one
}

// spotKey is where a finding is; findingKey is the finding itself.
type (
	placeKey struct {
		scenario, target, kind, at string
		class                      verdict.Class
	}
	findingKey struct {
		placeKey
		fingerprint string
	}
)

func findingKeys(f *verdict.Finding) (placeKey, findingKey) {
	at := placeKey{f.Scenario, f.Target, f.Kind, cmp.Or(f.At, f.Place), f.Class}
	return at, findingKey{at, f.Fingerprint}
}

func change(p findingPair) Change {
	f := cmp.Or(p.after, p.before)
	before, after := p.fingerprints()
	return Change{f.Scenario, f.Target, string(f.Class), f.Kind, cmp.Or(f.At, f.Place), f.Text, before, after}
}

// ChangesSince returns what has changed since an earlier run. Of scenarios that were not judged in both runs nothing is said.
func ChangesSince(earlier *Document, against string, later *Document) *Changes {
	out := &Changes{Against: against, Unjudged: unjudgedBefore(earlier, later)}
	for _, p := range pairFindings(earlier, later) {
		if list := listFor(p, &out.New, &out.Fixed, &out.Changed, nil); list != nil {
			*list = append(*list, change(p))
		} else {
			out.Unchanged++
		}
	}
	for _, list := range [][]Change{out.New, out.Fixed, out.Changed} {
		slices.SortFunc(list, func(a, b Change) int {
			return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.At, b.At), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Before+a.After, b.Before+b.After))
		})
	}
	return out
}

// FindingsOnly returns as much of a run as Since asks of an earlier one, which waits for a whole run to end.
func FindingsOnly(d *Document) *Document {
	out := &Document{Started: d.Started}
	out.Scenarios = make([]verdict.Scenario, len(d.Scenarios))
	for i := range d.Scenarios {
		s := &d.Scenarios[i]
		out.Scenarios[i] = verdict.Scenario{ID: s.ID, Verdict: s.Verdict, Findings: s.Findings}
	}
	return out
}

// A findingPair is a finding of the earlier run and its counterpart in the later one; nil where there is none.
type findingPair struct{ before, after *verdict.Finding }

// fingerprints returns those of both findings; "" for one that is not there.
func (p findingPair) fingerprints() (before, after string) {
	if p.before != nil {
		before = p.before.Fingerprint
	}
	if p.after != nil {
		after = p.after.Fingerprint
	}
	return before, after
}

// listFor returns the list that a pair belongs to.
func listFor[T any](p findingPair, fresh, fixed, changed, same T) T {
	switch {
	case p.before == nil:
		return fresh
	case p.after == nil:
		return fixed
	case p.before.Fingerprint != p.after.Fingerprint:
		return changed
	default:
		return same
	}
}

// pairFindings puts the findings of two runs together: first those that are the same, then those of one kind at one place.
// The later run's come in their order, and then what only the earlier one has.
func pairFindings(earlier, later *Document) []findingPair {
	before, after := findingsOf(earlier, judged(later)), findingsOf(later, judged(earlier))
	same := map[findingKey][]*verdict.Finding{}
	for _, f := range before {
		_, key := findingKeys(f)
		same[key] = append(same[key], f)
	}
	taken := map[*verdict.Finding]bool{}
	out := make([]findingPair, len(after), len(after)+len(before))
	for i, f := range after {
		out[i].after = f
		_, key := findingKeys(f)
		if old := same[key]; len(old) > 0 {
			out[i].before, same[key], taken[old[0]] = old[0], old[1:], true
		}
	}
	there := map[placeKey][]*verdict.Finding{}
	for _, f := range before {
		if spot, _ := findingKeys(f); !taken[f] {
			there[spot] = append(there[spot], f)
		}
	}
	for i := range out {
		spot, _ := findingKeys(out[i].after)
		if old := there[spot]; out[i].before == nil && len(old) > 0 {
			out[i].before, there[spot], taken[old[0]] = old[0], old[1:], true
		}
	}
	for _, f := range before {
		if !taken[f] {
			out = append(out, findingPair{before: f})
		}
	}
	return out
}

// unjudgedBefore counts the findings of a run in scenarios that an earlier one has not judged: of these nothing can be said.
func unjudgedBefore(earlier, later *Document) int {
	n, before := 0, judged(earlier)
	for i := range later.Scenarios {
		if s := &later.Scenarios[i]; !before[s.ID] {
			n += len(s.Findings)
		}
	}
	return n
}

// judged returns the scenarios of a run that were judged.
func judged(d *Document) map[string]bool {
	out := map[string]bool{}
	for i := range d.Scenarios {
		if s := &d.Scenarios[i]; s.Verdict != verdict.NotApplicable && s.Verdict != verdict.Unknown {
			out[s.ID] = true
		}
	}
	return out
}

// findingsOf returns the findings of the scenarios that were judged in this run and in the other.
func findingsOf(d *Document, other map[string]bool) []*verdict.Finding {
	var out []*verdict.Finding
	own := judged(d)
	for i := range d.Scenarios {
		s := &d.Scenarios[i]
		if !own[s.ID] || !other[s.ID] {
			continue
		}
		for k := range s.Findings {
			out = append(out, &s.Findings[k])
		}
	}
	return out
}

// Visible returns a copy in which everything can be seen, cut to what a page lists.
func (c *Changes) Visible() *Changes {
	list := func(all []Change) []Change {
		out := slices.Clone(all[:min(len(all), maxChanges)])
		for i := range out {
			e := &out[i]
			e.Scenario, e.Target, e.Kind, e.At, e.Text = textfit.Clip(e.Scenario, 300), textfit.Clip(e.Target, 60), textfit.Clip(e.Kind, 60), textfit.Clip(e.At, 300), textfit.Clip(e.Text, 300)
		}
		return out
	}
	return &Changes{textfit.Clip(c.Against, 120), list(c.New), list(c.Fixed), list(c.Changed), c.Unchanged, c.Unjudged}
}

// maxChanges is how many of each sort the page lists.
const maxChanges = 500

// NewFindings returns a function that reports whether a finding is new or has changed. Nil has none.
func (c *Changes) NewFindings() func(f *verdict.Finding) bool {
	keys := map[findingKey]bool{}
	if c != nil {
		for _, n := range slices.Concat(c.New, c.Changed) {
			keys[findingKey{placeKey{n.Scenario, n.Target, n.Kind, n.At, verdict.Class(n.Class)}, n.After}] = true
		}
	}
	return func(f *verdict.Finding) bool {
		_, key := findingKeys(f)
		return keys[key]
	}
}
