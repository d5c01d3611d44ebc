package ident

import (
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
)

// A value that a rule calls an id is searched for in longer texts if it has six characters or more. A shorter one, such
// as the number of a row, appears in many texts by chance. But if two texts differ only in whole words that are bound
// to each other, those with a letter are no coincidence. Short numbers count only as a part of a path or a query, or if
// the client asked for that very id: "no item 7", from GET /items/7.

// shortIDs has the bound pairs of which one value is too short to be a known value: the partners of the values of each side, and
// the lengths of these values, longest first.
type shortIDs struct {
	partners [2]map[string]string
	lengths  [2][]int
}

func (b *shortIDs) Empty() bool { return len(b.lengths[0]) == 0 }

func (b *shortIDs) add(ids [2]string) {
	for side, id := range ids {
		Put(&b.partners[side], id, ids[1-side])
		if n := len(id); !slices.Contains(b.lengths[side], n) {
			b.lengths[side] = append(b.lengths[side], n)
			slices.SortFunc(b.lengths[side], func(x, y int) int { return y - x })
		}
	}
}

func (b *shortIDs) clone() shortIDs {
	out := shortIDs{}
	for side := range b.partners {
		out.partners[side], out.lengths[side] = maps.Clone(b.partners[side]), slices.Clone(b.lengths[side])
	}
	return out
}

// minSureDigits is the number of digits from which a bound number, opposite its partner, is no coincidence.
const minSureDigits = 5

// same is SameShape for texts that may also differ in short ids.
func (b *shortIDs) same(ref string, rt []token, cand string, ct []token, of [2]string) bool {
	kinds := func(r, c token) bool { return r.Kind == c.Kind }
	return !b.Empty() && slices.EqualFunc(rt, ct, kinds) && b.walk(ref, rt, cand, ct, of, func(at, n [2]int) bool {
		return n[0] > 0 || ref[at[0]] == cand[at[1]]
	})
}

// walk goes through what is between the tokens of two texts. It calls yield at each position with the lengths of the
// short ids there that are bound to each other, or with 0, and then continues behind these or at the next byte. It
// returns whether yield always returned true, and the texts between the tokens ended together.
func (b *shortIDs) walk(ref string, rt []token, cand string, ct []token, of [2]string, yield func(at, n [2]int) bool) bool {
	texts, at, together := [2]string{ref, cand}, [2]int{}, true
	for i := range len(rt) + 1 {
		to, next := [2]int{len(ref), len(cand)}, [2]int{}
		if i < len(rt) {
			to, next = [2]int{rt[i].Start + rt[i].prefix, ct[i].Start + ct[i].prefix}, [2]int{rt[i].End, ct[i].End}
		}
		for at[0] < to[0] && at[1] < to[1] {
			n := b.pairAt(texts, at, to, of)
			if !yield(at, n) {
				return false
			}
			at[0] += max(n[0], 1)
			at[1] += max(n[1], 1)
		}
		together = together && at == to
		at = next
	}
	return together
}

// pairAt returns the lengths of two short ids at two positions that are bound to each other; 0 when there are none.
func (b *shortIDs) pairAt(texts [2]string, at, to [2]int, of [2]string) (n [2]int) {
	if !wordEdge(texts[0], at[0]) || !wordEdge(texts[1], at[1]) {
		return n
	}
	for _, length := range b.lengths[0] {
		if length == 0 || at[0]+length > to[0] {
			continue
		}
		id := texts[0][at[0] : at[0]+length]
		partner, ok := b.partners[0][id]
		if ok && isWordAt(id, texts[0], at[0], to[0], of[0]) && isWordAt(partner, texts[1], at[1], to[1], of[1]) {
			return [2]int{length, len(partner)}
		}
	}
	return n
}

