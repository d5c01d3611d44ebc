package compare

import (
	"strings"
	"time"
)

// A token is a stretch of a text that servers make up by themselves: another run gives another value.
type token struct {
	kind       tokenKind
	start, end int
	lead       int // how many bytes at its start are not made up: "ses_"
}

// tokenKind is a shape of generated values. Values of one kind are bound to values of the same kind only.
type tokenKind byte

const (
	tokUnique   tokenKind = iota // what ${{ unique }} stands for
	tokDir                       // what ${{ directory }} stands for
	tokDirPath                   // the same in a URL
	tokDirName                   // its last segment
	tokProgram                   // what ${{ lockstep }} stands for
	tokKnown                     // a value that a rule has bound
	tokSent                      // a value that the client has sent
	tokUUID                      // RFC 9562, any version
	tokULID                      // 26 characters of Crockford's base 32
	tokPrefixed                  // ses_0f3a…, req-7Xk2…: letters, a joint, 12 or more letters and digits
	tokCompact                   // a UUID without its dashes
	tokAnyUUID                   // either, in small letters and without dashes
	tokKSUID                     // 27 characters of base 62, the first of which are a time
	tokObjectID                  // 24 hexadecimal digits, the first of which are a time
	tokNano                      // 21 letters, digits, dashes and underscores
	tokTrace                     // the trace of a W3C traceparent
	tokSpan                      // its parent
	tokTemp                      // what is next below a folder for temporary files
	tokPort                      // a port on the loopback interface
	tokMillis                    // milliseconds since 1970
	tokSeconds                   // seconds since 1970
	tokRFC3339                   // RFC 3339
	tokHTTPDate                  // RFC 9110 §5.6.7
	tokLocal                     // 2006-01-02T15:04:05, without a zone
	tokBareZone                  // 2006-01-02T15:04:05+0000
	tokSpaced                    // 2006-01-02 15:04:05Z
	tokSQL                       // 2006-01-02 15:04:05
	tokDecimal                   // seconds since 1970 and a part of one: 1765000000.25
)

// String is the name that stands for a token when two texts are described without their values.
func (k tokenKind) String() string {
	return [...]string{
		"unique", "directory", "directory", "directory", "lockstep", "id", "sent", "uuid", "ulid", "id", "uuid", "uuid", "ksuid", "objectid", "nanoid", "trace", "span", "temp", "port", "ms", "s", "time", "date",
		"local time", "time with a bare zone", "time with a blank", "local time with a blank", "decimal s",
	}[k]
}

// isTime reports whether values of the kind are moments: they are not bound but must lie near the moment they were seen.
func (k tokenKind) isTime() bool { return k >= tokMillis && k < tokOwn }

// unit says how a time of the kind is written.
func (k tokenKind) unit() string {
	switch k {
	case tokMillis:
		return "milliseconds"
	case tokSeconds:
		return "seconds"
	case tokHTTPDate:
		return "a date of HTTP"
	case tokLocal:
		return "a time without a zone"
	case tokBareZone:
		return "a time whose zone has no colon"
	case tokSpaced:
		return "a time with a blank in it"
	case tokSQL:
		return "a time with a blank in it and without a zone"
	case tokDecimal:
		return "seconds with a decimal point"
	default:
		return "a time of RFC 3339"
	}
}

// A knownValue is a text that counts as a token wherever it stands.
type knownValue struct {
	value string
	kind  tokenKind
}

// scan returns the tokens of a text, in order. Known values come first; the text between them is looked through for
// what is recognised by its shape.
func scan(s string, known []knownValue) []token { return scanRange(nil, s, 0, len(s), known) }

// scanRange appends the tokens of s[from:to].
func scanRange(out []token, s string, from, to int, known []knownValue) []token {
	ahead := sought{text: s[:to], known: known}
	for at := from; ; {
		next, found := ahead.next(at)
		if !found {
			return scanShapes(out, s, at, to)
		}
		out = scanShapes(out, s, at, next.start)
		out = append(out, next)
		at = next.end
	}
}

// A sought looks for known values in a text, from its beginning on. What it has seen of each it keeps, so that a text in
// which there are many takes no longer to go through.
type sought struct {
	text  string
	known []knownValue
	found []int // where each comes next: the text's length when it does not, -1 when nobody has looked; nil until one was found
}

// next returns the first known value at or after a place; of several at one place the longest.
func (k *sought) next(at int) (best token, ok bool) {
	for i := range k.known {
		value, from := k.known[i].value, -1
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
		if t := (token{kind: k.known[i].kind, start: from, end: from + len(value)}); !ok || t.start < best.start || t.start == best.start && t.end > best.end {
			best, ok = t, true
		}
	}
	return best, ok
}

