package ident

// An alphabet is a set of classes of characters.
type alphabet byte

const (
	digits alphabet = 1 << iota
	lowerHex
	lowerRest
	upperHex
	upperRest
)

// alphabets are the sets that ids are drawn from. Each comes before its supersets.
var alphabets = []struct {
	set  alphabet
	size float64
	name string
}{
	{digits, 10, "digits"},
	{digits | lowerHex, 16, "lower-case hexadecimal digits"},
	{digits | upperHex, 16, "upper-case hexadecimal digits"},
	{digits | lowerHex | lowerRest, 36, "lower-case letters and digits"},
	{digits | upperHex | upperRest, 36, "upper-case letters and digits"},
	{digits | lowerHex | lowerRest | upperHex | upperRest, 62, "letters of both cases and digits"},
}

// class returns the index of the smallest alphabet that contains the whole set.
func (a alphabet) class() int {
	for i := range alphabets {
		if a&^alphabets[i].set == 0 {
			return i
		}
	}
	return len(alphabets) - 1
}

func alphabetOf(s string) alphabet {
	var out alphabet
	for _, c := range []byte(s) {
		switch {
		case Digit(c):
			out |= digits
		case c >= 'a' && c <= 'f':
			out |= lowerHex
		case c >= 'a' && c <= 'z':
			out |= lowerRest
		case c >= 'A' && c <= 'F':
			out |= upperHex
		case c >= 'A' && c <= 'Z':
			out |= upperRest
		}
	}
	return out
}
