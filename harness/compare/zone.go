package compare

import (
	"fmt"
	"strings"
)

// RFC 3339 lets a moment be written in any zone, and UTC as "Z" and as "+00:00". Clients that sort such times as texts, or cut
// the zone off, see the difference; where they do not, a rule with the unit rfc3339 says so.

// zoned says how two times of RFC 3339 are written in different zones; "" when they are not, or one is no such time.
func zoned(ref, cand string) string {
	if ref == cand || rfc3339Len(ref) != len(ref) || rfc3339Len(cand) != len(cand) || ref == "" || cand == "" {
		return ""
	}
	r, c := zoneOf(ref), zoneOf(cand)
	if r == c {
		return ""
	}
	return fmt.Sprintf("the times are written differently: in the zone %s, where the reference has %s", c, r)
}

// zoneOf returns how a time of RFC 3339 ends: "Z", "+02:00".
func zoneOf(text string) string {
	const date = len("2006-01-02")
	return text[date+strings.LastIndexAny(text[date:], "Z+-"):]
}
