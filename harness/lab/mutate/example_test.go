package mutate_test

import (
	"fmt"
	"iter"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/lab/mutate"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A project can have its own operator: here, a server that answers the first request as if it were the second.
func ExampleOperator() {
	swapped := mutate.Operator{
		Name: "ours/swapped", Family: "ours", Matters: true, Doc: "It answers the second request first",
		Mutants: func(s *mutate.Subject, _ uint64) iter.Seq[mutate.Mutant] {
			return func(yield func(mutate.Mutant) bool) {
				if len(s.Candidate.Steps) < 2 {
					return
				}
				yield(mutate.Mutant{
					Place: "steps 1 and 2", Before: "in order", After: "swapped",
					Build: func() *transcript.Transcript { // on a copy, because the original is judged again
						t := *s.Candidate
						t.Steps = slices.Clone(t.Steps)
						t.Steps[0].Exchanges, t.Steps[1].Exchanges = t.Steps[1].Exchanges, t.Steps[0].Exchanges
						return &t
					},
				})
			}
		},
	}
	for m := range swapped.Mutants(subject(), 1) {
		fmt.Printf("%s: %s → %s\n", m.Place, m.Before, m.After)
		fmt.Println(found(reference.tell(), m.Build()))
	}
	// Output:
	// steps 1 and 2: in order → swapped
	// 1 status: the statuses differ
}
