package jsondiff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A rule can say that the order of a list does not matter. Then its elements are paired by what is known of them, the
// clearest pairs first. Comparing a pair binds its generated values, which tells more elements apart:
//
//  1. elements whose key no other element has, if the rule has a key
//  2. elements that are equal, with their bound ids
//  3. elements that are equal apart from ids, because one of the ids is wrong
//  4. the most similar elements
//
// With a key, elements are paired only if their keys are equal, apart from generated values without a partner. The
// remaining elements are missing or extra.

// Elements are described again because their pairs have bound more values, but not more often than this, and not more
// elements than this in total.
const (
	maxLooseRounds    = 32
	maxLooseDescribed = 8 << 10
)

// A looseList is two lists whose order does not matter.
type looseList struct {
	d     *documents
	rule  *Volatile
	at    *ident.Path
	items [2][]*jsontree.Node
	keys  [2][]elementKey
	open  [2][]int // the indexes of the elements without a partner
}

// An elementKey identifies an element of a list. Without a key, its value is nil.
type elementKey struct {
	value *jsontree.Node
	ptr   string // its JSON Pointer
}

// newLooseList returns two lists. It rejects the rule, and returns false, if its key does not identify each element.
func newLooseList(d *documents, rule *Volatile, at *ident.Path, ref, cand *jsontree.Node) (*looseList, bool) {
	l := &looseList{d: d, rule: rule, at: at, items: [2][]*jsontree.Node{ref.Items, cand.Items}}
	for side, items := range l.items {
		l.keys[side] = make([]elementKey, len(items))
		for i := range items {
			l.open[side] = append(l.open[side], i)
		}
		if why := l.readKeys(side); why != "" {
			d.in.refuse(Refusal{KeyUnusable, rule.Rule, fmt.Sprintf(
				"the rule for %s pairs elements by %s, but %s, in %s's list at %s: choose a key that each element has alone, or narrow the path of the list",
				rule.At, rule.Key, why, diff.Side(side), d.in.at(at))})
			return nil, false
		}
	}
	if len(ref.Items) != len(cand.Items) {
		refuseAmbiguous(&d.in, at, ref, cand)
	}
	return l, true
}

// readKeys reads the keys of a side's elements. It returns what is wrong with them, or "".
func (l *looseList) readKeys(side int) string {
	path, err := jsonpath.Parse(l.rule.Key)
	if l.rule.Key == "" || err != nil { // the path was checked when the rules were read
		return ""
	}
	type raw struct {
		kind jsontree.Kind
		text string
	}
	first := map[raw]int{}
	for i, item := range l.items[side] {
		found := path.SelectLocated(item.Value())
		if len(found) != 1 {
			return fmt.Sprintf("element %d has %s", i, textOf(len(found)))
		}
		inside := found[0].Path.Pointer()
		value, _ := item.At(inside)
		if value == nil || !Scalar(value) {
			return fmt.Sprintf("the key of element %d is neither a text nor a number", i)
		}
		key := raw{value.Kind, value.Text}
		if other, taken := first[key]; taken {
			return fmt.Sprintf("elements %d and %d have the same key", other, i)
		}
		first[key] = i
		ptr := below(l.d.in.rules[side], l.d.in.rules.pointer(side, l.at), &jsontree.Node{Kind: jsontree.Array}, i)
		l.keys[side][i] = elementKey{value, ptr + inside}
	}
	return ""
}

func textOf(keys int) string {
	if keys == 0 {
		return "no such value"
	}
	return fmt.Sprintf("%d such values", keys)
}

func (l *looseList) compare() {
	named, bare := l.describe(l.d.in.ids.NamedSkeletons()), l.describe(l.d.in.ids.Skeletons())
	if l.rule.Key != "" {
		l.pair(l.key, clearPairs)
	}
	for range min(maxLooseRounds, maxLooseDescribed/max(1, len(l.items[0]))) {
		if !l.pair(named, clearPairs) && !l.pair(named, firstPair) {
			break
		}
	}
	l.pair(named, allPairs)
	l.pair(bare, allPairs)
	l.pairSimilar()
	for _, i := range l.open[0] {
		l.d.out.differ(diff.Because(diff.ElementMissing, diff.CandidateLacksElement), l.element(0, i, i, ""), l.items[0][i], nil)
	}
	for _, i := range l.open[1] {
		l.d.out.differ(diff.Because(diff.ElementExtra, diff.ReferenceLacksElement), l.element(1, i, i, ""), nil, l.items[1][i])
	}
}

// key describes the key of an element, with its bound ids.
func (l *looseList) key(side, i int) string {
	k := l.keys[side][i]
	if k.value == nil {
		return ""
	}
	return string(outliner{l.d.in.ids.NamedSkeletons(), side, l.d.in.rules[side]}.append(nil, k.value, k.ptr))
}

