package report

import (
	"cmp"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Changes are what has become of the findings since an earlier run. A finding is the same one when it stands at the same
// place of the same scenario, is about the same target, and has the same fingerprint.
type Changes struct {
	Against   string   `json:"against"` // what the earlier run is called
	New       []Change `json:"new,omitempty"`
	Fixed     []Change `json:"fixed,omitempty"`
	Changed   []Change `json:"changed,omitempty"` // another finding of the kind at the same place
	Unchanged int      `json:"unchanged"`
	Apart     int      `json:"apart,omitempty"` // findings of scenarios that the earlier run has not judged
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
	spotKey struct {
		scenario, target, kind, at string
		class                      verdict.Class
	}
	findingKey struct {
		spotKey
		fingerprint string
	}
)

func keysOf(f *verdict.Finding) (spotKey, findingKey) {
	at := spotKey{f.Scenario, f.Target, f.Kind, cmp.Or(f.At, f.Place), f.Class}
	return at, findingKey{at, f.Fingerprint}
}

func change(f *verdict.Finding) Change {
	return Change{Scenario: f.Scenario, Target: f.Target, Class: string(f.Class), Kind: f.Kind, At: cmp.Or(f.At, f.Place), Text: f.Text}
}

// Since returns what has changed since an earlier run. Of scenarios that were not judged in both runs nothing is said.
func Since(earlier *Document, against string, later *Document) *Changes {
	out := &Changes{Against: against, Apart: unjudgedBefore(earlier, later)}
	for _, p := range pairings(earlier, later) {
		switch {
		case p.before == nil:
			c := change(p.after)
			c.After = p.after.Fingerprint
			out.New = append(out.New, c)
		case p.after == nil:
			c := change(p.before)
			c.Before = p.before.Fingerprint
			out.Fixed = append(out.Fixed, c)
		case p.before.Fingerprint != p.after.Fingerprint:
			c := change(p.after)
			c.Before, c.After = p.before.Fingerprint, p.after.Fingerprint
			out.Changed = append(out.Changed, c)
		default:
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

// Past returns as much of a run as Since asks of an earlier one, which waits for a whole run to end.
func Past(d *Document) *Document {
	out := &Document{Started: d.Started}
	out.Scenarios = make([]verdict.Scenario, len(d.Scenarios))
	for i := range d.Scenarios {
		s := &d.Scenarios[i]
		out.Scenarios[i] = verdict.Scenario{ID: s.ID, Verdict: s.Verdict, Findings: s.Findings}
	}
	return out
}

// A pairing is a finding of the earlier run and the one that stands for it in the later; nil where there is none.
type pairing struct{ before, after *verdict.Finding }

// pairings puts the findings of two runs together: first those that are the same, then those of one kind at one place.
// The later run's come in their order, and then what only the earlier one has.
func pairings(earlier, later *Document) []pairing {
	before, after := findingsOf(earlier, judged(later)), findingsOf(later, judged(earlier))
	same := map[findingKey][]*verdict.Finding{}
	for _, f := range before {
		_, key := keysOf(f)
		same[key] = append(same[key], f)
	}
	taken := map[*verdict.Finding]bool{}
	out := make([]pairing, len(after), len(after)+len(before))
	for i, f := range after {
		out[i].after = f
		_, key := keysOf(f)
		if old := same[key]; len(old) > 0 {
			out[i].before, same[key], taken[old[0]] = old[0], old[1:], true
		}
	}
	there := map[spotKey][]*verdict.Finding{}
	for _, f := range before {
		if spot, _ := keysOf(f); !taken[f] {
			there[spot] = append(there[spot], f)
		}
	}
	for i := range out {
		spot, _ := keysOf(out[i].after)
		if old := there[spot]; out[i].before == nil && len(old) > 0 {
			out[i].before, there[spot], taken[old[0]] = old[0], old[1:], true
		}
	}
	for _, f := range before {
		if !taken[f] {
			out = append(out, pairing{before: f})
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
