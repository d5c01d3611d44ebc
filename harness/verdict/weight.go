package verdict

import "cmp"

// A Weight says how bad a cause is. All formats list the causes with the greatest weight first.
type Weight struct {
	Proven bool // a side breaks the contract or a demand of the scenario
	Places int
}

// Proven reports whether a finding proves that a side is wrong. A difference about which the contract is silent does
// not.
func (f *Finding) Proven() bool { return f.Blame != BlameNobody }

// Compare orders weights, the worst first. Equal causes stay in the order of the run.
func (w Weight) Compare(other Weight) int {
	switch {
	case w.Proven && !other.Proven:
		return -1
	case !w.Proven && other.Proven:
		return 1
	default:
		return cmp.Compare(other.Places, w.Places)
	}
}
