package mutate

import (
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// stringOperators send another text for one that both sides have.
var stringOperators = []Operator{
	str("empty", "It sends an empty text", func(s string, _ uint64) string { return "" }),
	str("filled", "It sends a text where it should be empty", func(s string, _ uint64) string {
		if s == "" {
			return "mutated"
		}
		return s
	}),
	str("other", "It sends another text", func(s string, _ uint64) string { return "mutated" }),
	str("upper", "It writes in upper case", func(s string, _ uint64) string { return strings.ToUpper(s) }),
	str("lower", "It writes in lower case", func(s string, _ uint64) string { return strings.ToLower(s) }),
	str("shorter", "It leaves out the last character", func(s string, _ uint64) string {
		_, n := utf8.DecodeLastRuneInString(s)
		return s[:len(s)-n]
	}),
	str("blank", "It adds a blank at the end", func(s string, _ uint64) string { return s + " " }),
	str("first-blank", "It adds a blank at the beginning", func(s string, _ uint64) string { return " " + s }),
	str("line", "It adds an end of line", func(s string, _ uint64) string { return s + "\n" }),
	str("character", "It has one character wrong", func(s string, seed uint64) string {
		if s == "" {
			return s
		}
		out := []byte(s)
		start := int(mix(seed) % uint64(len(out)))
		for i := range out {
			at := (start + i) % len(out)
			if next, ok := otherCharacter(out[at], seed); ok {
				out[at] = next
				break
			}
		}
		return string(out)
	}),
	str("look-alike", "It has a character that looks the same", func(s string, _ uint64) string {
		for _, pair := range [][2]string{{" ", "\u00a0"}, {"a", "\u0430"}, {"e", "\u0435"}, {"o", "\u043e"}, {"-", "\u2010"}} {
			if strings.Contains(s, pair[0]) {
				return strings.Replace(s, pair[0], pair[1], 1)
			}
		}
		return s
	}),
	str("decomposed", "It takes letters with accents apart", func(s string, _ uint64) string {
		return strings.NewReplacer("ä", "a\u0308", "ö", "o\u0308", "ü", "u\u0308", "é", "e\u0301").Replace(s)
	}),
	str("no-unicode", "It cannot write what is not ASCII", func(s string, _ uint64) string {
		return strings.Map(func(r rune) rune {
			if r > 127 {
				return '?'
			}
			return r
		}, s)
	}),
	str("escaped", "It escapes what is escaped already", func(s string, _ uint64) string {
		return strings.NewReplacer(`"`, `\"`, "\n", `\n`, "<", "&lt;", "/", "%2F").Replace(s)
	}),
	operator("string", "constant", "It says another text that looks made up in place of a constant, and keeps to it", func(s *Subject, seed uint64, yield emit) {
		told := map[string]bool{}
		s.spots(func(v *spot) bool {
			id := v.node.Text
			inner, _ := heldIn(v.node)
			if v.doc.archive || v.class != fixed || v.node.Kind != jsontree.String || told[id] || !looksMadeUp(id) || inner != nil || id == s.Candidate.Unique {
				return true
			}
			told[id] = true
			m := v.set(text(fresh(id, seed)))
			m.Build = func() *transcript.Transcript { return s.sent(words(id, fresh(id, seed))) }
			return yield(m)
		})
	}),
	operator("string", "plain", "It sends another text in a body that is no JSON", func(s *Subject, _ uint64, yield emit) {
		s.answers(func(a *answer) bool {
			data := a.x.Response.Body.Bytes
			if a.x.Stream != "" || isJSON(a.x.Response.Header) || len(data) == 0 {
				return true
			}
			return yield(s.bodyMutant(a, append([]byte("x"), data...)))
		})
	}),
	operator("string", "event-text", "It sends another text in an event that is no JSON", func(s *Subject, _ uint64, yield emit) {
		s.events(func(o *occurrence) bool {
			data := strings.TrimSpace(o.ev.Data)
			if o.beat || data == "" || data[0] == '{' || data[0] == '[' {
				return true
			}
			return yield(s.eventMutant(o, " data", o.ev.Data, o.ev.Data+"x", func(ev *transcript.Event) { ev.Data += "x" }))
		})
	}),
}

// str makes an operator of a function that returns another text, or the same where it has none.
func str(name, doc string, change func(s string, seed uint64) string) Operator {
	return values("string", name, doc, func(v *spot, seed uint64) (string, bool) {
		if v.node.Kind != jsontree.String || v.class != fixed {
			return "", false
		}
		after := change(v.node.Text, seed)
		if after == v.node.Text || after == v.doc.s.Candidate.Unique {
			return "", false
		}
		return text(after), true
	})
}

// looksMadeUp reports whether a text might be an id, by its length, letters and digits.
func looksMadeUp(s string) bool {
	const shortest = 16
	return len(s) >= shortest && isWord(s) && strings.ContainsAny(s, "0123456789")
}

// eventMutant is the mutant in which an event is changed.
func (s *Subject) eventMutant(o *occurrence, part, before, after string, change func(*transcript.Event)) Mutant {
	before, after = contrast(before, after)
	return Mutant{
		Place: o.where + part, Before: before, After: after, site: o.site(),
		Build: func() *transcript.Transcript { return s.withEvent(o.stream, o.index, change) },
	}
}
