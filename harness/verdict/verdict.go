// Package verdict turns what targets did into findings and an answer.
//
// A finding is a difference between reference and candidate, a violation of the contract by one target, or an expectation
// of the scenario that one target did not meet. Each says where, what, and which target breaks the contract. The findings
// of a scenario decide its verdict:
//
//	differ > unknown > waived > match
//
// and, apart from these, not-applicable, for a scenario that this run has no means for. Waived is a scenario whose findings
// are all accepted, by a waiver or by the baseline.
//
// A scenario that could not be judged is unknown, and unknown is never green: the reference died, a target was never
// there, the scenario asked for something impossible, nothing was compared.
//
// The package is pure: it reads transcripts, rules and a contract.
package verdict

// A Verdict is the answer for a scenario or for a run.
type Verdict string

// The verdicts, worst first.
const (
	Differ  Verdict = "differ"
	Unknown Verdict = "unknown"
	Waived  Verdict = "waived"
	Match   Verdict = "match"
	// NotApplicable is counted apart and decides nothing.
	NotApplicable Verdict = "not-applicable"
)

var severity = map[Verdict]int{Differ: 4, Unknown: 3, Waived: 2, Match: 1, NotApplicable: 0}

// Worse returns the worse of two verdicts.
func Worse(a, b Verdict) Verdict {
	if severity[a] >= severity[b] {
		return a
	}
	return b
}
