package jsontree

import "math/bits"

// A Sum is a hash of a value. Equal values have equal sums, and different values have different sums, except with a
// probability of 2⁻⁶⁴. The sum is the same in every run. It does not protect against values that were made to
// collide.
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

// SumText returns the sum of a string, of a number in its plain spelling, or of a literal.
func SumText(kind Kind, s string) Sum {
	h := mix(uint64(len(s))^sumText, uint64(kind)^sumEnd)
	for ; len(s) >= 8; s = s[8:] {
		word := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		h = mix(h^word, sumWord)
	}
	return Sum(mix(h^lastWord(s), sumText^sumWord))
}

// lastWord returns up to seven bytes as a number. It reads some bytes twice, because that is faster than reading each
// by itself.
func lastWord(s string) uint64 {
	switch n := len(s); {
	case n >= 4:
		return uint64(fourBytes(s)) | uint64(fourBytes(s[n-4:]))<<(8*(n-4))
	case n > 0:
		return uint64(s[0]) | uint64(s[n/2])<<(8*(n/2)) | uint64(s[n-1])<<(8*(n-1))
	default:
		return 0
	}
}

func fourBytes(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// SumEmpty returns the sum of an empty array or object.
func SumEmpty(kind Kind) Sum { return Sum(mix(uint64(kind)^sumText, sumEnd)) }

// Element adds an element to an array's sum.
func (s Sum) Element(item Sum) Sum { return Sum(mix(uint64(s)^sumElement, uint64(item)^sumEnd)) }

// Member adds a member to an object's sum, whatever the order. Members whose names became equal, because generated
// parts were removed from them, are numbered.
func (s Sum) Member(name Sum, number int, item Sum) Sum {
	return s + Sum(mix(uint64(name)^sumMember, mix(uint64(item)^sumWord, uint64(number)^sumEnd)))
}
