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
// secret is also searched for on its own, because logs are split into lines.
func NewReplacer(secrets []string) *Replacer {
	r := &Replacer{isASCII: true}
	var wanted []replacement
	seen := map[string]bool{}
	add := func(secret string) {
		for _, s := range replacementsOf([]byte(secret)) {
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
func replacementsOf(secret []byte) []replacement {
	if d := unescape(secret, allMarks); d != nil && len(d.text) < len(secret) {
		inner := replacementsOf(d.text)
		made := bytes.Clone(secret)
		d.writeBack(made, inner[0].alias)
		return append([]replacement{{secret, made}}, inner...)
	}
	return []replacement{{secret, []byte(alias(string(secret)))}}
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
