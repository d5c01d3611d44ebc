package ident

import "github.com/lockstep-dev/lockstep/internal/jsontree"

// Skeletons describes texts without their generated values. Texts that can be equal apart from generated values have
// equal skeletons.
type Skeletons struct {
	vocabulary *Vocabulary
	partners   *partners // skeletons distinguish ids that have partners; nil: they do not
}

// Skeletons returns skeletons that do not distinguish ids.
func (b *Bindings) Skeletons() Skeletons { return Skeletons{vocabulary: &b.Vocabulary} }

// NamedSkeletons returns skeletons that distinguish ids that have partners.
func (b *Bindings) NamedSkeletons() Skeletons { return Skeletons{&b.Vocabulary, &b.partners} }

// Of returns a text of a side with its tokens replaced by their kinds.
func (k Skeletons) Of(side int, s string) string {
	v := k.vocabulary
	if jsontree.Plain(s) && len(v.Shapes.all) == 0 && !v.Mentions(side, s) {
		return s
	}
	tokens := v.Scan(side, s)
	if len(tokens) == 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	at := 0
	for _, t := range tokens {
		out = append(out, s[at:t.Start+t.prefix]...)
		out = append(out, "‹"+v.Shapes.kindName(t.Kind)+k.Name(side, t.Kind, s[t.Start:t.End])+"›"...)
		at = t.End
	}
	return string(append(out, s[at:]...))
}

// Name returns the part of a skeleton that distinguishes ids: a space and the reference's value, on both sides. If the
// id is not bound, it is only the space. If skeletons do not distinguish ids, it is "".
func (k Skeletons) Name(side int, kind tokenKind, value string) string {
	if k.partners == nil {
		return ""
	}
	partner, met := k.partners.partner(side, kind, value)
	switch {
	case side == 1:
		return " " + partner.value
	case met:
		return " " + value
	}
	return " "
}
