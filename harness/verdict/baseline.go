package verdict

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
)

// A BaselineEntry is a finding that the baseline has.
type BaselineEntry struct {
	Scenario string `json:"scenario"`
	// Target is the one that the finding is about. In a baseline of the first format it is "", which means any.
	Target      string `json:"target,omitempty"`
	At          string `json:"at"`
	Class       Class  `json:"class"`
	Kind        string `json:"kind"`
	Fingerprint string `json:"fingerprint"`
}

// BaselineEntryOf returns what identifies a finding in the baseline.
func BaselineEntryOf(f *Finding) BaselineEntry {
	return BaselineEntry{f.Scenario, f.Target, f.At, f.Class, f.Kind, f.Fingerprint}
}

// WithoutTarget returns the finding without its target.
func (k BaselineEntry) WithoutTarget() BaselineEntry {
	k.Target = ""
	return k
}

// DivideBaseline divides a baseline: fixed is what the run would have shown and has not, and what is of scenarios that are not
// among all there are; kept is the rest. What a run has not judged without a doubt is kept. What has no target gets those
// that show it, when all have taken part.
func (r *Run) DivideBaseline(baseline []BaselineEntry, all []string) (kept, fixed []BaselineEntry) {
	judged, shown := r.judged(), map[BaselineEntry][]BaselineEntry{}
	for i := range r.Scenarios {
		for k := range r.Scenarios[i].Findings {
			known := BaselineEntryOf(&r.Scenarios[i].Findings[k])
			shown[known] = []BaselineEntry{known}
			if anywhere := known.WithoutTarget(); !slices.Contains(shown[anywhere], known) {
				shown[anywhere] = append(shown[anywhere], known)
			}
		}
	}
	wouldShow := func(k BaselineEntry) bool {
		if k.Kind == string(diff.Constant) { // which takes all scenarios
			return !slices.ContainsFunc(all, func(id string) bool { return !judged[id] })
		}
		return judged[k.Scenario]
	}
	for _, k := range baseline {
		switch shows := r.Complete() && wouldShow(k); {
		case !slices.Contains(all, k.Scenario), shows && shown[k] == nil:
			fixed = append(fixed, k)
		case shows:
			kept = append(kept, shown[k]...)
		default:
			kept = append(kept, k)
		}
	}
	return kept, fixed
}

// NewFindings returns the findings that neither a waiver nor the baseline accepts, each once, in the order of the run.
func (r *Run) NewFindings(baseline []BaselineEntry) []BaselineEntry {
	var out []BaselineEntry
	seen := map[BaselineEntry]bool{}
	for _, k := range baseline {
		seen[k] = true
	}
	for i := range r.Scenarios {
		for k := range r.Scenarios[i].Findings {
			f := &r.Scenarios[i].Findings[k]
			if known := BaselineEntryOf(f); f.Waiver == "" && !seen[known] && !seen[known.WithoutTarget()] {
				seen[known] = true
				out = append(out, known)
			}
		}
	}
	return out
}

// SharedViolations returns those of some findings that are violations which all targets of a scenario share: the same rule of the
// contract, broken at the same place. There is nothing to share where there is only one target.
func (r *Run) SharedViolations(of []BaselineEntry) []BaselineEntry {
	type breach struct{ step, stream, place, kind, schema string }
	breachOf := func(f *Finding) breach { return breach{f.Step, f.Stream, f.Place, f.Kind, f.schema()} }
	shared := map[BaselineEntry]bool{}
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		targets := map[breach]map[string]bool{}
		for k := range s.Findings {
			if f := &s.Findings[k]; f.Class == Violation {
				b := breachOf(f)
				if targets[b] == nil {
					targets[b] = map[string]bool{}
				}
				targets[b][f.Target] = true
			}
		}
		for k := range s.Findings {
			f := &s.Findings[k]
			if f.Class == Violation && len(s.Targets) > 1 && len(targets[breachOf(f)]) == len(s.Targets) {
				shared[BaselineEntryOf(f)] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(of), func(k BaselineEntry) bool { return !shared[k] })
}
