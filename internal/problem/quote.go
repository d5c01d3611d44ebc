package problem

import (
	"strconv"
	"unicode/utf8"
)

// MaxQuote is how many bytes of a text Quote shows.
const MaxQuote = 60

// Quote returns a text in quotes, shortened if it is long. Nothing from a server reaches a terminal unescaped.
func Quote(s string) string {
	if len(s) <= MaxQuote {
		return strconv.Quote(s)
	}
	cut := MaxQuote
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strconv.Quote(s[:cut]) + "…"
}
