package verdict

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/verdict/baseline"
	"github.com/lockstep-dev/lockstep/harness/verdict/waiver"
)

// BaselineEntryOf returns what identifies a finding in the baseline.
func BaselineEntryOf(f *Finding) baseline.Entry {
	return baseline.Entry{Scenario: f.Scenario, Target: f.Target, At: f.At, Class: string(f.Class), Kind: f.Kind, Fingerprint: f.Fingerprint}
}

// DivideBaseline divides a baseline. fixed are the entries that the run would have shown but did not, and those of
// scenarios that do not exist any more. kept are the others, including those of scenarios without a certain verdict. An
// entry without a target is replaced by one entry for each target that shows it, if all targets took part.
func (r *Run) DivideBaseline(entries []baseline.Entry, all []string) (kept, fixed []baseline.Entry) {
	judged, shown := r.judged(), map[baseline.Entry][]baseline.Entry{}
	for f := range r.findings() {
		known := BaselineEntryOf(f)
		shown[known] = []baseline.Entry{known}
		if anywhere := known.WithoutTarget(); !slices.Contains(shown[anywhere], known) {
			shown[anywhere] = append(shown[anywhere], known)
		}
	}
	wouldShow := func(k baseline.Entry) bool {
		if k.Kind == string(diff.Constant) { // a constant needs all scenarios
			return !waiver.IsCode(k.Scenario) && !slices.ContainsFunc(all, func(id string) bool { return !judged[id] })
		}
		return judged[k.Scenario]
	}
	for _, k := range entries {
		switch shows := r.Complete() && wouldShow(k); {
		case !slices.Contains(all, k.Scenario) && !waiver.IsCode(k.Scenario), shows && shown[k] == nil:
			fixed = append(fixed, k)
		case shows:
			kept = append(kept, shown[k]...)
		default:
			kept = append(kept, k)
		}
	}
	return kept, fixed
}

// NewFindings returns the findings that neither a waiver nor the baseline accepts, without repetition and in the order
// of the run.
func (r *Run) NewFindings(entries []baseline.Entry) []baseline.Entry {
	var out []baseline.Entry
	seen := map[baseline.Entry]bool{}
	for _, k := range entries {
		seen[k] = true
	}
	for f := range r.findings() {
		if known := BaselineEntryOf(f); f.Waiver == "" && !seen[known] && !seen[known.WithoutTarget()] {
			seen[known] = true
			out = append(out, known)
		}
	}
	return out
}

// SharedViolations returns those of some findings that are violations by all targets of a scenario: they break the same
// rule of the contract in the same place. With only one target, there are none.
func (r *Run) SharedViolations(of []baseline.Entry) []baseline.Entry {
	type breach struct{ step, stream, place, kind, schema string }
	breachOf := func(f *Finding) breach { return breach{f.Step, f.Stream, f.Place, f.Kind, f.schema()} }
	shared := map[baseline.Entry]bool{}
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
	return slices.DeleteFunc(slices.Clone(of), func(k baseline.Entry) bool { return !shared[k] })
}
