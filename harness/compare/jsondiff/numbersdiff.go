package jsondiff

import (
	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// numbers returns how two numbers differ. Two times of this run do not count as different.
func (d *documents) numbers(at *ident.Path, ref, cand string) diff.Reason {
	if ref == cand {
		return diff.Reason{}
	}
	rules := d.volatile[0]
	if rules == nil {
		rules = d.volatile[1]
	}
	how := numberMode(d.rule(at), rules)
	if how.Equal(ref, cand) {
		return diff.Reason{}
	}
	rk, rn := ident.EpochLen(ref)
	ck, cn := ident.EpochLen(cand)
	if rn == 0 || cn == 0 || rn < len(ref) || cn < len(cand) {
		if why, ok := d.ids.Times.EpochDiff(ref, cand, d.place); ok {
			return why
		}
		return numbersDiff(how, ref, cand)
	}
	if why := ident.OtherUnit(rk, ck); !why.None() {
		return why
	}
	p := d.place
	p.Where = d.at(at)
	return d.ids.Times.MomentsDiff(rk, ref, cand, p)
}

// numbersDiff returns how two numbers differ, given the way in which they were compared.
func numbersDiff(how jsontree.Numbers, ref, cand string) diff.Reason {
	code := diff.NumbersDiffer
	if how != jsontree.Double && jsontree.Double.Equal(ref, cand) {
		switch r, c := jsontree.IsInteger(ref), jsontree.IsInteger(cand); {
		case r && !c:
			code = diff.OnlyReferenceInteger
		case c && !r:
			code = diff.OnlyCandidateInteger
		case how == jsontree.Exact:
			code = diff.NumberNotation
		}
	}
	return diff.Because(diff.ValueDiffers, code)
}