// isWordAt reports whether an id is the word at a position, and not there by chance.
func isWordAt(id, text string, from, to int, of string) bool {
	end := from + len(id)
	if end > to || text[from:end] != id || !wordEdge(text, end) {
		return false
	}
	return len(id) >= minSureDigits || !allDigits(id) || inAddress(text, from, end) || segmentOf(of, id)
}

// misplaced returns which short id is opposite a value other than its partner, in two texts that are otherwise
// equal. Texts have words and numbers in common, so this needs more evidence than isWordAt. If the id is also opposite
// its partner somewhere, the other appearance may be such a number.
func (b *shortIDs) misplaced(p *partners, ref string, rt []token, cand string, ct []token, of [2]string) diff.Reason {
	if b.Empty() {
		return diff.Reason{}
	}
	var alone [][2]int
	met := map[string]bool{} // by the reference's value
	b.walk(ref, rt, cand, ct, of, func(at, n [2]int) bool {
		switch {
		case n[0] > 0:
			met[ref[at[0]:at[0]+n[0]]] = true
		case wordEdge(ref, at[0]), wordEdge(cand, at[1]):
			alone = append(alone, at)
		}
		return true
	})
	for _, at := range alone {
		if why := b.unpaired(p, [2]string{ref, cand}, at, met); !why.None() {
			return why
		}
	}
	return diff.Reason{}
}

// unpaired returns which short id is at a position without its partner.
func (b *shortIDs) unpaired(p *partners, texts [2]string, at [2]int, met map[string]bool) diff.Reason {
	for side, text := range texts {
		id := b.certainAt(side, text, at[side])
		if id == "" || met[[2]string{id, b.partners[1][id]}[side]] {
			continue
		}
		words := [2]string{id, id}
		other := texts[1-side][at[1-side]:]
		words[1-side] = other[:max(wordLen(other), min(len(id), len(other)))]
		if why := p.conflict(TokKnown, words[0], words[1]); !why.None() {
			return why
		}
	}
	return diff.Reason{}
}

// certainAt returns the short id of a side that begins at a position and is certainly meant as an id: a segment of a
// path, a word of letters and digits, or a long number; "" when there is none.
func (b *shortIDs) certainAt(side int, text string, from int) string {
	if !wordEdge(text, from) {
		return ""
	}
	for _, length := range b.lengths[side] {
		end := from + length
		if length == 0 || end > len(text) || !wordEdge(text, end) {
			continue
		}
		id := text[from:end]
		if _, ok := b.partners[side][id]; ok && (inPath(text, from, end) || hasLettersAndDigits(id) || allDigits(id) && length >= minSureDigits) {
			return id
		}
	}
	return ""
}

// MayBeIn reports whether a text may contain a short id of a side that is certainly meant as one. The text may have
// escapes, which can hide it.
func (b *shortIDs) MayBeIn(side int, text string) bool {
	for i := 0; i < len(text) && !b.Empty(); i++ {
		if text[i] == '\\' || b.certainAt(side, text, i) != "" {
			return true
		}
	}
	return false
}

// inPath reports whether a part of a text is a segment of a path, and not a part of a fraction or a date.
func inPath(text string, from, end int) bool {
	return inAddress(text, from, end) && text[from-1] == '/' && (from < 2 || !Digit(text[from-2]) || !allDigits(text[from:end]))
}

func hasLettersAndDigits(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.ContainsFunc(s, func(r rune) bool { return r < 0x80 && Alnum(byte(r)) && !Digit(byte(r)) })
}

// inAddress reports whether a part of a text is a segment of a path, or a value in a query.
func inAddress(text string, from, end int) bool {
	return from > 0 && strings.IndexByte("/=", text[from-1]) >= 0 && (end == len(text) || strings.IndexByte("/?&#\"'<>),; ", text[end]) >= 0)
}

// segmentOf reports whether a value is a segment of the path that a client asked for.
func segmentOf(asked, value string) bool {
	for part := range strings.SplitSeq(asked, "/") {
		if part == value {
			return true
		}
	}
	return false
}
