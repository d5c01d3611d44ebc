package redact

import "strings"

// shapes are the ids that are not recognised by their length and alphabet alone, and what an alias keeps of each.
var shapes = []struct {
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

// Ids begin with times of these years; what stands in their place is one of 2024.
const (
	ksuid2017, ksuid2024, ksuid2033    = "0hstmN", "2aGtvA", "507hHM"
	object2017, object2024, object2033 = "58684680", "65a0c1f2", "7680c480"
	millis2024                         = "018d1f2a3b4c"
)

// Where a UUID without dashes has its version and its variant.
const (
	version = 12
	variant = 16
)

const (
	digits = "0123456789"
	base62 = digits + lowers + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

func madeOf(s string, n int, chars string) bool { return len(s) == n && strings.Trim(s, chars) == "" }

func between(s, from, to string) bool { return s[:len(from)] >= from && s[:len(to)] < to }

func isULID(s string) bool {
	return madeOf(s, 26, digits+strings.ToUpper(crockford)) && s[0] <= '7'
}

func isKSUID(s string) bool { return madeOf(s, 27, base62) && between(s, ksuid2017, ksuid2033) }

func isObjectID(s string) bool {
	return madeOf(s, 24, digits+hexes) && between(s, object2017, object2033)
}

// isCompact recognises a UUID without dashes whose version is 4 or 7; the times of others are nobody's session.
func isCompact(s string) bool {
	return madeOf(s, 32, digits+hexes) && strings.IndexByte("47", s[version]) >= 0 && strings.IndexByte("89ab", s[variant]) >= 0
}
