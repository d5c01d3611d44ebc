package jsondiff

import "github.com/lockstep-dev/lockstep/internal/jsontree"

// sums computes sums of the values of two documents. Values with the same sum are equal apart from generated values.
type sums struct {
	in    *setting
	known [2]int // the numbers of known values for which taken is valid
	taken [2]map[*jsontree.Node]jsontree.Sum
	whole [2]searchedText
}

// sum is a hash of a value's outline, computed without the outline. The sums of arrays and objects are kept, because a
// nested array is needed again for each array around it.
func (s *sums) sum(side int, n *jsontree.Node, ptr string) jsontree.Sum {
	var rule *Volatile
	if len(s.in.rules[side]) > 0 && Scalar(n) {
		rule = s.in.rules[side][ptr]
		if rule != nil && !rule.Kind.ComparesNumbers() {
			return jsontree.SumText('v', string(rule.Kind))
		}
	}
	switch n.Kind {
	case jsontree.String:
		return jsontree.SumText(n.Kind, s.in.ids.Skeletons().Of(side, n.Text))
	case jsontree.Number:
		return jsontree.SumText(n.Kind, s.in.ids.Skeletons().Of(side, numberMode(rule, s.in.rules[side]).Plain(n.Text)))
	case jsontree.Array, jsontree.Object:
	default:
		return jsontree.SumText(n.Kind, n.Text)
	}
	if sum, _, ok := s.summary(side, n); ok {
		return sum
	}
	if left := maxSmall; isSmall(n, &left) {
		return s.sumItems(side, n, ptr, nil)
	}
	if known := len(s.in.ids.Vocabulary.Known(side)); s.taken[side] == nil || s.known[side] != known {
		s.taken[side], s.known[side] = map[*jsontree.Node]jsontree.Sum{}, known
	}
	sum, ok := s.taken[side][n]
	if !ok {
		sum = s.sumItems(side, n, ptr, nil)
		s.taken[side][n] = sum
	}
	return sum
}

// maxSmall is the largest number of values in an array or an object whose sum is faster to compute than to look up.
const maxSmall = 16

// isSmall reports whether a value contains no more than left values.
func isSmall(n *jsontree.Node, left *int) bool {
	n.Open()
	if *left -= len(n.Items); *left < 0 {
		return false
	}
	for _, item := range n.Items {
		if (item.Kind == jsontree.Array || item.Kind == jsontree.Object) && !isSmall(item, left) {
			return false
		}
	}
	return true
}

// sumItems returns the sum of an array or an object. Unless parts is nil, it gets a sum for each item with its name or
// index.
func (s *sums) sumItems(side int, n *jsontree.Node, ptr string, parts []jsontree.Sum) jsontree.Sum {
	n.Open()
	sum := jsontree.SumEmpty(n.Kind)
	loose := n.Kind == jsontree.Array && listRule(s.in.rules[side], ptr) != nil
	var numbers map[string]int // counts members whose names are equal apart from generated values
	for i := range n.Items {
		item := s.sum(side, n.Items[i], below(s.in.rules[side], ptr, n, i))
		var part jsontree.Sum
		if n.Kind == jsontree.Array {
			at := jsontree.Sum(i)
			if loose {
				at = 0
				sum = sum.Member(at, 0, item)
			} else {
				sum = sum.Element(item)
			}
			if parts != nil {
				parts[i] = part.Member(at, 0, item)
			}
			continue
		}
		name, number := s.in.ids.Skeletons().Of(side, n.Names[i]), 0
		if name != n.Names[i] {
			if numbers == nil {
				numbers = map[string]int{}
			}
			number = numbers[name]
			numbers[name]++
		}
		part = part.Member(jsontree.SumText(jsontree.String, name), number, item)
		sum += part
		if parts != nil {
			parts[i] = part
		}
	}
	return sum
}

// summary returns the sum of a value's outline, if it was computed when the document was read and is still valid. plain
// is whether nothing in the value has the shape of a generated value.
func (s *sums) summary(side int, n *jsontree.Node) (sum jsontree.Sum, plain, ok bool) {
	sum, text, plain, hidden, ok := n.Summary()
	if !ok || !s.in.rules.none() {
		return 0, false, false
	}
	plain = plain && !s.in.ids.Vocabulary.ShortIDs.MayBeIn(side, text)
	known := s.in.ids.Vocabulary.Known(side)
	if s.whole[side].lacks(known) {
		return sum, plain, !hidden || len(known) == 0
	}
	return sum, plain, len(known) <= maxKnownPerPart && !mayMention(text, hidden, known)
}

// equalPlain reports whether the sums of two values show that they are equal and contain nothing to bind.
func (s *sums) equalPlain(ref, cand *jsontree.Node) bool {
	rs, rplain, ok := s.summary(0, ref)
	if !ok || !rplain {
		return false
	}
	cs, cplain, ok := s.summary(1, cand)
	return ok && cplain && rs == cs
}
