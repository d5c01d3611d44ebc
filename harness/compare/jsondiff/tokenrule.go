package jsondiff

import (
	"fmt"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// token compares two values that a rule declares as tokens.
func (d *documents) token(rule *Volatile, at *ident.Path, ref, cand *jsontree.Node) {
	met := d.ids.Met(ident.TokKnown, ref.Text)
	why := d.ids.BindWhole(ref.Text, cand.Text, d.at(at))
	if why.None() && !met {
		why = d.ids.Formats.TokenDiff(rule.At, ref.Text, cand.Text)
	}
	if why.None() {
		return
	}
	others := [2]string{d.ids.PartnerOf(0, ref.Text), d.ids.PartnerOf(1, cand.Text)}
	for i, arg := range why.Args {
		switch arg := arg.(type) {
		case string:
			if slices.Contains([]string{ref.Text, cand.Text, others[0], others[1]}, arg) {
				why.Args[i] = diff.Verbatim(MaskedToken(arg))
			}
		case ident.IDConflict:
			why.Args = why.Args[:i] // a secret must not get a name
		}
	}
	d.report(diff.Difference{
		Reason: why, At: d.at(at).Place(), Ref: diff.Show(MaskedToken(ref.Text)), Cand: diff.Show(MaskedToken(cand.Text)),
		Fingerprint: d.values(at, ref, cand),
	})
}

// MaskedToken is what reports show instead of a token.
func MaskedToken(s string) string { return fmt.Sprintf("‹token of %d characters›", len([]rune(s))) }