// keep notes where a value comes next. Most texts have none, and need no notes.
func (k *sought) keep(i, from int) {
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

// index returns where a value stands at or after a place; the text's length when it does not.
func (k *sought) index(value string, at int) int {
	if i := strings.Index(k.text[at:], value); i >= 0 {
		return at + i
	}
	return len(k.text)
}

// scanShapes appends the tokens that s[from:to] holds by their shape. A token begins where a word does.
func scanShapes(out []token, s string, from, to int) []token {
	in := stretch{text: s[:to], edge: from, torn: to < len(s) && inNano[s[to]]}
	for i := from; ; {
		t, found := in.next(i)
		if !found {
			return out
		}
		out = append(out, t)
		i = t.end
	}
}

// next returns the first token at or after i.
func (in *stretch) next(i int) (token, bool) {
	for i < len(in.text) {
		switch begins[in.text[i]] {
		case nothing:
			i++
		case aWord:
			n := wordLen(in.text[i:])
			if mayBegin(in.text[i:], n) {
				if t, ok := in.tokenAt(i, n); ok {
					return t, true
				}
			}
			i += n
		default:
			if t, ok := in.oddToken(i); ok {
				return t, true
			}
			i = in.pastSign(i)
		}
	}
	return token{}, false
}

// tokenAt recognises a word of n bytes at i, or what begins with it.
func (in *stretch) tokenAt(i, n int) (token, bool) {
	rest := in.text[i:]
	if n := uuidLen(rest); n > 0 {
		return token{kind: tokUUID, start: i, end: i + n}, true
	}
	if kind, n := isoLen(rest); n > 0 {
		return token{kind: kind, start: i, end: i + n}, true
	}
	if n := httpDateLen(rest); n > 0 {
		return token{kind: tokHTTPDate, start: i, end: i + n}, true
	}
	if kind, n := epochLen(rest); n > 0 && (i == in.edge || in.text[i-1] != '.') {
		return token{kind: kind, start: i, end: i + n}, true
	}
	if n := ulidLen(rest); n > 0 {
		return token{kind: tokULID, start: i, end: i + n}, true
	}
	if skip, n := portLen(rest); n > 0 {
		return token{kind: tokPort, start: i + skip, end: i + skip + n}, true
	}
	if kind := in.wordKind(i, n); kind != 0 {
		return token{kind: kind, start: i, end: i + n}, true
	}
	return in.jointed(i)
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
func alnum(c byte) bool { return digit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' }
func hex(c byte) bool   { return digit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// ends reports whether a word ends at n.
func ends(s string, n int) bool { return n == len(s) || !alnum(s[n]) }

func uuidLen(s string) int {
	const n = 36
	if len(s) < n || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' || !ends(s, n) {
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
	if len(s) < n || s[0] > '7' || !ends(s, n) {
		return 0
	}
	for i := range n {
		c := s[i]
		if !digit(c) && (c < 'A' || c > 'Z' || strings.IndexByte("ILOU", c) >= 0) {
			return 0
		}
	}
	return n
}

// prefixedLen recognises an id behind a prefix: lead is the length of the prefix and its joint.
func prefixedLen(s string) (lead, n int) {
	lead = prefixLen(s)
	if lead == 0 {
		return 0, 0
	}
	figures := 0
	for n = lead; n < len(s) && alnum(s[n]); n++ {
		if digit(s[n]) {
			figures++
		}
	}
	if n-lead < 12 || figures < 2 {
		return 0, 0
	}
	return lead, n
}

// prefixLen returns the length of the word and the joint that can stand before an id; 0 when there are none.
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

// epochLen recognises seconds, whole or with a part of one, and milliseconds between 2017 and 2033.
func epochLen(s string) (tokenKind, int) {
	n := 0
	for n < len(s) && digit(s[n]) {
		n++
	}
	if n != 10 && n != 13 || s[0] != '1' || s[1] < '5' || !ends(s, n) {
		return 0, 0
	}
	if n+1 < len(s) && s[n] == '.' && digit(s[n+1]) {
		return decimalLen(s, n)
	}
	if n == 13 {
		return tokMillis, n
	}
	return tokSeconds, n
}

// decimalLen recognises seconds and a part of one, of which n digits stand before the point. There is no such thing as a
// part of a millisecond, and behind another point it is no number.
func decimalLen(s string, n int) (tokenKind, int) {
	seconds := n == 10
	for n++; n < len(s) && digit(s[n]); n++ {
	}
	if !seconds || !ends(s, n) || n < len(s) && s[n] == '.' {
		return 0, 0
	}
	return tokDecimal, n
}

func httpDateLen(s string) int {
	const shape = "aaa, dd aaa dddd dd:dd:dd GMT"
	if fits(s, shape) {
		return len(shape)
	}
	return 0
}

// portLen recognises a port behind a loopback address: skip is the length of the address and its colon.
func portLen(s string) (skip, n int) {
	for _, host := range [...]string{"127.0.0.1:", "localhost:", "[::1]:"} {
		if !strings.HasPrefix(s, host) {
			continue
		}
		for n < 5 && len(host)+n < len(s) && digit(s[len(host)+n]) {
			n++
		}
		return len(host), n
	}
	return 0, 0
}

// fits reports whether s begins with the shape: d is a digit, a a letter, every other character itself.
func fits(s, shape string) bool {
	if len(s) < len(shape) {
		return false
	}
	for i := range len(shape) {
		c := s[i]
		switch shape[i] {
		case 'd':
			if !digit(c) {
				return false
			}
		case 'a':
			if !alnum(c) || digit(c) {
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

// moment returns the time that a token of a time kind stands for.
func moment(kind tokenKind, text string) (time.Time, bool) {
	switch kind {
	case tokRFC3339:
		t, err := time.Parse(time.RFC3339Nano, text)
		return t, err == nil
	case tokLocal, tokBareZone, tokSpaced, tokSQL:
		return isoMoment(text)
	case tokDecimal:
		return Seconds.moment(text)
	case tokHTTPDate:
		t, err := time.Parse(time.RFC1123, text)
		return t, err == nil
	}
	var n int64
	for _, c := range []byte(text) {
		n = 10*n + int64(c-'0')
	}
	if kind == tokSeconds {
		return time.Unix(n, 0), true
	}
	return time.UnixMilli(n), true
}
