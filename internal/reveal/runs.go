package reveal

import "strings"

// These functions replace regular expressions, which would take most of the time of a search.

// base64Runs returns the parts of a text that may be Base64, even across lines: at least eight characters.
func base64Runs(text string) (out []string) {
	for _, run := range strings.FieldsFunc(text, func(r rune) bool { return r != '\r' && r != '\n' && !base64Digit(r) }) {
		if run = strings.Trim(run, "\r\n"); len(run) >= 8 {
			out = append(out, run)
		}
	}
	return out
}

func base64Digit(r rune) bool {
	return 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '+' || r == '/' || r == '_' || r == '-'
}

// hasWords reports whether eight characters of ASCII text follow each other.
func hasWords(text string) bool {
	run := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c != 0 && c != '\t' && c != '\r' && c != '\n' && (c < ' ' || c > '~'):
			run = 0
		case run == 7:
			return true
		default:
			run++
		}
	}
	return false
}

// hexRuns returns the parts of a text that may be hexadecimal: at least twelve digits, with at most one blank or
// colon between two.
func hexRuns(text string) (out []string) {
	for from := 0; from < len(text); from++ {
		digits, to := 0, from
		for i := from; i < len(text); i++ {
			switch {
			case hexDigit(text[i]):
				digits, to = digits+1, i+1
				continue
			case digits > 0 && to == i && (text[i] == ' ' || text[i] == ':'):
				continue
			}
			break
		}
		if digits >= 12 {
			out = append(out, text[from:to])
		}
		from = max(from, to)
	}
	return out
}

func hexDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// unfold joins lines where Base64 may continue after the indentation of the next line.
func unfold(text string) string {
	var out strings.Builder
	for {
		end := strings.IndexByte(text, '\n')
		if end < 0 {
			return out.String() + text
		}
		line, rest := text[:end], text[end+1:]
		next := strings.TrimLeft(rest, " \t")
		folded := strings.TrimSuffix(line, "\r")
		if len(next) < len(rest) && folded != "" && base64Digit(rune(folded[len(folded)-1])) {
			out.WriteString(folded)
			text = next
			continue
		}
		out.WriteString(text[:end+1])
		text = rest
	}
}
