package jsondiff

import (
	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A reporter knows where two documents are and which rules apply to them, and reports how they differ.
type reporter struct {
	ids      *ident.Bindings
	history  *history
	place    ident.Place
	volatile [2]map[string]*Volatile // by JSON Pointer, on each side
	report   func(diff.Difference)   // called with the reason, the place and the values
	refuse   func(Refusal)           // called with the kind, the rule and the sentence
	full     func() bool             // whether differences are only counted from now on; nil: never

	reported int // how many values differ
	depth    int // how many texts the documents are nested in
}

// at returns the location of two values.
func (r *reporter) at(at *ident.Path) ident.Location { return r.place.Where.To(at) }

// differ reports two values, if there is a reason.
func (r *reporter) differ(why diff.Reason, at *ident.Path, ref, cand *jsontree.Node) {
	if why.None() {
		return
	}
	r.reported++
	if r.full != nil && r.full() {
		r.report(diff.Difference{Reason: why}) // to be counted
		return
	}
	r.report(diff.Difference{Reason: why, At: r.at(at).Place(), Ref: diff.ShowNode(ref), Cand: diff.ShowNode(cand), Fingerprint: r.values(at, ref, cand)})
}

// values is a digest of two values at one place, without generated values. One of them may be missing.
func (r *reporter) values(at *ident.Path, ref, cand *jsontree.Node) string {
	var room [256]byte
	bare := room[:0]
	for side, n := range [2]*jsontree.Node{ref, cand} {
		if side > 0 {
			bare = append(bare, 0)
		}
		if n == nil {
			bare = append(bare, diff.Absent...)
		} else {
			bare = outliner{r.ids.Skeletons(), side, r.volatile[side]}.append(bare, n, r.pointer(side, at))
		}
	}
	return diff.Sum(bare)
}

// rule returns the rule for a place; nil when there is none.
func (r *reporter) rule(at *ident.Path) *Volatile {
	if rule := r.ruleOf(0, at); rule != nil {
		return rule
	}
	return r.ruleOf(1, at)
}

func (r *reporter) ruleOf(side int, at *ident.Path) *Volatile {
	if len(r.volatile[side]) == 0 {
		return nil
	}
	return r.volatile[side][at.Pointer(side)]
}

// pointer returns the JSON Pointer of a place on a side. Without rules it returns "", because then it is not needed.
func (r *reporter) pointer(side int, at *ident.Path) string {
	if len(r.volatile[side]) == 0 {
		return ""
	}
	return at.Pointer(side)
}

// maxNesting is how deep documents may be nested in texts.
const maxNesting = 4
