// Package verdict turns what targets did into findings and a verdict.
//
// A finding is a difference between reference and candidate, a violation of the contract by one target, or an
// expectation of the scenario that one target did not meet. Each finding says where, what, and which target breaks the
// contract. The findings of a scenario decide its verdict:
//
//	differ > unknown > waived > match
//
// There is also not-applicable, for a scenario that this run cannot run. A scenario is waived when a waiver or the
// baseline accepts all of its findings.
//
// A scenario that could not be judged is unknown, and unknown is never green. Examples: the reference crashed, a target
// did not start, the scenario asked for something impossible, nothing was compared.
//
// The package is pure: it reads transcripts, rules and a contract.
package verdict

// A Verdict is the result for a scenario or for a run.
type Verdict string

// The verdicts, worst first.
const (
	Differ  Verdict = "differ"
	Unknown Verdict = "unknown"
	Waived  Verdict = "waived"
	Match   Verdict = "match"
	// NotApplicable is counted separately and does not affect the run's verdict.
	NotApplicable Verdict = "not-applicable"
)

// Red reports whether the verdict of a scenario makes a run fail.
func (v Verdict) Red() bool { return v == Differ || v == Unknown }

var severity = map[Verdict]int{Differ: 4, Unknown: 3, Waived: 2, Match: 1, NotApplicable: 0}

func Worse(a, b Verdict) Verdict {
	if severity[a] >= severity[b] {
		return a
	}
	return b
}
