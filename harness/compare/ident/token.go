package ident

import (
	"strings"
)

// A token is a generated part of a text: it is different in each run.
type token struct {
	Kind       tokenKind
	Start, End int
	prefix     int // how many bytes at its start are not generated: "ses_"
}

// tokenKind is a shape of generated values. Values of one kind are bound to values of the same kind only.
type tokenKind byte

const (
	tokUnique   tokenKind = iota // what ${{ unique }} stands for
	tokDir                       // what ${{ directory }} stands for
	tokDirPath                   // the same in a URL
	tokDirName                   // its last segment
	tokProgram                   // what ${{ lockstep }} stands for
	TokKnown                     // a value that a rule has bound
	tokSent                      // a value that the client sent
	tokUUID                      // RFC 9562, any version
	tokULID                      // 26 characters of Crockford's base 32
	tokPrefixed                  // ses_0f3a…, req-7Xk2…: letters, - or _, 12 or more letters and digits
	tokCompact                   // a UUID without its dashes
	tokAnyUUID                   // a UUID in either form, in lower case and without dashes
	tokKSUID                     // 27 characters of base 62, the first of which are a time
	tokObjectID                  // 24 hexadecimal digits, the first of which are a time
	tokNano                      // 21 letters, digits, dashes and underscores
	tokTrace                     // the trace id of a W3C traceparent
	tokSpan                      // its parent id
	tokTemp                      // the name below a directory for temporary files
	tokPort                      // a port on the loopback interface
	tokMillis                    // milliseconds since 1970
	tokSeconds                   // seconds since 1970
	TokRFC3339                   // RFC 3339
	TokHTTPDate                  // RFC 9110 §5.6.7
	tokLocal                     // 2006-01-02T15:04:05, without a zone
	tokBareZone                  // 2006-01-02T15:04:05+0000
	tokSpaced                    // 2006-01-02 15:04:05Z
	tokSQL                       // 2006-01-02 15:04:05
	tokDecimal                   // seconds since 1970 with a fraction: 1765000000.25
)

// String is the name of the kind in texts that leave out values.
func (k tokenKind) String() string {
	return [...]string{
		"unique", "directory", "directory", "directory", "lockstep", "id", "sent", "uuid", "ulid", "id", "uuid", "uuid", "ksuid", "objectid", "nanoid", "trace", "span", "temp", "port", "ms", "s", "time", "date",
		"local time", "time with a bare zone", "time with a blank", "local time with a blank", "decimal s",
	}[k]
}

// IsTime reports whether values of the kind are times. Times are not bound, but must be near the moment they were seen.
func (k tokenKind) IsTime() bool { return k >= tokMillis && k < tokProject }

// A KnownValue is a text that counts as a token wherever it appears.
type KnownValue struct {
	Value string
	kind  tokenKind
}

// Scan returns the tokens of a text, in order. Known values take precedence, and the text between them is searched for
// shapes.
func Scan(s string, known []KnownValue) []token { return scanRange(nil, s, 0, len(s), known) }

// scanRange appends the tokens of s[from:to].
func scanRange(out []token, s string, from, to int, known []KnownValue) []token {
	ahead := valueFinder{text: s[:to], known: known}
	for at := from; ; {
		next, found := ahead.next(at)
		if !found {
			return scanShapes(out, s, at, to)
		}
		out = scanShapes(out, s, at, next.Start)
		out = append(out, next)
		at = next.End
	}
}

// SameShape reports whether two texts are equal apart from the generated parts of their tokens.
func SameShape(a string, at []token, b string, bt []token) bool {
	if len(at) != len(bt) {
		return false
	}
	ai, bi := 0, 0
	for i := range at {
		if at[i].Kind != bt[i].Kind || a[ai:at[i].Start+at[i].prefix] != b[bi:bt[i].Start+bt[i].prefix] {
			return false
		}
		ai, bi = at[i].End, bt[i].End
	}
	return a[ai:] == b[bi:]
}

// A valueFinder searches a text for known values, from start to end. It remembers where each one comes next, so that a
// text with many of them is not searched again and again.
type valueFinder struct {
	text  string
	known []KnownValue
	found []int // the next position of each: len(text) for nowhere, -1 for not searched yet; nil until one was found
}

// next returns the first known value at or after a position. If several begin there, it returns the longest.
func (k *valueFinder) next(at int) (best token, ok bool) {
	for i := range k.known {
		value, from := k.known[i].Value, -1
		if k.found != nil {
			from = k.found[i]
		}
		if from < at {
			from = k.index(value, at)
			k.keep(i, from)
		}
		if from == len(k.text) {
			continue
		}
		if t := (token{Kind: k.known[i].kind, Start: from, End: from + len(value)}); !ok || t.Start < best.Start || t.Start == best.Start && t.End > best.End {
			best, ok = t, true
		}
	}
	return best, ok
}

// keep records the next position of a value. Most texts contain none, and then it allocates nothing.
func (k *valueFinder) keep(i, from int) {
	if k.found == nil {
		if from == len(k.text) {
			return
		}
		k.found = make([]int, len(k.known))
		for n := range k.found {
			k.found[n] = -1
			if n < i {
				k.found[n] = len(k.text)
			}
		}
	}
	k.found[i] = from
}

