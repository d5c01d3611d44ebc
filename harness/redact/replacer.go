package redact

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// A Replacer replaces secrets by texts of the same form.
type Replacer struct {
	search   *search
	hasBlank bool // a secret has a space, which forms write as a plus sign
	isASCII  bool // all secrets consist of printable ASCII and line ends
}

// maxDepth limits how many nested notations are searched. JSON in a JSON text in Base64 counts as three.
const maxDepth = 8

// NewReplacer returns a replacer for these secrets, or nil when all of them are too short to search for. Each line of a
// secret is also searched for on its own, because logs are split into lines. Values that are public stay as they are,
// also inside a secret.
func NewReplacer(secrets []string, public ...string) *Replacer {
	r := &Replacer{isASCII: true}
	var wanted []replacement
	seen := map[string]bool{}
	add := func(secret string) {
		for _, s := range replacementsOf([]byte(secret), public) {
			if len(s.secret) < minSecret || seen[string(s.secret)] || bytes.Equal(s.secret, s.alias) {
				continue
			}
			seen[string(s.secret)] = true
			wanted = append(wanted, s)
			r.hasBlank = r.hasBlank || bytes.IndexByte(s.secret, ' ') >= 0
			r.isASCII = r.isASCII && !bytes.ContainsFunc(s.secret, func(c rune) bool { return c > '~' || c < ' ' && !strings.ContainsRune("\t\r\n", c) })
		}
	}
	for _, secret := range secrets {
		add(secret)
	}
	for _, secret := range secrets {
		if strings.ContainsAny(secret, "\r\n") {
			for line := range strings.Lines(secret) {
				add(strings.TrimRight(line, "\r\n"))
			}
		}
	}
	if wanted == nil {
		return nil
	}
	r.search = newSearch(wanted)
	return r
}

// replacementsOf returns the replacement of a secret. If the secret has escapes, it also returns that of the decoded
// secret.
func replacementsOf(secret []byte, public []string) []replacement {
	if d := unescape(secret, allMarks); d != nil && len(d.text) < len(secret) {
		inner := replacementsOf(d.text, public)
		made := bytes.Clone(secret)
		d.writeBack(made, inner[0].alias)
		return append([]replacement{{secret, made}}, inner...)
	}
	return []replacement{{secret, []byte(alias(string(secret), public...))}}
}

// Text returns a text without secrets. A nil Replacer returns it unchanged.
func (r *Replacer) Text(s string) string {
	if r == nil || len(s) < minPrefix {
		return s
	}
	if made, changed := r.replaceAll([]byte(s)); changed {
		s = string(made)
	}
	if strings.Contains(s, ellipsis) {
		return r.beforeEllipses(s)
	}
	return s
}

// Bytes returns bytes without secrets. It returns the same slice when there are none.
func (r *Replacer) Bytes(b []byte) []byte {
	made, _ := r.replaceAll(b)
	return made
}

// replaceAll replaces secrets in a text as it is, and in everything that it decodes to. The result has the same length,
// and is a new slice if anything changed.
func (r *Replacer) replaceAll(text []byte) (made []byte, changed bool) {
	c := scan{r: r, text: text, depth: maxDepth, seenClean: new([][]byte)}
	c.run(nil)
	return c.text, c.changed
}

// A scan removes secrets from one text.
type scan struct {
	r         *Replacer
	text      []byte
	changed   bool      // and so text is a copy
	cut       bool      // the text was cut at its end, where a secret may have begun
	depth     int       // how many more notations may be nested
	seenClean *[][]byte // decoded texts without a secret; different notations often give the same text
}

