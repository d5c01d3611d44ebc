package jsontree

import "math/bits"

// A Sum stands for a value: values that are equal as JSON have one sum, and two that differ have two, but for a chance of
// one in 2⁶⁴. It is the same in every run, and no defence against somebody who looks for values with one sum.
type Sum uint64

const (
	sumText    = 0x9e3779b97f4a7c15
	sumWord    = 0xe7037ed1a0b428db
	sumElement = 0x8ebc6af09c88c6e3
	sumMember  = 0x589965cc75374cc3
	sumEnd     = 0x1d8e4e27c47d124f
)

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// SumText returns the sum of a string, of a number by its plain spelling, or of a literal.
func SumText(kind Kind, s string) Sum {
	h := mix(uint64(len(s))^sumText, uint64(kind)^sumEnd)
	for ; len(s) >= 8; s = s[8:] {
		word := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		h = mix(h^word, sumWord)
	}
	var word uint64
	for i := range len(s) {
		word |= uint64(s[i]) << (8 * i)
	}
	return Sum(mix(h^word, sumText^sumWord))
}

// SumEmpty returns the sum of an array or an object without items, to be added to.
func SumEmpty(kind Kind) Sum { return Sum(mix(uint64(kind)^sumText, sumEnd)) }

// Element adds an element to an array's sum.
func (s Sum) Element(item Sum) Sum { return Sum(mix(uint64(s)^sumElement, uint64(item)^sumEnd)) }

// Member adds a member to an object's sum; the order does not matter. Members of one name, as there are when their names
// stand for generated ones, have numbers.
func (s Sum) Member(name Sum, number int, item Sum) Sum {
	return s + Sum(mix(uint64(name)^sumMember, mix(uint64(item)^sumWord, uint64(number)^sumEnd)))
}