// index returns where a value begins at or after a position; len(text) when it does not.
func (k *valueFinder) index(value string, at int) int {
	if i := strings.Index(k.text[at:], value); i >= 0 {
		return at + i
	}
	return len(k.text)
}

// scanShapes appends the tokens of s[from:to] that are recognised by their shape. A token cannot begin inside a word.
func scanShapes(out []token, s string, from, to int) []token {
	in := segment{text: s[:to], wordStart: from, cutByKnown: to < len(s) && InNano[s[to]]}
	for i := from; ; {
		t, found := in.next(i)
		if !found {
			return out
		}
		out = append(out, t)
		i = t.End
	}
}

// next returns the first token at or after i.
func (in *segment) next(i int) (token, bool) {
	for i < len(in.text) {
		switch c := in.text[i]; {
		case classes[c] != 0:
			n := wordLen(in.text[i:])
			if mayStartToken(in.text[i:], n) {
				if t, ok := in.tokenAt(i, n); ok {
					return t, true
				}
			}
			i += n
		case !symbols[c]:
			i++
		default:
			if t, ok := in.symbolToken(i); ok {
				return t, true
			}
			i = in.pastSymbol(i)
		}
	}
	return token{}, false
}

// tokenAt recognises a token that begins at i with a word of n bytes.
func (in *segment) tokenAt(i, n int) (token, bool) {
	rest := in.text[i:]
	if n := uuidLen(rest); n > 0 {
		return token{Kind: tokUUID, Start: i, End: i + n}, true
	}
	if kind, n := isoLen(rest); n > 0 {
		return token{Kind: kind, Start: i, End: i + n}, true
	}
	if n := HTTPDateLen(rest); n > 0 {
		return token{Kind: TokHTTPDate, Start: i, End: i + n}, true
	}
	if kind, n := EpochLen(rest); n > 0 && (i == in.wordStart || in.text[i-1] != '.') {
		return token{Kind: kind, Start: i, End: i + n}, true
	}
	if n := ulidLen(rest); n > 0 {
		return token{Kind: tokULID, Start: i, End: i + n}, true
	}
	if skip, n := portLen(rest); n > 0 {
		return token{Kind: tokPort, Start: i + skip, End: i + skip + n}, true
	}
	if kind := in.wordKind(i, n); kind != 0 {
		return token{Kind: kind, Start: i, End: i + n}, true
	}
	return in.joined(i)
}

func uuidLen(s string) int {
	const n = 36
	if len(s) < n || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' || !Ends(s, n) {
		return 0
	}
	for i := range n {
		if s[i] != '-' && !hex(s[i]) {
			return 0
		}
	}
	return n
}

func ulidLen(s string) int {
	const n = 26
	if len(s) < n || s[0] > '7' || !Ends(s, n) {
		return 0
	}
	for i := range n {
		c := s[i]
		if !Digit(c) && (c < 'A' || c > 'Z' || strings.IndexByte("ILOU", c) >= 0) {
			return 0
		}
	}
	return n
}

// prefixedLen recognises an id behind a prefix. lead is the length of the prefix, including its - or _.
func prefixedLen(s string) (lead, n int) {
	lead = prefixLen(s)
	if lead == 0 {
		return 0, 0
	}
	n = lead + wordLen(s[lead:])
	if n-lead < MinPair || countDigits(s[lead:n]) < 2 {
		return 0, 0
	}
	return lead, n
}

// prefixLen returns the length of a word with - or _ behind it that can be the prefix of an id; 0 when there is none.
func prefixLen(s string) int {
	p := 0
	for p < len(s) && s[p] >= 'a' && s[p] <= 'z' {
		p++
	}
	if p < 2 || p > 12 || p == len(s) || s[p] != '_' && s[p] != '-' {
		return 0
	}
	return p + 1
}

// portLen recognises a port behind a loopback address. skip is the length of the address and its colon.
func portLen(s string) (skip, n int) {
	for _, host := range [...]string{"127.0.0.1:", "localhost:", "[::1]:"} {
		if !strings.HasPrefix(s, host) {
			continue
		}
		for n < 5 && len(host)+n < len(s) && Digit(s[len(host)+n]) {
			n++
		}
		return len(host), n
	}
	return 0, 0
}

// fits reports whether s begins with the shape: d stands for a digit, a for a letter, and every other character for
// itself.
func fits(s, shape string) bool {
	if len(s) < len(shape) {
		return false
	}
	for i := range len(shape) {
		c := s[i]
		switch shape[i] {
		case 'd':
			if !Digit(c) {
				return false
			}
		case 'a':
			if !Alnum(c) || Digit(c) {
				return false
			}
		default:
			if c != shape[i] {
				return false
			}
		}
	}
	return true
}

// tokProject is the kind of the first of a project's own shapes. Shapes with the same name have the same kind.
const tokProject tokenKind = 64
