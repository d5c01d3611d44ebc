package jsondiff

import (
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A setting has everything that the comparison of two documents depends on, apart from the documents.
type setting struct {
	ids     *ident.Bindings
	history *history
	place   ident.Place
	rules   placedRules
	report  func(diff.Difference) // called with the reason, the place and the values
	refuse  func(Refusal)         // called with the kind, the rule and the sentence
	full    func() bool           // whether differences are only counted from now on; nil: never
	depth   int                   // how many texts the documents are nested in
}

// maxNesting is how deep documents may be nested in texts.
const maxNesting = 4

// at returns the location of two values.
func (s *setting) at(at *ident.Path) ident.Location { return s.place.Where.To(at) }

// A reporter reports how values differ.
type reporter struct {
	in       *setting
	reported int // how many values differ
}

// differ reports two values, if there is a reason.
func (r *reporter) differ(why diff.Reason, at *ident.Path, ref, cand *jsontree.Node) {
	if why.None() {
		return
	}
	r.reported++
	if r.in.full != nil && r.in.full() {
		r.in.report(diff.Difference{Reason: why}) // to be counted
		return
	}
	r.in.report(diff.Difference{
		Reason: why, At: r.in.at(at).Place(), Ref: showNode(ref), Cand: showNode(cand), Fingerprint: r.digest(at, ref, cand),
	})
}

// showNode shows a value as JSON, and nil as absent.
func showNode(n *jsontree.Node) diff.Excerpt {
	if n == nil {
		return diff.Excerpt{Text: diff.Absent}
	}
	return diff.Show(n.String())
}

// digest is a digest of two values at one place, without generated values. One of them may be missing.
func (r *reporter) digest(at *ident.Path, ref, cand *jsontree.Node) string {
	var room [256]byte
	bare := room[:0]
	for side, n := range [2]*jsontree.Node{ref, cand} {
		if side > 0 {
			bare = append(bare, 0)
		}
		if n == nil {
			bare = append(bare, diff.Absent...)
		} else {
			bare = outliner{r.in.ids.Skeletons(), side, r.in.rules[side]}.append(bare, n, r.in.rules.pointer(side, at))
		}
	}
	return diff.Sum(bare)
}

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

// A history is what one comparison remembers from document to document.
type history struct {
	last       map[timeline]*[2]latest      // the last times, for rules that say that times never go back
	stable     [2]map[stableKey]*stableTime // the times that must not change, of each side
	fractions  map[string]*[2]fractions     // RFC 3339 times, by the name of their member
	signatures [2]map[string]string         // the signatures of the JWTs of each side, and what they sign
}

// A timeline identifies the times of one rule that follow each other: those of responses, or of the events in a stream.
// Each parallel branch has its own.
type timeline struct{ rule, line string }

// latest is the last moment of a timeline, and when it was seen.
type latest struct{ moment, seen time.Time }

// A stableKey identifies a time of a thing, by its rule and the thing. A thing is identified by its id, or else by the
// request and its place in the document.
type stableKey struct {
	rule, subject string
}

// A stableTime is the first value of a time that must not change.
type stableTime struct {
	text     string
	at       string // its place, for people
	reported bool   // that it has changed
}

// fractions has the times of one side and one member name, with and without a fraction of a second.
type fractions struct {
	with, without map[string]bool
	digits        int // the length of the longest fraction, without trailing zeros
	reported      bool
}
