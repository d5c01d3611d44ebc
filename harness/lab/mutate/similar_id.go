package mutate

import "strings"

// similarID returns another id of the same form: its last six letters and digits are replaced by others of the same
// kind.
func similarID(s string, seed uint64) string {
	out := []byte(s)
	left := 6
	for i := len(out) - 1; i >= 0 && left > 0; i-- {
		if next, ok := otherCharacter(out[i], seed+uint64(left)); ok {
			out[i] = next
			left--
		}
	}
	return string(out)
}

// otherCharacter returns another letter or digit of the same kind. A hexadecimal letter stays hexadecimal.
func otherCharacter(c byte, seed uint64) (byte, bool) {
	for _, set := range []string{"0123456789", "abcdef", "ghijklmnopqrstuvwxyz", "ABCDEF", "GHJKMNPQRSTVWXYZ", "ILOU"} {
		if i := strings.IndexByte(set, c); i >= 0 {
			step := 1 + splitMix64(seed)%uint64(len(set)-1)
			return set[(uint64(i)+step)%uint64(len(set))], true
		}
	}
	return c, false
}

// splitMix64 scrambles a number.
func splitMix64(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// isPlainID reports whether a text may be an id without anything around it, so that it is written in the same way in
// every place.
func isPlainID(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r|0x20 < 'a' || r|0x20 > 'z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}

// isIDName reports whether a member has the name of an id.
func isIDName(name string) bool {
	return name == "id" || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "ID") || strings.HasSuffix(name, "_id")
}

// replaceWord returns a function that replaces a word where no letter or digit precedes or follows it.
func replaceWord(word, other string) func(string) string {
	return func(text string) string {
		var out strings.Builder
		for at := 0; ; {
			i := nextWord(text, word, at)
			if i < 0 {
				return out.String() + text[at:]
			}
			out.WriteString(text[at:i] + other)
			at = i + len(word)
		}
	}
}

// nextWord returns the next index of a word at or after a place, or -1.
func nextWord(text, word string, at int) int {
	for at <= len(text) {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return -1
		}
		i += at
		if end := i + len(word); (i == 0 || !isAlphanumeric(text[i-1])) && (end == len(text) || !isAlphanumeric(text[end])) {
			return i
		}
		at = i + 1
	}
	return -1
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
