package compare

import (
	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// processEnd compares the ends of two processes that a step was meant to end. If one did not end as it should, that is
// an Unmet demand.
func (c *comparison) processEnd(ref, cand *transcript.Step) {
	r, o := ref.Process, cand.Process
	if r == nil || o == nil || r.Status == o.Status || unended(ref) || unended(cand) {
		return
	}
	c.found.add(diff.Difference{
		Reason: diff.Because(diff.ExitDiffers, diff.ExitsDiffer), Step: ref.ID, Exchange: -1, Events: [2]int{-1, -1}, At: diff.At{Part: "exit"},
		Ref: diff.Show(r.Status), Cand: diff.Show(o.Status),
	})
}
