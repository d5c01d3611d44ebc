package ident

import (
	"encoding/base32"
	"encoding/binary"
	"strconv"
	"strings"
	"time"
)

// An id behind a prefix is recognised by its digits: "req_Xk29dLmQp71b". But ids that are drawn from letters and digits
// often have only one digit or none, and look like words. Of those with twelve characters, that is one in five, or one
// in two if there are capitals. Two texts in the same place show more. If they differ in words of the same length
// behind the same prefix, these words may be ids. They are if they have enough digits together, or mix cases as words
// do not.

// MinPair is the smallest number of characters behind the prefix of an id.
const MinPair = 12

// wordPairs returns the ids with their prefixes, if they have any. It returns nil when the words of the texts do not
// have the same lengths.
func wordPairs(ref, cand string) [][2]string {
	if len(ref) != len(cand) {
		return nil
	}
	var out [][2]string
	before := -1 // where the previous word begins, if only - or _ follows it
	for i := 0; i < len(ref); {
		n, m := wordLen(ref[i:]), wordLen(cand[i:])
		switch {
		case n != m:
			return nil
		case n == 0 && ref[i] != cand[i]:
			return nil
		case n == 0:
			if i > 0 && !Alnum(ref[i-1]) || ref[i] != '_' && ref[i] != '-' {
				before = -1
			}
			i++
			continue
		}
		r, c := ref[i:i+n], cand[i:i+n]
		prefixed := before >= 0 && prefixLen(ref[before:]) == i-before && ref[before:i] == cand[before:i]
		switch {
		case r == c:
		case prefixed && (looksRandom(r, c) || shortHex(r, c) && !namesFile(ref[i+n:])):
			out = append(out, [2]string{ref[before : i+n], cand[before : i+n]})
		case isXID(r) && isXID(c), isCUID(r) && isCUID(c), isCUID2(r) && isCUID2(c):
			out = append(out, [2]string{r, c})
		}
		before, i = i, i+n
	}
	return out
}

// looksRandom reports whether two different words of the same length are ids.
func looksRandom(ref, cand string) bool {
	if len(ref) < MinPair {
		return false
	}
	if countDigits(ref)+countDigits(cand) >= 2 {
		return true
	}
	r, c := nanoMix(ref), nanoMix(cand)
	return r > 0 && c > 0 && 2*(r+c) >= len(ref) // words in camel case change class less often
}

// tempPair returns the names of two temporary files when one of them alone looks like a word: "/tmp/out-x7Yz12ab.txt"
// and "/tmp/out-dajwoybo.txt". The texts must be equal apart from one word.
func tempPair(ref, cand string) []string {
	if len(ref) != len(cand) || ref == cand {
		return nil
	}
	texts, other := [2]string{ref, cand}, [2]string{cand, ref}
	for side, text := range texts {
		tokens := scanShapes(nil, text, 0, len(text))
		if len(tokens) != 1 || tokens[0].Kind != tokTemp || len(scanShapes(nil, other[side], 0, len(text))) > 0 {
			continue
		}
		t := tokens[0]
		if t.prefix == 0 || !joinerBefore(text, t.Start+t.prefix) { // only - or . shows where the generated word begins
			continue
		}
		from := t.Start + t.prefix
		if text[:from] != other[side][:from] || text[t.End:] != other[side][t.End:] {
			continue
		}
		if wordLen(other[side][from:]) != t.End-from || t.End-from < MinKnown {
			continue
		}
		return []string{ref[t.Start:t.End], cand[t.Start:t.End]}
	}
	return nil
}

func joinerBefore(s string, i int) bool { return s[i-1] == '-' || s[i-1] == '.' }

// Some shapes prove little by themselves, because words, checksums and counters have them, too. But two different
// values in the same place that both have such a shape are ids, or times of the run.

// The times inside ids must be between the beginnings of 2017 and 2033.
var (
	since2017 = time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC)
	until2033 = time.Date(2033, 1, 1, 0, 0, 0, 0, time.UTC)
)

func inEra(t time.Time) bool { return !t.Before(since2017) && t.Before(until2033) }

// isXID recognises 20 characters of base 32 that begin with the seconds since 1970 (github.com/rs/xid).
func isXID(s string) bool {
	const size = 20
	if len(s) != size {
		return false
	}
	id, err := base32.HexEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ToUpper(s))
	return err == nil && s == strings.ToLower(s) && inEra(time.Unix(int64(binary.BigEndian.Uint32(id)), 0))
}

// isCUID recognises the letter c, the milliseconds since 1970 in eight characters of base 36, and sixteen more
// characters.
func isCUID(s string) bool {
	const size, stamp = 25, 8
	if len(s) != size || s[0] != 'c' || !inBase36(s) {
		return false
	}
	ms, err := strconv.ParseInt(s[1:1+stamp], 36, 64)
	return err == nil && inEra(time.UnixMilli(ms))
}

// isCUID2 recognises a letter and 23 characters of base 36. They must include digits, and must not be a hexadecimal
// number.
func isCUID2(s string) bool {
	const size, fewest = 24, 2
	return len(s) == size && !Digit(s[0]) && inBase36(s) && !lowerHexOnly(s) && countDigits(s) >= fewest
}

// shortHex reports whether two words are the eight hexadecimal digits of short ids: "run-1a2b3c4d". Eight decimal
// digits may be a date or a count, and eight letters may be a word. Both count as an id only if the other one has
// letters and digits.
func shortHex(ref, cand string) bool {
	const size = 8
	if len(ref) != size || len(cand) != size || !lowerHexOnly(ref) || !lowerHexOnly(cand) {
		return false
	}
	n := countDigits(ref) + countDigits(cand)
	return countDigits(ref) < size && countDigits(cand) < size && n > 0 || n > size && n < 2*size && !isDay(ref) && !isDay(cand)
}

// isDay recognises a date of this century: 20261122.
func isDay(s string) bool {
	_, err := time.Parse("20060102", s)
	return err == nil && strings.HasPrefix(s, "20")
}

// namesFile reports whether the text behind a word makes it the name of a file: "main-1a2b3c4d.js" contains a checksum
// of its contents, and equal contents have equal checksums.
func namesFile(rest string) bool {
	return len(rest) > 1 && rest[0] == '.' && Alnum(rest[1])
}

// EpochUnit returns the unit of a time since 1970 with 16 or 19 digits: microseconds or nanoseconds of a year between
// 2017 and 2033. It returns "" for other texts. Ids of Twitter and others have as many digits, so one such number
// proves nothing.
func EpochUnit(s string) Unit {
	if len(s) != 16 && len(s) != 19 || !allDigits(s) {
		return ""
	}
	unit := Microseconds
	if len(s) == 19 {
		unit = Nanoseconds
	}
	if t, ok := unit.Moment(s); !ok || !inEra(t) {
		return ""
	}
	return unit
}
