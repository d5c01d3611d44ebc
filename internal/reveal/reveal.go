// Package reveal searches a text for a secret in every notation that a reader might decode. Tests use it to check
// masking. It shares no code with the masking, and is slow.
package reveal

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// deepest is how many nested notations are decoded.
const deepest = 4

// Find returns the notations in which a secret can be read in a text, from the outermost one, or "" if it cannot be
// read.
func Find(text, secret string) string {
	return (&search{secret: secret, seen: map[string]bool{}}).find(text, "as it is", deepest)
}

type search struct {
	secret string
	seen   map[string]bool
}

func (s *search) find(text, how string, depth int) string {
	if strings.Contains(text, s.secret) {
		return how
	}
	if depth == 0 || s.seen[text] || len(text) < len(s.secret) {
		return ""
	}
	s.seen[text] = true
	for _, whole := range []struct {
		name   string
		decode func(string) string
	}{{"HTML", html.UnescapeString}, {"backslashes", backslashes}, {"a URL", percent}, {"nothing", voids}, {"quoted-printable", quotedPrintable}, {"a form", func(t string) string { return percent(strings.ReplaceAll(t, "+", " ")) }}} {
		if out := whole.decode(text); out != text {
			if found := s.find(out, how+", "+whole.name, depth-1); found != "" {
				return found
			}
		}
	}
	for _, run := range base64Runs(text) {
		run = standard.Replace(run)
		for from := range min(4, len(run)) {
			if found := s.packed(run[from:], how, depth); found != "" {
				return found
			}
		}
	}
	for _, run := range hexRuns(text) {
		run = apart.Replace(run)
		for from := range 2 {
			out, _ := hex.DecodeString(run[from : from+(len(run)-from)/2*2])
			if found := s.find(string(out), how+", hex", depth-1); found != "" {
				return found
			}
		}
	}
	return ""
}

func (s *search) packed(run, how string, depth int) string {
	if len(run)%4 == 1 {
		run = run[:len(run)-1]
	}
	if base64.RawStdEncoding.DecodedLen(len(run)) < len(s.secret) {
		return ""
	}
	out, _ := base64.RawStdEncoding.DecodeString(run)
	text := string(out)
	if !strings.Contains(text, s.secret) && !hasWords(text) { // non-ASCII text has no further notation in it
		return ""
	}
	return s.find(text, how+", Base64", depth-1)
}

var (
	apart    = strings.NewReplacer(" ", "", ":", "")
	standard = strings.NewReplacer("-", "+", "_", "/", "\r", "", "\n", "")
	joint    = regexp.MustCompile(`\\\r?\n[ \t]*`)
)

const (
	hexDigits   = "0123456789ABCDEFabcdef"
	octalDigits = "01234567"
)

// starts reports whether a text starts with n of the given digits.
func starts(text string, n int, digits string) bool {
	return len(text) >= n && strings.Trim(text[:n], digits) == ""
}

// replace decodes each notation that begins with the byte first. size returns the length of the notation at the start
// of a text, or 0 if there is none.
func replace(text string, first byte, size func(string) int, decode func(string) string) string {
	var b strings.Builder
	for {
		at := strings.IndexByte(text, first)
		if at < 0 {
			break
		}
		b.WriteString(text[:at])
		text = text[at:]
		n := size(text)
		if n > 0 {
			b.WriteString(decode(text[:n]))
		} else {
			b.WriteByte(first)
		}
		text = text[max(n, 1):]
	}
	b.WriteString(text)
	return b.String()
}

// octets decodes bytes that are written as a mark and two hexadecimal digits.
func octets(text string, mark byte) string {
	return replace(text, mark, func(t string) int {
		if starts(t[1:], 2, hexDigits) {
			return 3
		}
		return 0
	}, func(e string) string {
		b, _ := hex.DecodeString(e[1:])
		return string(b)
	})
}

func percent(text string) string { return octets(text, '%') }

func quotedPrintable(text string) string { return octets(text, '=') }

// escapeSize returns the length of the escape at the start of a text. Consecutive UTF-16 escapes count as one.
func escapeSize(t string) int {
	n := 0
	for strings.HasPrefix(t[n:], `\u`) && starts(t[n+2:], 4, hexDigits) {
		n += 6
	}
	if n > 0 {
		return n
	}
	switch rest := t[1:]; {
	case rest == "":
		return 0
	case rest[0] == 'U' && starts(rest[1:], 8, hexDigits):
		return 10
	case strings.HasPrefix(rest, "u{"):
		digits := len(rest) - 2 - len(strings.TrimLeft(rest[2:], hexDigits))
		if digits > 0 && strings.HasPrefix(rest[2+digits:], "}") {
			return 4 + digits
		}
	case rest[0] == 'x' && starts(rest[1:], 2, hexDigits):
		return 4
	case rest[0] >= '0' && rest[0] <= '3' && starts(rest[1:], 2, octalDigits):
		return 4
	}
	_, size := utf8.DecodeRuneInString(t[1:])
	return 1 + size
}

func backslashes(text string) string {
	return replace(text, '\\', escapeSize, func(e string) string {
		var out string
		switch {
		case json.Unmarshal([]byte(`"`+e+`"`), &out) == nil:
			return out
		case len(e) == 4 && e[1] >= '0' && e[1] <= '3':
			b, _ := strconv.ParseUint(e[1:], 8, 8)
			return string([]byte{byte(b)})
		case e[1] == 'x':
			b, _ := hex.DecodeString(e[2:])
			return string(b)
		case e[1] == 'u' || e[1] == 'U':
			if r, err := strconv.ParseInt(strings.Trim(e[2:], "{}"), 16, 32); err == nil {
				return string(rune(r))
			}
		}
		return strings.TrimPrefix(e, `\`)
	})
}

// voids removes sequences that stand for no character.
func voids(text string) string {
	return unfold(strings.ReplaceAll(joint.ReplaceAllString(text, ""), "\x00", ""))
}
