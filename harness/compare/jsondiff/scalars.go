package jsondiff

import (
	"fmt"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// scalars compares values that are neither objects nor arrays, and binds the generated values in them.
type scalars struct {
	in       *setting
	out      *reporter
	times    *timeRules
	embedded embedded
}

// compare compares two values of one type without a rule.
func (s *scalars) compare(at *ident.Path, ref, cand *jsontree.Node) {
	switch {
	case ref.Kind == jsontree.String, ref.Kind == jsontree.Number && s.in.ids.Vocabulary.ProjectNumbers(ref.Text, cand.Text):
		s.text(at, ref, cand)
	case ref.Kind == jsontree.Number:
		s.out.differ(s.numbers(at, ref.Text, cand.Text), at, ref, cand)
	case ref.Text != cand.Text:
		s.out.differ(diff.Because(diff.ValueDiffers, diff.ValuesDiffer), at, ref, cand)
	}
}

func (s *scalars) text(at *ident.Path, ref, cand *jsontree.Node) {
	if ref.Text != cand.Text && looksEncoded(ref.Text) && s.embedded.compare(at, ref, cand) {
		return
	}
	p := s.in.place
	p.Where = s.in.at(at)
	why := s.in.ids.Texts(ref.Text, cand.Text, p)
	if why.None() {
		why = s.times.fraction(nil, at, ref.Text, cand.Text)
	}
	if why.Code == diff.TextsDiffer && s.embedded.compare(at, ref, cand) {
		return
	}
	s.out.differ(why, at, ref, cand)
}

// numbers returns how two numbers differ. Two times of this run do not count as different.
func (s *scalars) numbers(at *ident.Path, ref, cand string) diff.Reason {
	if ref == cand {
		return diff.Reason{}
	}
	rules := s.in.rules[0]
	if rules == nil {
		rules = s.in.rules[1]
	}
	how := numberMode(s.in.rules.at(at), rules)
	if how.Equal(ref, cand) {
		return diff.Reason{}
	}
	rk, rok := ident.WholeTime(ref)
	ck, cok := ident.WholeTime(cand)
	if !rok || !cok {
		if why, ok := s.in.ids.Times.EpochDiff(ref, cand, s.in.place); ok {
			return why
		}
		return numbersDiff(how, ref, cand)
	}
	if why := ident.OtherUnit(rk, ck); !why.None() {
		return why
	}
	p := s.in.place
	p.Where = s.in.at(at)
	return s.in.ids.Times.MomentsDiff(rk, ref, cand, p)
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

// byRule compares two values of one type by the rule for their place. It returns false when the rule does not apply to
// that type.
func (s *scalars) byRule(rule *Volatile, at *ident.Path, ref, cand *jsontree.Node) bool {
	switch rule.Kind {
	case ID:
		s.id(at, ref, cand)
	case JSON:
		if ref.Kind == jsontree.String {
			s.embedded.compareJSON(at, ref, cand)
		}
		return ref.Kind == jsontree.String
	case Text:
		return ref.Kind == jsontree.String
	case Time:
		s.out.differ(s.times.time(rule, at, ref.Text, cand.Text), at, ref, cand)
	case Token:
		s.token(rule, at, ref, cand)
	case Duration, Number:
		s.out.differ(rule.check(ref.Text, cand.Text), at, ref, cand)
	default:
		return false
	}
	return true
}

// id compares two values that a rule declares as ids.
func (s *scalars) id(at *ident.Path, ref, cand *jsontree.Node) {
	for side, text := range [2]string{ref.Text, cand.Text} {
		if text == "" && ref.Text != cand.Text {
			s.out.differ(diff.Because(diff.ValueDiffers, diff.IDEmpty, diff.Side(side)), at, ref, cand)
			return
		}
	}
	if why := ident.NilID(ref.Text, cand.Text); !why.None() && !s.in.ids.Met(ident.TokKnown, ref.Text) {
		s.out.differ(why, at, ref, cand)
		return
	}
	why := s.in.ids.KnownElsewhere(ref.Text, cand.Text)
	if why.None() {
		why = s.in.ids.BindWhole(ref.Text, cand.Text, s.in.at(at))
	}
	s.out.differ(why, at, ref, cand)
}

// token compares two values that a rule declares as tokens.
func (s *scalars) token(rule *Volatile, at *ident.Path, ref, cand *jsontree.Node) {
	met := s.in.ids.Met(ident.TokKnown, ref.Text)
	why := s.in.ids.BindWhole(ref.Text, cand.Text, s.in.at(at))
	if why.None() && !met {
		why = s.in.ids.Formats.TokenDiff(rule.At, ref.Text, cand.Text)
	}
	if why.None() {
		return
	}
	others := [2]string{s.in.ids.PartnerOf(0, ref.Text), s.in.ids.PartnerOf(1, cand.Text)}
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
	s.in.report(diff.Difference{
		Reason: why, At: s.in.at(at).Place(), Ref: diff.Show(MaskedToken(ref.Text)), Cand: diff.Show(MaskedToken(cand.Text)),
		Fingerprint: s.out.digest(at, ref, cand),
	})
}

// MaskedToken is what reports show instead of a token.
func MaskedToken(s string) string { return fmt.Sprintf("‹token of %d characters›", len([]rune(s))) }
