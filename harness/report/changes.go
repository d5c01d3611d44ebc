package report

import (
	"cmp"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Changes say how the findings differ from those of an earlier run. A finding in both runs is the same if it has the
// same scenario, place, target and fingerprint.
type Changes struct {
	Against   string   `json:"against"` // name of the earlier run
	New       []Change `json:"new,omitempty"`
	Fixed     []Change `json:"fixed,omitempty"`
	Changed   []Change `json:"changed,omitempty"` // another finding of the same kind at the same place
	Unchanged int      `json:"unchanged"`
	Unjudged  int      `json:"apart,omitempty"` // findings in scenarios that the earlier run has not judged
}

// A Change is a finding that only one of two runs has.
type Change struct {
	Scenario string `json:"scenario"`
	Target   string `json:"target"`
	Class    string `json:"class"`
	Kind     string `json:"kind"`
	At       string `json:"at"`
	Text     string `json:"text"`
	Before   string `json:"before,omitempty"` // the fingerprint in the earlier run
	After    string `json:"after,omitempty"`  // the fingerprint in the later run
}

// A placeKey identifies the place of a finding; a findingKey identifies the finding itself.
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

// ChangesSince returns what has changed since an earlier run. It ignores scenarios that were not judged in both runs,
// and violations that are shown with a difference. So its counts are those of the lists of causes.
func ChangesSince(earlier *Document, against string, later *Document) *Changes {
	out := &Changes{Against: against, Unjudged: unjudgedBefore(earlier, later)}
	folded := foldedIn(earlier, later)
	for _, p := range pairFindings(earlier, later) {
		if folded[cmp.Or(p.after, p.before)] {
			continue
		}
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

// foldedIn returns the violations of some runs that are shown with a difference.
func foldedIn(runs ...*Document) map[*verdict.Finding]bool {
	out := map[*verdict.Finding]bool{}
	for _, d := range runs {
		for i := range d.Scenarios {
			s := &d.Scenarios[i]
			folded := verdict.Folded(s, true)
			for k := range s.Findings {
				if f := &s.Findings[k]; folded(f) {
					out[f] = true
				}
			}
		}
	}
	return out
}

// FindingsOnly returns the part of a run that ChangesSince needs of an earlier run. The rest need not stay in memory
// while the later run goes on.
func FindingsOnly(d *Document) *Document {
	out := &Document{Started: d.Started}
	out.Scenarios = make([]verdict.Scenario, len(d.Scenarios))
	for i := range d.Scenarios {
		s := &d.Scenarios[i]
		out.Scenarios[i] = verdict.Scenario{ID: s.ID, Verdict: s.Verdict, Findings: s.Findings}
	}
	return out
}

// A findingPair is a finding of the earlier run and its counterpart in the later one. One of them can be nil.
type findingPair struct{ before, after *verdict.Finding }

// fingerprints returns the fingerprints of both findings; "" for a finding that does not exist.
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

// pairFindings pairs the findings of two runs: first equal ones, then those of one kind at one place. The pairs have
// the order of the later run's findings. Findings that only the earlier run has come last.
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

// unjudgedBefore counts the findings in scenarios that the earlier run has not judged. They cannot be compared.
func unjudgedBefore(earlier, later *Document) int {
	n, before := 0, judged(earlier)
	for i := range later.Scenarios {
		if s := &later.Scenarios[i]; !before[s.ID] {
			n += verdict.Unfolded(s)
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

// findingsOf returns a run's findings in scenarios that both runs have judged.
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

// Visible returns what a page lists, with invisible characters escaped: the findings that are fixed. The others are
// among its causes.
func (c *Changes) Visible() *Changes {
	list := func(all []Change) []Change {
		out := slices.Clone(all[:min(len(all), maxChanges)])
		for i := range out {
			e := &out[i]
			e.Scenario, e.Target, e.Kind, e.At, e.Text = textfit.Clip(e.Scenario, 300), textfit.Clip(e.Target, 60), textfit.Clip(e.Kind, 60), textfit.Clip(e.At, 300), textfit.Clip(e.Text, 300)
		}
		return out
	}
	return &Changes{Against: textfit.Clip(c.Against, 120), Fixed: list(c.Fixed), Unchanged: c.Unchanged, Unjudged: c.Unjudged}
}

// maxChanges limits how many of each list the page shows.
const maxChanges = 500

// NewFindings returns a function that reports whether a finding is new or has changed. For nil Changes, it reports
// false.
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
