package ident

import (
	"encoding/base32"
	"encoding/binary"
	"strconv"
	"strings"
	"time"
)

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

func inBase36(s string) bool {
	return strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}

func countDigits(s string) (n int) {
	for i := range len(s) {
		if Digit(s[i]) {
			n++
		}
	}
	return n
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
