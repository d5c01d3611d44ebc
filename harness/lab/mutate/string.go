package mutate

import (
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// stringOperators send another text for one that both sides have.
var stringOperators = []Operator{
	changeText("empty", "It sends an empty text", func(s string, _ uint64) string { return "" }),
	changeText("filled", "It sends a text instead of an empty one", func(s string, _ uint64) string {
		if s == "" {
			return "mutated"
		}
		return s
	}),
	changeText("other", "It sends another text", func(s string, _ uint64) string { return "mutated" }),
	changeText("upper", "It writes in upper case", func(s string, _ uint64) string { return strings.ToUpper(s) }),
	changeText("lower", "It writes in lower case", func(s string, _ uint64) string { return strings.ToLower(s) }),
	changeText("shorter", "It leaves out the last character", func(s string, _ uint64) string {
		_, n := utf8.DecodeLastRuneInString(s)
		return s[:len(s)-n]
	}),
	changeText("blank", "It adds a blank at the end", func(s string, _ uint64) string { return s + " " }),
	changeText("first-blank", "It adds a blank at the beginning", func(s string, _ uint64) string { return " " + s }),
	changeText("line", "It adds an end of line", func(s string, _ uint64) string { return s + "\n" }),
	changeText("character", "It has one character wrong", func(s string, seed uint64) string {
		if s == "" {
			return s
		}
		out := []byte(s)
		start := int(splitMix64(seed) % uint64(len(out)))
		for i := range out {
			at := (start + i) % len(out)
			if next, ok := otherCharacter(out[at], seed); ok {
				out[at] = next
				break
			}
		}
		return string(out)
	}),
	changeText("look-alike", "It has a character that looks the same", func(s string, _ uint64) string {
		for _, pair := range [][2]string{{" ", "\u00a0"}, {"a", "\u0430"}, {"e", "\u0435"}, {"o", "\u043e"}, {"-", "\u2010"}} {
			if strings.Contains(s, pair[0]) {
				return strings.Replace(s, pair[0], pair[1], 1)
			}
		}
		return s
	}),
	changeText("decomposed", "It decomposes letters with accents", func(s string, _ uint64) string {
		return strings.NewReplacer("ä", "a\u0308", "ö", "o\u0308", "ü", "u\u0308", "é", "e\u0301").Replace(s)
	}),
	changeText("no-unicode", "It replaces characters outside ASCII", func(s string, _ uint64) string {
		return strings.Map(func(r rune) rune {
			if r > 127 {
				return '?'
			}
			return r
		}, s)
	}),
	changeText("escaped", "It escapes a text twice", func(s string, _ uint64) string {
		return strings.NewReplacer(`"`, `\"`, "\n", `\n`, "<", "&lt;", "/", "%2F").Replace(s)
	}),
	operator("string", "constant", "It always sends another text that looks generated instead of a constant", func(s *Subject, seed uint64, yield emit) {
		done := map[string]bool{}
		for v := range s.values() {
			text := v.node.Text
			if inner, _ := embeddedObject(v.node); inner != nil || v.doc.packed || !v.is(jsontree.String, fixed) || done[text] || !looksGenerated(text) || text == s.Candidate.Unique {
				continue
			}
			done[text] = true
			m := v.set(quoted(similarID(text, seed)))
			m.Build = func() *transcript.Transcript {
				return rewriteSent(s.Candidate, replaceWord(text, similarID(text, seed)))
			}
			yield(m)
		}
	}),
	eachResponse("string", "plain", "It sends another text in a body that is not JSON", func(_ *Subject, r *response, yield emit) {
		if r.x.Stream == "" && !isJSON(r.x.Response.Header) && len(r.body()) > 0 {
			yield(r.withBody(append([]byte("x"), r.body()...)))
		}
	}),
	eachContentEvent("string", "event-text", "It sends another text in an event that is not JSON", func(e *event, yield emit) {
		if data := strings.TrimSpace(e.ev.Data); data != "" && data[0] != '{' && data[0] != '[' {
			yield(e.mutant(" data", e.ev.Data, e.ev.Data+"x", func(ev *transcript.Event) { ev.Data += "x" }))
		}
	}),
}

// changeText makes an operator from a function that returns another text, or the same text if it has none.
func changeText(name, doc string, change func(s string, seed uint64) string) Operator {
	return replaceValues("string", name, doc, func(v *value, seed uint64) (string, bool) {
		if !v.is(jsontree.String, fixed) {
			return "", false
		}
		after := change(v.node.Text, seed)
		return quoted(after), after != v.node.Text && after != v.doc.origins.candidate.Unique
	})
}

// looksGenerated reports whether a text may be an id, by its length, letters and digits.
func looksGenerated(s string) bool {
	const shortest = 16
	return len(s) >= shortest && isPlainID(s) && strings.ContainsAny(s, "0123456789")
}
