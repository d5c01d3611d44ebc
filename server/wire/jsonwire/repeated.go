package jsonwire

import (
	"cmp"
	"slices"
)

// A repeated object has a duplicate name. It is identified by its place in a parser's output.
type repeated struct {
	start int
	stay  []winner
	end   int
}

// A winner is a member that stays: the first occurrence of a name, with its last value.
type winner struct{ name, nameEnd, value, end int }

func winning(members []member, winners []int) []winner {
	var stay []winner
	for i, m := range members {
		if winners[i] >= 0 {
			last := members[winners[i]]
			stay = append(stay, winner{m.name, m.value - 1, last.value, last.end})
		}
	}
	return stay
}

// withoutRepeated returns the output without duplicate names. It copies everything that stays once, and does not read
// the rest.
func (p *parser) withoutRepeated() Text {
	if len(p.repeating) == 0 {
		return p.out
	}
	slices.SortFunc(p.repeating, func(a, b repeated) int { return cmp.Compare(a.start, b.start) })
	return p.appendRange(make(Text, 0, len(p.out)), 0, len(p.out))
}

// appendRange appends a part of the output that contains only complete objects.
func (p *parser) appendRange(dst Text, from, to int) Text {
	for {
		next, _ := slices.BinarySearchFunc(p.repeating, from, func(o repeated, at int) int { return cmp.Compare(o.start, at) })
		if next == len(p.repeating) || p.repeating[next].start >= to {
			return append(dst, p.out[from:to]...)
		}
		o := p.repeating[next]
		dst = append(dst, p.out[from:o.start]...)
		dst = append(dst, '{')
		for i, m := range o.stay {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(dst, p.out[m.name:m.nameEnd]...), ':')
			dst = p.appendRange(dst, m.value, m.end)
		}
		dst = append(dst, '}')
		from = o.end
	}
}