// run searches a text that was decoded from another one; of is nil for an original text.
func (c *scan) run(of *decoded) {
	for at, found := c.r.search.next(c.text, 0); found != nil; at, found = c.r.search.next(c.text, at+len(found.secret)) {
		copy(c.writable()[at:], found.alias)
	}
	if c.cut {
		c.replacePrefixAtEnd()
	}
	if c.depth == 0 {
		return
	}
	// The order of nested notations matters: JSON in HTML must be decoded as HTML first, and a URL in JSON as JSON first.
	if kinds := c.unescape(allMarks); len(kinds) > 1 {
		each := []string{webMarks, `\`, "%", "&"}
		if len(kinds) < len(allMarks) && strings.Contains(kinds, `\`) {
			each = each[:2] // all of the web's marks are of one kind
		}
		for _, marks := range each {
			c.unescape(marks)
		}
	}
	if c.r.hasBlank && bytes.IndexByte(c.text, '+') >= 0 {
		c.unescape(formMarks)
	}
	c.unescape(ignoredMarks)
	c.unescape(quotedPrintableMarks)
	_, file := fileStarts.next(c.text, 0)
	for _, p := range byteEncodings {
		for from, to := range p.runs(c.text) {
			if of == nil || of.hasEscapeIn(from, to) {
				if file != nil {
					c.withholdFiles(p, from, to)
				}
				c.decodeRun(p, from, to)
			}
		}
	}
}

func (c *scan) writable() []byte {
	if !c.changed {
		c.text, c.changed = bytes.Clone(c.text), true
	}
	return c.text
}

// nested searches a decoded text. cut means that it ends where the original text was cut.
func (c *scan) nested(text []byte, of *decoded, cut bool) (made []byte, changed bool) {
	inner := scan{r: c.r, text: text, depth: c.depth - 1, seenClean: c.seenClean, cut: cut}
	inner.run(of)
	return inner.text, inner.changed
}

// unescape decodes escapes with some marks and searches the result. It returns the marks that the text has.
func (c *scan) unescape(marks string) (kinds string) {
	d := unescape(c.text, marks)
	if d == nil {
		return ""
	}
	if slices.ContainsFunc(*c.seenClean, func(other []byte) bool { return bytes.Equal(other, d.text) }) {
		return d.kinds
	}
	if made, changed := c.nested(d.text, d, c.cut); changed {
		d.writeBack(c.writable(), made)
	} else {
		*c.seenClean = append(*c.seenClean, d.text)
	}
	return d.kinds
}

// decodeRun searches a run of packed bytes.
func (c *scan) decodeRun(p *byteEncoding, from, to int) {
	read := func(at int) int {
		unpacked, n := p.decode(c.text[from+at:to], c.r.isASCII)
		if made, changed := c.nested(unpacked, nil, c.cut && from+at+n == len(c.text)); changed {
			run := c.writable()[from:to]
			p.encode(run[at:], made, p.digits(run))
		}
		return at + n
	}
	if c.r.isASCII {
		p.asciiRuns(c.text[from:to], read)
		return
	}
	for at, lane := from, 0; at < to && lane < p.alignments; at++ {
		if p.value[c.text[at]] != ignored {
			read(at - from)
			lane++
		}
	}
}

// Writer returns a writer that removes secrets from what is written, in whole lines. A nil Replacer returns w itself.
func (r *Replacer) Writer(w io.Writer) io.Writer {
	if r == nil {
		return w
	}
	return writer{r, w}
}

type writer struct {
	r *Replacer
	w io.Writer
}

func (w writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.w, w.r.Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// A search finds many texts in one pass that skips most bytes. The longer the texts, the more it skips. The algorithm
// is that of Wu and Manber (A fast algorithm for multi-pattern searching, 1994), with blocks of two bytes.
type search struct {
	replacements []replacement    // the longest first
	window       int              // in bytes: the length of the shortest text, or less
	shift        [1 << 12]uint8   // how far the window can move after a block
	ending       map[uint16][]int // the texts that have the block at the end of their first window
}

// A replacement is a secret and its alias, which has the same length.
type replacement struct{ secret, alias []byte }

// longestWindow limits the window. With a longer one, many secrets would leave no block that can be skipped.
const longestWindow = 32

func newSearch(wanted []replacement) *search {
	s := &search{replacements: wanted, ending: map[uint16][]int{}}
	slices.SortStableFunc(s.replacements, func(a, b replacement) int { return len(b.secret) - len(a.secret) })
	s.window = min(len(s.replacements[len(s.replacements)-1].secret), longestWindow)
	for i := range s.shift {
		s.shift[i] = uint8(s.window - 1)
	}
	for i, w := range s.replacements {
		for at := 1; at < s.window; at++ {
			block := blockOf(w.secret, at)
			s.shift[block] = min(s.shift[block], uint8(s.window-1-at))
			if at == s.window-1 {
				s.ending[block] = append(s.ending[block], i)
			}
		}
	}
	return s
}

// blockOf returns a number for the two bytes that end at an index.
func blockOf(text []byte, at int) uint16 {
	return (uint16(text[at-1])<<4 ^ uint16(text[at])) & (1<<12 - 1)
}

// next returns the next secret from an index on, and where it begins. It returns nil when there is none.
func (s *search) next(text []byte, from int) (int, *replacement) {
	for end := from + s.window - 1; end < len(text); {
		block := blockOf(text, end)
		if skip := s.shift[block]; skip > 0 {
			end += int(skip)
			continue
		}
		for _, i := range s.ending[block] {
			if w := &s.replacements[i]; bytes.HasPrefix(text[end-s.window+1:], w.secret) {
				return end - s.window + 1, w
			}
		}
		end++
	}
	return 0, nil
}
