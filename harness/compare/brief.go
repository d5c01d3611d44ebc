package compare

import (
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A value that a rule calls an id is looked for in longer texts from six characters on. A shorter one, such as the number
// that a database counts, stands in many texts by chance. But where two texts part in nothing else than in whole words that
// are bound to each other, these are no chance when they have a letter; and digits are none as a part of a path or of a
// query, and where the client has asked for just that thing: "no item 7", of GET /items/7.

// A brief is two bound values of which one is that short; the reference's first.
type brief [2]string

// sureDigits is how many digits no two texts have by chance that are bound to each other.
const sureDigits = 5

// sameButForBriefs is sameShape for texts that part where short ids stand.
func (b *bindings) sameButForBriefs(ref string, rt []token, cand string, ct []token, of [2]string) bool {
	if len(b.briefs) == 0 || len(rt) != len(ct) {
		return false
	}
	texts, at := [2]string{ref, cand}, [2]int{}
	for i, r := range rt {
		c := ct[i]
		if r.kind != c.kind || !b.sameWords(texts, at, [2]int{r.start + r.lead, c.start + c.lead}, of) {
			return false
		}
		at = [2]int{r.end, c.end}
	}
	return b.sameWords(texts, at, [2]int{len(ref), len(cand)}, of)
}

// sameWords compares a part of two texts.
func (b *bindings) sameWords(texts [2]string, at, to [2]int, of [2]string) bool {
	for at[0] < to[0] && at[1] < to[1] {
		if id := b.briefAt(texts, at, to, of); id != nil {
			at[0] += len(id[0])
			at[1] += len(id[1])
			continue
		}
		if texts[0][at[0]] != texts[1][at[1]] {
			return false
		}
		at[0]++
		at[1]++
	}
	return at == to
}

// briefAt returns the short ids that stand at two places; nil when none do.
func (b *bindings) briefAt(texts [2]string, at, to [2]int, of [2]string) *brief {
	if !wordEdge(texts[0], at[0]) || !wordEdge(texts[1], at[1]) {
		return nil
	}
	for i := range b.briefs {
		if id := &b.briefs[i]; id.stands(0, texts, at, to, of) && id.stands(1, texts, at, to, of) {
			return id
		}
	}
	return nil
}

// stands reports whether a side's id is the word at a place, and not by chance.
func (id *brief) stands(side int, texts [2]string, at, to [2]int, of [2]string) bool {
	text, from, end := texts[side], at[side], at[side]+len(id[side])
	if end > to[side] || text[from:end] != id[side] || !wordEdge(text, end) {
		return false
	}
	return len(id[side]) >= sureDigits || !allDigits(id[side]) || inAddress(text, from, end) || segmentOf(of[side], id[side])
}

func allDigits(s string) bool {
	return strings.TrimLeft(s, "0123456789") == ""
}

// inAddress reports whether a part of a text is a segment of a path, or a value of a query.
func inAddress(text string, from, end int) bool {
	return from > 0 && strings.IndexByte("/=", text[from-1]) >= 0 && (end == len(text) || strings.IndexByte("/?&#\"'<>),; ", text[end]) >= 0)
}

// segmentOf reports whether a value is a segment of the path that a client has asked for.
func segmentOf(asked, value string) bool {
	for part := range strings.SplitSeq(asked, "/") {
		if part == value {
			return true
		}
	}
	return false
}

// idsFirst compares the members that a rule calls ids before all others, and returns their names: what stands before an id
// may name it, too ({"self": "/items/7", "id": 7}).
func (d *documents) idsFirst(first int, at *spot, ref, cand *jsontree.Node) (done map[string]bool) {
	if len(d.volatile[0])+len(d.volatile[1]) == 0 {
		return nil
	}
	for i, name := range ref.Names {
		if i < first || !scalar(ref.Items[i]) || ref.MemberAt(name, i) != ref.Items[i] {
			continue
		}
		other, here := cand.MemberAt(name, i), at.member(name, name)
		if rule := d.rule(here); other == nil || rule == nil || rule.Kind != ID {
			continue
		}
		put(&done, name, true)
		d.node(here, ref.Items[i], other)
	}
	return done
}
