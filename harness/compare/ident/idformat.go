package ident

import (
	"fmt"
	"math"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
)

// Two ids in the same place are bound, and they must also have the same format: a client may keep them in a column of
// 16 characters, or match them with [0-9a-f]+. A different length shows at once. A different alphabet does not: one
// hexadecimal id in 300 of 12 characters has no letter. So the ids of each side are collected, and a difference is
// reported once it is too unlikely to be chance.

// An idSample summarizes the ids of one side.
type idSample struct {
	seen alphabet
	n    int // characters
}

func (d *idSample) add(s string) {
	d.seen |= alphabetOf(s)
	d.n += len(s)
}

// chance returns how likely it is that all characters, drawn from the alphabet of the given class, are in the alphabet
// that was seen.
func (d *idSample) chance(class int) float64 {
	return math.Pow(alphabets[d.seen.class()].size/alphabets[class].size, float64(d.n))
}

// MaxChance is the probability below which two alphabets count as different.
const MaxChance = 1e-5

// formats has a sample of the ids of each side, by what precedes the random part.
type formats map[string]*[2]idSample

// formatDiff returns how the formats of two bound ids differ, as far as that can be seen. prefix is the part before the
// generated one: "ses_".
func (f formats) formatDiff(kind tokenKind, prefix, ref, cand string) diff.Reason {
	if why := NilID(ref, cand); !why.None() {
		return why
	}
	switch kind {
	case tokUUID, tokCompact:
		r, c := alphabetOf(ref)&^digits, alphabetOf(cand)&^digits
		if r != 0 && c != 0 && r != c {
			return diff.Because(diff.IDForm, diff.IDCases, caseOf(r), caseOf(c))
		}
	case tokPrefixed:
		if len(ref) != len(cand) {
			return diff.Because(diff.IDForm, diff.IDLengths, len(ref), prefix, len(cand))
		}
		return f.alphabetDiff(diff.IDAlphabets, prefix, ref, cand)
	}
	return diff.Reason{}
}

// NilID returns a reason if one of two ids is nil, and so identifies nothing: its only digit is zero.
func NilID(ref, cand string) diff.Reason {
	for side, id := range [2]string{ref, cand} {
		if isNil(id) && !isNil([2]string{ref, cand}[1-side]) {
			return diff.Because(diff.IDForm, diff.IDNil, diff.Side(side))
		}
	}
	return diff.Reason{}
}

// isNil reports whether an id is all zeros, such as the nil UUID (RFC 9562 §5.9).
func isNil(id string) bool {
	return len(id) >= minNil && strings.Trim(id, "0-") == "" && strings.Contains(id, "0")
}

// minNil is the shortest run of zeros that counts as an id that was not set. A shorter one may be the start of a
// counter.
const minNil = 12

// alphabetDiff returns a reason if the ids behind a prefix, taken together, have different alphabets on the two sides.
func (f formats) alphabetDiff(code diff.Code, prefix, ref, cand string) diff.Reason {
	d := f[prefix]
	if d == nil {
		d = &[2]idSample{}
		f[prefix] = d
	}
	d[0].add(ref)
	d[1].add(cand)
	r, c := d[0].seen.class(), d[1].seen.class()
	if r == c {
		return diff.Reason{}
	}
	of := (d[0].seen | d[1].seen).class()
	if d[0].chance(of)*d[1].chance(of) > MaxChance {
		return diff.Reason{}
	}
	return diff.Because(diff.IDForm, code, alphabets[r].name, alphabets[c].name)
}

func caseOf(letters alphabet) string {
	switch {
	case letters&upperHex == 0:
		return "in lower case"
	case letters&lowerHex == 0:
		return "in upper case"
	default:
		return "in both cases"
	}
}

// TokenDiff returns how the formats of two tokens differ, as far as that can be seen.
func (f formats) TokenDiff(rule, ref, cand string) diff.Reason {
	if short, long := min(len(ref), len(cand)), max(len(ref), len(cand)); 4*long > 5*short {
		return diff.Because(diff.IDForm, diff.TokenLengths, len(ref), len(cand))
	}
	rl, cl := tokenPrefix(ref), tokenPrefix(cand)
	if rl != "" && cl != "" && rl != cl {
		return diff.Because(diff.IDForm, diff.TokenPrefixes, rl, cl)
	}
	rs, cs := strings.Split(ref, "."), strings.Split(cand, ".")
	if len(rs) != len(cs) {
		return diff.Because(diff.IDForm, diff.TokenParts, len(rs), len(cs))
	}
	for i := range rs {
		for _, odd := range [...]struct{ what, chars string }{{"white space", " \t\r\n"}, {"+, / or =", "+/="}} {
			r, c := strings.ContainsAny(rs[i], odd.chars), strings.ContainsAny(cs[i], odd.chars)
			if r == c || odd.chars == "+/=" && !strings.ContainsAny(rs[i]+cs[i], "-_") {
				continue // Base64 may lack + and / by chance, unless the other one has - or _
			}
			with, without := diff.Side(0), diff.Side(1)
			if c {
				with, without = without, with
			}
			return diff.Because(diff.IDForm, diff.TokenSigns, with, odd.what, without)
		}
		if why := f.alphabetDiff(diff.TokenAlphabets, fmt.Sprintf("%s %d", rule, i), rs[i], cs[i]); !why.None() {
			return why
		}
	}
	return diff.Reason{}
}

// tokenPrefix returns what precedes the generated part of a token: "sk_live_". It consists of words of lower-case
// letters, each followed by - or _. A token without a prefix may begin with such a word by chance.
func tokenPrefix(s string) string {
	end := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z':
		case (c == '_' || c == '-') && i-end >= 2 && i-end <= 12:
			end = i + 1
		default:
			return s[:end]
		}
	}
	return s[:end]
}