// describe returns a function that describes an element and its key.
func (l *looseList) describe(by ident.Skeletons) func(side, i int) string {
	return func(side, i int) string {
		rules := l.d.in.rules[side]
		ptr := below(rules, l.d.in.rules.pointer(side, l.at), &jsontree.Node{Kind: jsontree.Array}, i)
		return string(append(outliner{by, side, rules}.append(nil, l.items[side][i], ptr), "\n"+l.key(side, i)...))
	}
}

// A choice says which elements with equal descriptions are paired.
type choice int

const (
	clearPairs choice = iota // those of which each side has one, and those without generated values
	firstPair                // the first ones, because nothing tells them apart
	allPairs
)

// pair pairs elements with equal descriptions, compares them, and reports whether there were any.
func (l *looseList) pair(describe func(side, i int) string, which choice) bool {
	var described [2]map[string][]int
	var order []string // of the reference
	for side := range described {
		described[side] = map[string][]int{}
		for _, i := range l.open[side] {
			text := describe(side, i)
			if described[side][text] = append(described[side][text], i); side == 0 && len(described[0][text]) == 1 {
				order = append(order, text)
			}
		}
	}
	var pairs []diff.Pair
	for _, text := range order {
		refs, cands := described[0][text], described[1][text]
		n := min(len(refs), len(cands))
		switch {
		case which == clearPairs && max(len(refs), len(cands)) > 1 && strings.Contains(text, "‹"):
			n = 0
		case which == firstPair:
			n = min(n, 1-len(pairs))
		}
		for k := range n {
			pairs = append(pairs, diff.Pair{Ref: refs[k], Cand: cands[k]})
		}
	}
	l.comparePairs(pairs)
	return len(pairs) > 0
}

// comparePairs compares pairs of elements, in the order of the reference.
func (l *looseList) comparePairs(pairs []diff.Pair) {
	var paired [2]map[int]bool
	slices.SortFunc(pairs, func(a, b diff.Pair) int { return cmp.Compare(a.Ref, b.Ref) })
	for _, p := range pairs {
		ident.Put(&paired[0], p.Ref, true)
		ident.Put(&paired[1], p.Cand, true)
		l.d.node(l.element(0, p.Ref, p.Cand, clip(l.items[0][p.Ref].String())), l.items[0][p.Ref], l.items[1][p.Cand])
	}
	for side := range l.open {
		l.open[side] = slices.DeleteFunc(l.open[side], func(i int) bool { return paired[side][i] })
	}
}

// pairSimilar pairs the most similar elements. Without a key, they must have something in common.
func (l *looseList) pairSimilar() {
	if len(l.open[0])*len(l.open[1]) > maxGap {
		return
	}
	like := similarity{sums: &l.d.sums, at: l.at, items: l.items, pairs: pairwise{&l.d.sums, maxPairwise}}
	type candidate struct {
		diff.Pair
		cost int
	}
	var all []candidate
	for _, i := range l.open[0] {
		for _, j := range l.open[1] {
			cost := like.changeCost(i, j)
			if l.mayPair(i, j, cost) {
				all = append(all, candidate{diff.Pair{Ref: i, Cand: j}, cost})
			}
		}
	}
	// Two pairs with one element in common never have equal sums of indexes, so swapping the lists changes no pair.
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.Ref+a.Cand, b.Ref+b.Cand))
	})
	var taken [2]map[int]bool
	var pairs []diff.Pair
	for _, c := range all {
		if !taken[0][c.Ref] && !taken[1][c.Cand] {
			ident.Put(&taken[0], c.Ref, true)
			ident.Put(&taken[1], c.Cand, true)
			pairs = append(pairs, c.Pair)
		}
	}
	l.comparePairs(pairs)
}

// mayPair reports whether two elements that differ at this cost may be a pair.
func (l *looseList) mayPair(i, j, cost int) bool {
	ref, cand := l.keys[0][i].value, l.keys[1][j].value
	switch {
	case ref == nil:
		return cost == 0 || cost < elementOther && !Scalar(l.items[0][i])
	case l.key(0, i) == l.key(1, j):
		return true
	default: // two texts may reveal an id only together
		v := &l.d.in.ids.Vocabulary
		return ref.Kind == jsontree.String && cand.Kind == jsontree.String && (v.TextsComparable(ref.Text, cand.Text) || v.ComparablePair(ref.Text, cand.Text))
	}
}

// maxLabel is how much of an element's content names it.
const maxLabel = 60

// element returns the place of an element, and names it by the key of a side's element. Without a key, label names it for
// people.
func (l *looseList) element(side, ref, cand int, label string) *ident.Path {
	key := "*"
	if k := l.keys[side][[2]int{ref, cand}[side]].value; k != nil {
		key = clip(k.String())
		label = l.rule.Key + " " + key
	}
	return l.at.LooseElement(ref, cand, label, key)
}

// clip shortens a text.
func clip(text string) string {
	if runes := []rune(text); len(runes) > maxLabel {
		return string(runes[:maxLabel]) + "…"
	}
	return text
}
