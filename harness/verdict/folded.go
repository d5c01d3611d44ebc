package verdict

// A RemarkKey identifies what the contract says against one side of an exchange or an event.
type RemarkKey struct {
	Step, Stream string
	Remark
}

// contractEvidence returns the remarks that are shown with the differences of a scenario.
func contractEvidence(s *Scenario, everything bool) map[RemarkKey]bool {
	out := map[RemarkKey]bool{}
	for i := range s.Findings {
		if f := &s.Findings[i]; f.Class == Difference && (everything || !f.Accepted()) {
			for _, w := range f.Contract {
				out[RemarkKey{f.Step, f.Stream, w}] = true
			}
		}
	}
	return out
}

// Folded returns a function that reports whether a finding of a scenario is a violation that is shown with a difference,
// and so is not a cause of its own. Accepted differences count only if everything is set.
func Folded(s *Scenario, everything bool) func(f *Finding) bool {
	evidence := contractEvidence(s, everything)
	return func(f *Finding) bool {
		return f.Class == Violation && len(f.Contract) == 1 && evidence[RemarkKey{f.Step, f.Stream, f.Contract[0]}]
	}
}

// Unfolded counts the findings of a scenario that reports show: all but those that are folded.
func Unfolded(s *Scenario) int {
	n, folded := 0, Folded(s, true)
	for i := range s.Findings {
		if !folded(&s.Findings[i]) {
			n++
		}
	}
	return n
}
