// Package reveal decodes a text in every way that a reader might, for tests that look for secrets. It shares no code with what
// takes secrets out, and is slow.
package reveal

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"regexp"
	"strconv"
	"strings"
)

// deepest is how many notations are decoded in each other.
const deepest = 4

// Find returns how a secret can be read in a text: the notations, from the outermost one. It is "" when it cannot.
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
	out, _ := base64.RawStdEncoding.DecodeString(run)
	if !strings.Contains(string(out), s.secret) && !ascii.Match(out) { // no notation has other characters
		return ""
	}
	return s.find(string(out), how+", Base64", depth-1)
}

var (
	apart    = strings.NewReplacer(" ", "", ":", "")
	standard = strings.NewReplacer("-", "+", "_", "/", "\r", "", "\n", "")
	equals   = regexp.MustCompile(`=[0-9A-Fa-f]{2}`)
	joint    = regexp.MustCompile(`\\\r?\n[ \t]*`)
	ascii    = regexp.MustCompile(`[\x00\t\r\n -~]{8}`)
	octet    = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	escape   = regexp.MustCompile(`(?s)(?:\\u[0-9A-Fa-f]{4})+|\\U[0-9A-Fa-f]{8}|\\u\{[0-9A-Fa-f]+\}|\\x[0-9A-Fa-f]{2}|\\[0-3][0-7]{2}|\\.`)
)

func percent(text string) string {
	return octet.ReplaceAllStringFunc(text, func(e string) string {
		b, _ := hex.DecodeString(e[1:])
		return string(b)
	})
}

func backslashes(text string) string {
	return escape.ReplaceAllStringFunc(text, func(e string) string {
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

func quotedPrintable(text string) string {
	return equals.ReplaceAllStringFunc(text, func(e string) string {
		b, _ := hex.DecodeString(e[1:])
		return string(b)
	})
}

// voids takes out what stands for nothing.
func voids(text string) string {
	return unfold(strings.ReplaceAll(joint.ReplaceAllString(text, ""), "\x00", ""))
}
