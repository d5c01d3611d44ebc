package jsondiff

import "github.com/lockstep-dev/lockstep/harness/compare/diff"

// MaxDifferences is how many differences of one exchange, and of one stream, are reported one by one. How many more there are is
// the last difference. So what is kept of a body, and the time it takes to describe it, do not grow with what a server
// makes of it.
const MaxDifferences = 200

// A limiter passes on the differences of one content until there are too many, and counts the others.
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

// close reports how many were left out.
func (b *limiter) close() {
	if b.n > MaxDifferences {
		b.report(diff.Difference{Reason: diff.Reason{Kind: diff.MoreDiffer}, More: b.n - MaxDifferences})
	}
}
