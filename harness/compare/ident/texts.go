package ident

import "github.com/lockstep-dev/lockstep/harness/compare/diff"

// Texts compares two texts and binds the generated values in them. It returns how the texts differ apart from those
// values.
func (b *Bindings) Texts(ref, cand string, p Place) diff.Reason {
	why := b.compareTokens(ref, cand, p)
	if why.Code != diff.TextsDiffer {
		return why
	}
	if why, ok := b.Times.EpochDiff(ref, cand, p); ok {
		return why
	}
	found, conflict := b.bindPairs(ref, cand, p.Where)
	switch {
	case !conflict.None():
		return conflict
	case found:
		return b.compareTokens(ref, cand, p)
	}
	return why
}

// compareTokens compares two texts by the tokens that are recognised in each of them alone.
func (b *Bindings) compareTokens(ref, cand string, p Place) diff.Reason {
	v := &b.Vocabulary
	rt := v.Scan(0, ref)
	ct := rt
	if ref != cand || v.Mentions(1, cand) || v.Mentions(0, ref) {
		ct = v.Scan(1, cand)
	}
	if !SameShape(ref, rt, cand, ct) && !v.ShortIDs.same(ref, rt, cand, ct, p.Of) {
		return b.shapeDiff(ref, rt, cand, ct, p)
	}
	if why := v.ShortIDs.misplaced(&b.partners, ref, rt, cand, ct, p.Of); !why.None() {
		return why
	}
	composite, format := false, diff.Reason{}
	for i, t := range rt {
		rv, cv := ref[t.Start:t.End], cand[ct[i].Start:ct[i].End]
		if !t.Kind.IsTime() {
			met := b.Met(t.Kind, rv)
			if why := b.bindToken(t, rv, cv, p.Where); !why.None() {
				return why
			}
			if !met && format.None() {
				format = b.Formats.formatDiff(t.Kind, rv[:t.prefix], rv[t.prefix:], cv[t.prefix:])
			}
			continue
		}
		if rv != cv {
			if why := b.Times.MomentsDiff(t.Kind, rv, cv, p); !why.None() {
				return why
			}
		}
		composite = composite || t.Kind == tokMillis && len(rv) < len(ref)
	}
	if composite {
		// Milliseconds inside a longer text make it an id, such as "client_call_1765000000000". The whole text is
		// bound, or the id of another request would pass as this one.
		if why := b.BindWhole(ref, cand, p.Where); !why.None() {
			return why
		}
	}
	return format
}

// shapeDiff returns how two texts differ that are not equal apart from their tokens. Two nanoids do not differ, even if
// one of them alone could be a word. It binds them.
func (b *Bindings) shapeDiff(ref string, rt []token, cand string, ct []token, p Place) diff.Reason {
	if NanoidPair(ref, cand) {
		return b.bindKnown(tokNano, ref, cand, p.Where)
	}
	if why := b.partners.conflict(TokKnown, ref, cand); !why.None() {
		return why
	}
	if r, c := prefixOf(ref, rt), prefixOf(cand, ct); r != "" && c != "" {
		return diff.Because(diff.IDForm, diff.IDPrefixes, r, c)
	}
	if len(rt) == 1 && len(ct) == 1 {
		if why := OtherUnit(rt[0].Kind, ct[0].Kind); !why.None() {
			return why
		}
	}
	return diff.Because(diff.ValueDiffers, diff.TextsDiffer)
}

// prefixOf returns the prefix of a text that is one id behind a prefix; "" for all other texts.
func prefixOf(s string, tokens []token) string {
	if len(tokens) != 1 || tokens[0].Kind != tokPrefixed || tokens[0].Start > 0 || tokens[0].End < len(s) {
		return ""
	}
	return s[:tokens[0].prefix]
}

// OtherUnit returns how the notations of two times differ. It returns no reason when they are the same, or when a value
// is not a time.
func OtherUnit(ref, cand tokenKind) diff.Reason {
	if ref == cand || !ref.IsTime() || !cand.IsTime() {
		return diff.Reason{}
	}
	return diff.Because(diff.ValueDiffers, diff.TimeUnits, notations[cand].name, notations[ref].name)
}
