package ident

import "strings"

// WithoutNumbers replaces the numbers in a text: times and sizes that were measured.
func WithoutNumbers(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if !Digit(s[i]) {
			out.WriteByte(s[i])
			continue
		}
		for i+1 < len(s) && (Digit(s[i+1]) || s[i+1] == '.' && i+2 < len(s) && Digit(s[i+2])) {
			i++
		}
		out.WriteString("‹n›")
		for _, unit := range [...]string{"ms", "µs", "ns", "s"} { // 900 ms today may be 1.1 s tomorrow
			if strings.HasPrefix(s[i+1:], unit) && Ends(s[i+1:], len(unit)) {
				i += len(unit)
				break
			}
		}
	}
	return out.String()
}
