package jsondiff

import "github.com/lockstep-dev/lockstep/harness/compare/diff"

// MaxDifferences is how many differences of one exchange or one stream are listed. One last difference has the number
// of the others. This bounds the memory and the time for a body in which everything differs.
const MaxDifferences = 200

// A limiter forwards the differences of one content, up to MaxDifferences, and counts the others.
type limiter struct {
	report func(diff.Difference)
	n      int
}

func (b *limiter) full() bool { return b.n >= MaxDifferences }

func (b *limiter) add(d diff.Difference) {
	if !b.full() {
		b.report(d)
	}
	b.n++
}

// close reports how many differences were not forwarded.
func (b *limiter) close() {
	if b.n > MaxDifferences {
		b.report(diff.Difference{Reason: diff.Reason{Kind: diff.MoreDiffer}, More: b.n - MaxDifferences})
	}
}
