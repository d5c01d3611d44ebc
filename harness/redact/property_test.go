package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/lockstep-dev/lockstep/internal/reveal"
)

// writers are ways to write a text. choice decides whether to escape a character that need not be escaped.
var writers = map[string]func(s string, choice func() bool) string{
	"as it is":  func(s string, _ func() bool) string { return s },
	"JSON":      func(s string, _ func() bool) string { return quoted(s) },
	"JSON, / ":  func(s string, _ func() bool) string { return strings.ReplaceAll(quoted(s), "/", `\/`) },
	"JSON, \\u": func(s string, choice func() bool) string { return each(s, choice, quoted, units) },
	"JSON, \\U of Go": func(s string, choice func() bool) string {
		return each(s, choice, quoted, func(r rune, _ bool) string { return fmt.Sprintf(`\U%08x`, r) })
	},
	"JavaScript": func(s string, choice func() bool) string {
		return each(s, choice, quoted, func(r rune, _ bool) string { return fmt.Sprintf(`\u{%X}`, r) })
	},
	"Python": func(s string, choice func() bool) string {
		return each(s, choice, quoted, func(r rune, _ bool) string { return octets(`\x`, string(r), false) })
	},
	"a query":      func(s string, _ func() bool) string { return url.QueryEscape(s) },
	"a path":       func(s string, _ func() bool) string { return url.PathEscape(s) },
	"a small path": func(s string, _ func() bool) string { return small(url.PathEscape(s)) },
	"a URL": func(s string, choice func() bool) string {
		return each(s, choice, url.QueryEscape, func(r rune, upper bool) string { return octets("%", string(r), upper) })
	},
	"HTML": func(s string, _ func() bool) string { return html.EscapeString(s) },
	"HTML in numbers": func(s string, choice func() bool) string {
		return each(s, choice, html.EscapeString, func(r rune, upper bool) string {
			switch {
			case r == 0: // HTML has no number for it
				return "\x00"
			case upper:
				return fmt.Sprintf("&#x%X;", r)
			}
			return fmt.Sprintf("&#%d;", r)
		})
	},
	"Base64":               func(s string, _ func() bool) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"Base64 for URLs":      func(s string, _ func() bool) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"Base64 behind a byte": func(s string, _ func() bool) string { return base64.StdEncoding.EncodeToString([]byte("u" + s + "xy")) },
	"Base64 behind two":    func(s string, _ func() bool) string { return base64.URLEncoding.EncodeToString([]byte("u:" + s)) },
	"Base64 in lines": func(s string, _ func() bool) string {
		out := base64.StdEncoding.EncodeToString([]byte("user:" + s))
		return out[:9] + "\r\n" + out[9:]
	},
	"Base64 in a path": func(s string, _ func() bool) string {
		return "/v1/a/" + base64.RawURLEncoding.EncodeToString([]byte(s))
	},
	"Base64 in YAML": func(s string, _ func() bool) string {
		out := base64.StdEncoding.EncodeToString([]byte("user:" + s))
		return "key: |\n  " + out[:9] + "\n  " + out[9:]
	},
	"a long line in YAML": func(s string, _ func() bool) string {
		s = quoted(s)
		return s[:2] + "\\\n  " + s[2:]
	},
	"C": func(s string, choice func() bool) string {
		return each(s, choice, quoted, func(r rune, _ bool) string {
			out := ""
			for _, b := range []byte(string(r)) {
				out += fmt.Sprintf(`\%03o`, b)
			}
			return out
		})
	},
	"quoted-printable": func(s string, choice func() bool) string {
		return each(s, choice, func(s string) string { return strings.ReplaceAll(s, "=", "=3D") }, func(r rune, upper bool) string { return octets("=", string(r), upper) })
	},
	"UTF-16": func(s string, _ func() bool) string {
		if strings.Trim(s, "\n !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~") != "" {
			return s
		}
		out := ""
		for _, b := range []byte(s) {
			out += string([]byte{b, 0})
		}
		return out
	},
	"hex apart": func(s string, choice func() bool) string {
		return octets(map[bool]string{true: ":", false: " "}[choice()], s, choice())
	},
	"hex":       func(s string, _ func() bool) string { return hex.EncodeToString([]byte(s)) },
	"large hex": func(s string, _ func() bool) string { return "a" + strings.ToUpper(hex.EncodeToString([]byte(s))) },
}

func quoted(s string) string {
	out, _ := json.Marshal(s)
	return string(out[1 : len(out)-1])
}

func small(s string) string {
	for _, c := range "ABCDEF" {
		for _, d := range "0123456789ABCDEFabcdef" {
			for _, pair := range []string{string(c) + string(d), string(d) + string(c)} {
				s = strings.ReplaceAll(s, "%"+pair, "%"+strings.ToLower(pair))
			}
		}
	}
	return s
}

// each writes some characters in one way, and the others in the usual way.
func each(s string, choice func() bool, usual func(string) string, chosen func(r rune, upper bool) string) string {
	var out strings.Builder
	for _, r := range s {
		if choice() {
			out.WriteString(chosen(r, choice()))
		} else {
			out.WriteString(usual(string(r)))
		}
	}
	return out.String()
}

func units(r rune, upper bool) string {
	out := ""
	for _, u := range utf16.Encode([]rune{r}) {
		out += fmt.Sprintf(map[bool]string{true: `\u%04X`, false: `\u%04x`}[upper], u)
	}
	return out
}

func octets(before, s string, upper bool) string {
	out := ""
	for _, b := range []byte(s) {
		out += before + fmt.Sprintf(map[bool]string{true: "%02X", false: "%02x"}[upper], b)
	}
	return out
}

// A secret in any notation, up to three of them nested, leaves nothing that a reader could decode. The text keeps its
// length, and the result is the same each time.
func TestNoNotationHidesASecret(t *testing.T) {
	names := slices.Sorted(maps.Keys(writers))
	for seed := range uint64(3000) {
		rnd := rand.New(rand.NewPCG(seed, 12))
		alphabets := []string{"abcXYZ019", "abcdefghij0123456789-_", `aB3/+=%&"\ <>'`, "aé߀漢😀Z9 ", "0123456789abcdef", "!$#@?*()a1"}
		alphabet := []rune(alphabets[rnd.IntN(len(alphabets))])
		secret := ""
		for len(secret) < minSecret+rnd.IntN(20) {
			secret += string(alphabet[rnd.IntN(len(alphabet))])
		}
		if guessable(secret) {
			continue
		}
		r := NewReplacer([]string{secret})
		if r == nil {
			t.Fatalf("%q is not looked for", secret)
		}
		text, told := secret, ""
		share := rnd.IntN(4)
		for range 1 + rnd.IntN(3) {
			name := names[rnd.IntN(len(names))]
			told += " in " + name
			text = `{"a":"b",` + "\n" + text + `"}`[rnd.IntN(2):]
			text = writers[name](text, func() bool { return rnd.IntN(4) < share })
		}
		got := r.Text(text)
		if where := reveal.Find(got, secret); where != "" {
			t.Errorf("seed %d: %q%s: %q\nbecame %q, which reveals it: %s", seed, secret, told, text, got, where)
		}
		if len(got) != len(text) || got != r.Text(text) || r.Text(got) != got {
			t.Errorf("seed %d: %q%s: %q became %q", seed, secret, told, text, got)
		}
		if reveal.Find(text, secret) == "" {
			t.Errorf("seed %d: the test does not find %q%s in %q", seed, secret, told, text)
		}
		if t.Failed() {
			return
		}
	}
}
