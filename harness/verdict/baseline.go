package verdict

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare"
)

// A Known is a finding that the baseline has.
type Known struct {
	Scenario string `json:"scenario"`
	// Target is the one that the finding is about. In a baseline of the first format it is "", which stands for each.
	Target      string `json:"target,omitempty"`
	At          string `json:"at"`
	Class       Class  `json:"class"`
	Kind        string `json:"kind"`
	Fingerprint string `json:"fingerprint"`
}

// KnownOf returns how the baseline tells a finding from others.
func KnownOf(f *Finding) Known {
	return Known{f.Scenario, f.Target, f.At, f.Class, f.Kind, f.Fingerprint}
}

// Anywhere returns the finding without its target.
func (k Known) Anywhere() Known {
	k.Target = ""
	return k
}

// Compare divides a baseline: fixed is what the run would have shown and has not, and what is of scenarios that are not
// among all there are; kept is the rest. What a run has not judged without a doubt is kept. What has no target gets those
// that show it, when all have taken part.
func (r *Run) Compare(baseline []Known, all []string) (kept, fixed []Known) {
	judged, shown := r.judged(), map[Known][]Known{}
	for i := range r.Scenarios {
		for k := range r.Scenarios[i].Findings {
			known := KnownOf(&r.Scenarios[i].Findings[k])
			shown[known] = []Known{known}
			if anywhere := known.Anywhere(); !slices.Contains(shown[anywhere], known) {
				shown[anywhere] = append(shown[anywhere], known)
			}
		}
	}
	told := func(k Known) bool { // whether the run would have shown it
		if k.Kind == string(compare.Constant) { // which takes all scenarios
			return !slices.ContainsFunc(all, func(id string) bool { return !judged[id] })
		}
		return judged[k.Scenario]
	}
	for _, k := range baseline {
		switch told := r.Whole() && told(k); {
		case !slices.Contains(all, k.Scenario), told && shown[k] == nil:
			fixed = append(fixed, k)
		case told:
			kept = append(kept, shown[k]...)
		default:
			kept = append(kept, k)
		}
	}
	return kept, fixed
}

// News returns the findings that neither a waiver nor the baseline accepts, each once, in the order of the run.
func (r *Run) News(baseline []Known) []Known {
	var out []Known
	seen := map[Known]bool{}
	for _, k := range baseline {
		seen[k] = true
	}
	for i := range r.Scenarios {
		for k := range r.Scenarios[i].Findings {
			f := &r.Scenarios[i].Findings[k]
			if known := KnownOf(f); f.Waiver == "" && !seen[known] && !seen[known.Anywhere()] {
				seen[known] = true
				out = append(out, known)
			}
		}
	}
	return out
}

// Common returns those of some findings that are violations which all targets of a scenario share: the same rule of the
// contract, broken at the same place. There is nothing to share where there is only one target.
func (r *Run) Common(of []Known) []Known {
	type breach struct{ step, stream, place, kind, schema string }
	breachOf := func(f *Finding) breach {
		b := breach{step: f.Step, stream: f.Stream, place: f.Place, kind: f.Kind}
		if len(f.Contract) > 0 {
			b.schema = f.Contract[0].Schema
		}
		return b
	}
	shared := map[Known]bool{}
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
				shared[KnownOf(f)] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(of), func(k Known) bool { return !shared[k] })
}
