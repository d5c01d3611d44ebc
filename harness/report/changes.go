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
	out := &Changes{Against: against}
	before, after := findingsOf(earlier, judged(later)), findingsOf(later, judged(earlier))
	gone := map[spotKey][]*verdict.Finding{}
	for key, fs := range before {
		if n := len(fs) - len(after[key]); n > 0 {
			gone[key.spotKey] = append(gone[key.spotKey], fs[:n]...)
		}
	}
	for key, fs := range after {
		out.Unchanged += min(len(fs), len(before[key]))
		for _, f := range fs[min(len(before[key]), len(fs)):] {
			c := change(f)
			c.After = f.Fingerprint
			old := gone[key.spotKey]
			if len(old) == 0 {
				out.New = append(out.New, c)
				continue
			}
			c.Before, gone[key.spotKey] = old[0].Fingerprint, old[1:]
			out.Changed = append(out.Changed, c)
		}
	}
	for _, fs := range gone {
		for _, f := range fs {
			c := change(f)
			c.Before = f.Fingerprint
			out.Fixed = append(out.Fixed, c)
		}
	}
	for _, list := range [][]Change{out.New, out.Fixed, out.Changed} {
		slices.SortFunc(list, func(a, b Change) int {
			return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.At, b.At), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Before+a.After, b.Before+b.After))
		})
	}
	return out
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
func findingsOf(d *Document, other map[string]bool) map[findingKey][]*verdict.Finding {
	own := judged(d)
	out := map[findingKey][]*verdict.Finding{}
	for i := range d.Scenarios {
		s := &d.Scenarios[i]
		if !own[s.ID] || !other[s.ID] {
			continue
		}
		for k := range s.Findings {
			_, key := keysOf(&s.Findings[k])
			out[key] = append(out[key], &s.Findings[k])
		}
	}
	return out
}
