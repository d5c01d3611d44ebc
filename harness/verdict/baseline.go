package verdict

import "slices"

// A Known is a finding that the baseline has.
type Known struct {
	Scenario    string `json:"scenario"`
	At          string `json:"at"`
	Class       Class  `json:"class"`
	Kind        string `json:"kind"`
	Fingerprint string `json:"fingerprint"`
}

// KnownOf returns how the baseline tells a finding from others.
func KnownOf(f *Finding) Known { return Known{f.Scenario, f.At, f.Class, f.Kind, f.Fingerprint} }

// Compare divides a baseline: fixed is what the run would have shown and has not, and what is of scenarios that are not
// among all there are; kept is the rest. What a run has not judged without a doubt is kept.
func (r *Run) Compare(baseline []Known, all []string) (kept, fixed []Known) {
	judged, shown := r.judged(), map[Known]bool{}
	for i := range r.Scenarios {
		for k := range r.Scenarios[i].Findings {
			shown[KnownOf(&r.Scenarios[i].Findings[k])] = true
		}
	}
	for _, k := range baseline {
		if r.Whole() && judged[k.Scenario] && !shown[k] || !slices.Contains(all, k.Scenario) {
			fixed = append(fixed, k)
		} else {
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
			if known := KnownOf(f); f.Waiver == "" && !seen[known] {
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
