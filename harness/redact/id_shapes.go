package redact

import "strings"

// idShapes are the ids that are recognised by more than length and alphabet, and what an alias keeps of each.
var idShapes = []struct {
	is   func(string) bool
	keep func(alias []byte, secret string)
}{
	{isULID, func(alias []byte, _ string) { alias[0] = '0' + (alias[0]-'0')%8 }},
	{isKSUID, func(alias []byte, _ string) { copy(alias, ksuid2024) }},
	{isObjectID, func(alias []byte, _ string) { copy(alias, object2024) }},
	{isCompact, func(alias []byte, secret string) {
		alias[version], alias[variant] = secret[version], secret[variant]
		if secret[version] == '7' {
			copy(alias, millis2024)
		}
	}},
}

// Ids of these shapes begin with a time from these years. Their replacements begin with a time in 2024.
const (
	ksuid2017, ksuid2024, ksuid2033    = "0hstmN", "2aGtvA", "507hHM"
	object2017, object2024, object2033 = "58684680", "65a0c1f2", "7680c480"
	millis2024                         = "018d1f2a3b4c"
)

// The positions of the version and the variant in a UUID without dashes.
const (
	version = 12
	variant = 16
)

const (
	digits = "0123456789"
	base62 = digits + lowerLetters + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

func consistsOf(s string, n int, chars string) bool {
	return len(s) == n && strings.Trim(s, chars) == ""
}

func inRange(s, from, to string) bool { return s[:len(from)] >= from && s[:len(to)] < to }

func isULID(s string) bool {
	return consistsOf(s, 26, digits+strings.ToUpper(crockfordLetters)) && s[0] <= '7'
}

func isKSUID(s string) bool { return consistsOf(s, 27, base62) && inRange(s, ksuid2017, ksuid2033) }

func isObjectID(s string) bool {
	return consistsOf(s, 24, digits+hexLetters) && inRange(s, object2017, object2033)
}

// isCompact recognises a UUID without dashes of version 4 or 7. Other versions are not used as session ids.
func isCompact(s string) bool {
	return consistsOf(s, 32, digits+hexLetters) && strings.IndexByte("47", s[version]) >= 0 && strings.IndexByte("89ab", s[variant]) >= 0
}
